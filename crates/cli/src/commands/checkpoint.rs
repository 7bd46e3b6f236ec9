//! The finished stages that `embed` saves in `DIR/checkpoint` during a run.

use std::path::{Path, PathBuf};

use anyhow::Result;
use manyview::checkpoint::{Checkpoints, Identity};
use manyview::message::{option, switch};
use manyview::{Error, MethodSettings, Model, Network};

use crate::args::CheckpointArgs;
use crate::interrupt;
use crate::ui::{Reporter, plural};

/// Where and whether finished stages are saved.
pub(super) struct CheckpointFolder {
    folder: PathBuf,
    wanted: bool,
    resume: bool,
    rank: usize,
}

impl CheckpointFolder {
    /// Checks for stages of an interrupted run, before the network is read.
    ///
    /// # Errors
    /// When there are some, and neither `--resume` nor `--force` is given; when stages cannot be kept in the folder.
    pub(super) fn look(
        output: &Path,
        args: &CheckpointArgs,
        model: &Model,
        force: bool,
        rank: usize,
    ) -> Result<Self> {
        let folder = folder_in(output);
        // The stages of a plan that is chosen by the data are not known before the run.
        let chooses = matches!(&model.settings, MethodSettings::Mnmf(settings) if settings.auto);
        if chooses && (args.resume || args.keep_checkpoint) {
            return Err(Error::config(format!(
                "{} does not support checkpoints; give the {} that an earlier run chose",
                option("auto"),
                option("stage_dims")
            ))
            .into());
        }
        let wanted = !args.no_checkpoint && !chooses && model.method().capabilities().checkpoints;
        if wanted {
            Checkpoints::check_folder(&folder)?;
        }
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
        Ok(CheckpointFolder { folder, wanted, resume: args.resume, rank })
    }

    /// Whether an output folder has finished stages, of any run.
    pub(super) fn has_stages(output: &Path) -> bool {
        Checkpoints::count(&folder_in(output)) > 0
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
}

fn folder_in(output: &Path) -> PathBuf {
    output.join("checkpoint")
}
