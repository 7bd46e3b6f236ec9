//! Refuses to replace files that are not from a comparison of the same network.
//!
//! Invariant: without permission, a comparison replaces only files that a comparison of this network wrote. Files that
//! no comparison would replace may be in the folder.

use std::fs;
use std::path::Path;

use manyview_base::error::{Error, Result};
use manyview_base::message::switch;
use manyview_data::Network;
use serde_json::Value;

use super::cache::{JOB_FILES, MADE, network_key};
use super::jobs::Jobs;
use super::record::{RECORD, REPORT_FILES};

/// Checks that the jobs and reports of a comparison replace nothing else.
///
/// # Errors
/// [`Error::Config`] with the first file or folder that would be replaced.
pub(super) fn check(folder: &Path, jobs: &Jobs, network: &Network) -> Result<()> {
    let whole = network_key(network);
    let views: Vec<String> =
        (0..network.views().len()).map(|view| network_key(&network.only(view))).collect();
    for job in &jobs.jobs {
        let expected = job.view.map_or(&whole, |view| &views[view]);
        check_job(&folder.join(&job.folder), expected)?;
    }
    let Some(file) = REPORT_FILES.iter().map(|name| folder.join(name)).find(|file| file.exists()) else {
        return Ok(());
    };
    let record = fs::read(folder.join(RECORD)).ok();
    let record = record.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    match record {
        Some(record) if record["network"] == *whole => Ok(()),
        _ => Err(exists(&file)),
    }
}

fn check_job(folder: &Path, network: &str) -> Result<()> {
    match fs::read(folder.join(MADE)).map(|text| serde_json::from_slice::<Value>(&text)) {
        Ok(Ok(made)) if made["embedding"]["network"] == *network => Ok(()),
        Ok(Ok(_)) => Err(exists(folder)),
        // Damaged, but no other program writes a file of this name.
        Ok(Err(_)) => Ok(()),
        Err(_) => {
            let file = JOB_FILES.iter().map(|name| folder.join(name)).find(|file| file.exists());
            file.map_or(Ok(()), |file| Err(exists(&file)))
        }
    }
}

fn exists(path: &Path) -> Error {
    Error::config(format!(
        "{} already exists and is not from a comparison of this network; pass {} to overwrite it, or choose another \
         folder",
        path.display(),
        switch("force")
    ))
}
