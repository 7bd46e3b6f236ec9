//! Reads an embedding back from the folder that it was written to.

use std::path::Path;

use manyview_base::error::{Error, Result};
use manyview_data::io::{NpyMatrix, read_node_file, read_npy};
use manyview_data::network::Nodes;

/// Reads `embedding.npy` and `nodes.txt` from a folder, of this program or of any other that writes the two.
///
/// # Errors
/// When one of them cannot be read, or they do not belong together.
pub fn read_embedding(folder: &Path) -> Result<(NpyMatrix, Nodes)> {
    let matrix = read_npy(&folder.join("embedding.npy"))?;
    let nodes = read_node_file(&folder.join("nodes.txt"))?;
    if matrix.rows != nodes.len() {
        return Err(Error::parse(
            folder.display().to_string(),
            format!(
                "embedding.npy has {} rows and nodes.txt {} ids; they do not belong together, so write both again",
                matrix.rows,
                nodes.len()
            ),
        ));
    }
    Ok((matrix, nodes))
}
