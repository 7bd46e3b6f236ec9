//! The result folder.

mod folder;
mod method_run;
#[expect(clippy::module_inception)]
mod result;
mod run;

pub use folder::read_embedding;
pub use method_run::{MethodRecord, MethodSeconds, PartRecord};
pub use result::{Finished, FinishedNetwork, FinishedRun};
pub use run::{RankRecord, RankSeconds, RunMemory, RunPeaks, RunRecord, RunSeconds};
