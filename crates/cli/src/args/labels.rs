//! The arguments that choose columns of a label table.

use std::path::Path;

use anyhow::{Result, bail};
use clap::Args;
use manyview::io::LabelColumns;
use manyview::network::Nodes;
use manyview::{Error, Labels};

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LabelColumnArgs {
    /// Column of labels in a table of many columns, by name or number [default: all columns after the first]
    #[arg(long, value_name = "COL", help_heading = "Labels", requires = "labels")]
    pub(crate) label_column: Vec<String>,
    /// Column of node ids in the table of labels [default: by usual names in the header, otherwise the first]
    #[arg(long, value_name = "COL", help_heading = "Labels", requires = "label_column")]
    pub(crate) id_column: Option<String>,
}

impl LabelColumnArgs {
    /// Reads the labels of a file: of the chosen column, or of all.
    pub(crate) fn open(&self, path: &Path, nodes: &Nodes) -> Result<Labels> {
        if self.label_column.len() > 1 {
            bail!(Error::config(
                "--label-column can be given only once here; several columns are for manyview report"
            ));
        }
        match self.open_sets(path, nodes)?.pop() {
            Some((_, labels)) => Ok(labels),
            None => Ok(Labels::open(path, nodes)?),
        }
    }

    /// Reads one set of labels per chosen column, with its name; none if no column was chosen.
    pub(crate) fn open_sets(&self, path: &Path, nodes: &Nodes) -> Result<Vec<(String, Labels)>> {
        if self.label_column.is_empty() {
            return Ok(Vec::new());
        }
        let columns = LabelColumns { id: self.id_column.clone(), labels: self.label_column.clone() };
        Ok(Labels::open_columns(path, &columns, nodes)?)
    }
}
