//! The finished stages that `embed` keeps in `DIR/checkpoint` while it runs.

use std::path::{Path, PathBuf};

use anyhow::Result;
use manyview::checkpoint::{Checkpoints, Identity};
use manyview::message::switch;
use manyview::{Error, MethodSettings, Model, Network};

use crate::args::CheckpointArgs;
use crate::interrupt;
use crate::ui::{Reporter, plural};

/// What is to be done with finished stages.
pub(super) struct CheckpointFolder {
    folder: PathBuf,
    wanted: bool,
    resume: bool,
    keep: bool,
    rank: usize,
}

impl CheckpointFolder {
    /// Looks what is there, before a network is read: stages of an interrupted run are not thrown away unasked.
    pub(super) fn look(
        output: &Path,
        args: &CheckpointArgs,
        model: &Model,
        force: bool,
        rank: usize,
    ) -> Result<Self> {
        let folder = output.join("checkpoint");
        let there = Checkpoints::count(&folder);
        if there > 0 && !args.resume && !force {
            let (stages, folder) = (plural(there, "finished stage"), folder.display());
            return Err(Error::config(format!(
                "{folder} holds {stages} of an interrupted run; use {} to continue it, or {} to start over",
                switch("resume"),
                switch("force")
            ))
            .into());
        }
        Ok(CheckpointFolder {
            folder,
            wanted: !args.no_checkpoint && model.method().capabilities().checkpoints,
            resume: args.resume,
            keep: args.keep_checkpoint,
            rank,
        })
    }

    /// Opens the folder for this network and these settings.
    pub(super) fn open(
        &self,
        model: &Model,
        network: &Network,
        reporter: &Reporter,
    ) -> Result<Option<Checkpoints>> {
        let settings = match &model.settings {
            MethodSettings::Mnmf(settings) if self.wanted => settings,
            _ => return Ok(None),
        };
        let identity = Identity::of(settings, model.seed, network);
        if !self.resume {
            interrupt::keeps(self.folder.clone());
            return Ok(Some(Checkpoints::begin(&self.folder, identity, self.rank)?));
        }
        let (checkpoints, found) = Checkpoints::resume(&self.folder, identity)?;
        interrupt::keeps(self.folder.clone());
        if let Some(damaged) = found.damaged {
            reporter.say(&format!("warning: {damaged}"));
        }
        let folder = self.folder.display();
        reporter.say(&match found.stages {
            0 => format!("{folder} holds no finished stage; beginning with the first"),
            stages => format!("{} taken over from {folder}", plural(stages, "finished stage")),
        });
        Ok(Some(checkpoints))
    }

    /// The result is written: the stages have done their duty.
    pub(super) fn close(&self, checkpoints: Option<Checkpoints>) -> Result<()> {
        match checkpoints {
            Some(checkpoints) if self.rank == 0 && !self.keep => Ok(checkpoints.remove()?),
            _ => Ok(()),
        }
    }
}
