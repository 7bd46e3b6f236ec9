//! The finished stages that `embed` saves in `DIR/checkpoint` during a run.

use std::path::{Path, PathBuf};

use anyhow::Result;
use manyview::checkpoint::{Checkpoints, Identity};
use manyview::message::switch;
use manyview::{Error, MethodSettings, Model, Network};

use crate::args::CheckpointArgs;
use crate::interrupt;
use crate::ui::{Reporter, plural};

/// Where and whether finished stages are saved.
pub(super) struct CheckpointFolder {
    folder: PathBuf,
    wanted: bool,
    resume: bool,
    keep: bool,
    rank: usize,
}

impl CheckpointFolder {
    /// Checks for stages of an interrupted run, before the network is read.
    ///
    /// # Errors
    /// When there are some, and neither `--resume` nor `--force` is given.
    pub(super) fn look(
        output: &Path,
        args: &CheckpointArgs,
        model: &Model,
        force: bool,
        rank: usize,
    ) -> Result<Self> {
        let folder = output.join("checkpoint");
        let found = Checkpoints::count(&folder);
        if found > 0 && !args.resume && !force {
            let (stages, folder) = (plural(found, "finished stage"), folder.display());
            return Err(Error::config(format!(
                "{folder} contains {stages} of an interrupted run; use {} to continue it, or {} to start over",
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
            0 => format!("{folder} contains no finished stages; starting with the first"),
            stages => format!("loaded {} from {folder}", plural(stages, "finished stage")),
        });
        Ok(Some(checkpoints))
    }

    /// Removes the stages after the result is written, unless they are to be kept.
    pub(super) fn close(&self, checkpoints: Option<Checkpoints>) -> Result<()> {
        match checkpoints {
            Some(checkpoints) if self.rank == 0 && !self.keep => Ok(checkpoints.remove()?),
            _ => Ok(()),
        }
    }
}
