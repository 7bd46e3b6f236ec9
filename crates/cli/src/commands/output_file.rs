//! A file of results: it is checked before the work starts, appears complete or not at all, and replaces nothing unasked.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use manyview::Error;
use manyview::io::OutputFolder;

use crate::interrupt;
use crate::ui::print;

/// Where a text goes.
pub(super) enum Output {
    Standard,
    File { folder: OutputFolder, name: String },
}

impl Output {
    /// Standard output, or a file that can be written and does not exist unless `force` allows to replace it.
    pub(super) fn prepare(path: Option<&Path>, force: bool) -> Result<Self> {
        let Some(path) = path else { return Ok(Output::Standard) };
        let Some(name) = path.file_name() else {
            let sentence = format!("{} is not a file name; use a name such as result.tsv", path.display());
            return Err(Error::config(sentence).into());
        };
        let name = name.to_string_lossy().into_owned();
        let parent = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        let folder = OutputFolder::prepare_file(parent, &name, force)?;
        interrupt::writes_to(folder.traces());
        Ok(Output::File { folder, name })
    }

    pub(super) fn write(self, text: &[u8]) -> Result<()> {
        match self {
            Output::Standard => print(text),
            Output::File { mut folder, name } => {
                folder.write(&name, |writer| writer.write_all(text))?;
                folder.commit()?;
                Ok(())
            }
        }
    }
}
