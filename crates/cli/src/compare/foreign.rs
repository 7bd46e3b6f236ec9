//! What is not replaced unasked: results in the comparison's folder that no comparison of this network has made.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};
use manyview::{Error, Network};
use serde_json::Value;

use super::FILES;
use super::jobs::Work;
use super::kept::{JOB_FILES, network_key};

/// Refuses a folder in which something foreign would be replaced. Files that nothing replaces may lie there.
pub(super) fn refuse(output: &Path, work: &Work, network: &Network) -> Result<()> {
    let whole = network_key(network);
    let views: Vec<String> =
        (0..network.views().len()).map(|view| network_key(&network.only(view))).collect();
    for job in &work.jobs {
        let folder = output.join(&job.folder);
        let ours = job.view.map_or(&whole, |view| &views[view]);
        match fs::read(folder.join("made.json")).map(|text| serde_json::from_slice::<Value>(&text)) {
            Ok(Ok(made)) if made["embedding"]["network"] == **ours => {}
            Ok(Ok(_)) => bail!(exists(&folder)),
            // Damaged, but nobody else writes a file of that name.
            Ok(Err(_)) => {}
            Err(_) => {
                let file = JOB_FILES.iter().map(|name| folder.join(name)).find(|file| file.exists());
                file.map_or(Ok(()), |file| Err(exists(&file)))?;
            }
        }
    }
    let Some(file) = FILES.iter().map(|name| output.join(name)).find(|file| file.exists()) else {
        return Ok(());
    };
    let record = fs::read(output.join("compare.json")).ok();
    let record = record.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    match record {
        Some(record) if record["network"] == *whole => Ok(()),
        _ => bail!(exists(&file)),
    }
}

fn exists(path: &Path) -> Error {
    Error::config(format!(
        "{} exists already and is not of a comparison of this network; pass --force to overwrite, or choose another folder",
        path.display()
    ))
}
