//! Settings from a file: TOML, or the `run.json` of an earlier run.
//!
//! ```toml
//! method = "mnmf"
//! preset = "paper"
//! dim = 128
//! max_iter = 50
//! ```

use std::path::Path;

use manyview_base::error::{Error, Result};
use manyview_core::preset::Preset;
use manyview_data::io::{Disk, Files};
use serde_json::{Map, Value};

use super::{Method, Model};

/// What a settings file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SettingsFile {
    /// The method, if it names one.
    pub method: Option<Method>,
    /// The preset, if it names one.
    pub preset: Option<Preset>,
    /// Settings by name.
    pub settings: Map<String, Value>,
    /// Whether it is a `run.json`, which has all settings, also those that nobody gave.
    pub of_run: bool,
}

impl SettingsFile {
    /// The model, with further settings laid over those of the file.
    pub fn model(
        &self,
        method: Option<Method>,
        preset: Option<Preset>,
        given: &Map<String, Value>,
    ) -> Result<Model> {
        let method = method.or(self.method).unwrap_or(Method::DEFAULT);
        let preset = preset.or(self.preset).unwrap_or_default();
        if self.of_run {
            // If all settings of a run counted as given, an option could not change those that follow from it.
            let mut model = Model::new(method, preset)?;
            model.restore(&self.settings)?;
            model.override_with(given)?;
            return Ok(model);
        }
        let mut all = self.settings.clone();
        all.extend(given.clone());
        Model::with_settings(method, preset, &all)
    }
}

/// Reads a settings file.
///
/// # Errors
/// [`Error::Io`] when it cannot be read, [`Error::Parse`] when it is neither TOML nor a `run.json`.
pub fn read_settings(path: &Path) -> Result<SettingsFile> {
    read_settings_from(&Disk, path)
}

/// As [`read_settings`], from files that need not be on a disk.
///
/// # Errors
/// Those of [`read_settings`].
pub fn read_settings_from(files: &dyn Files, path: &Path) -> Result<SettingsFile> {
    let text = files.read_to_string(path).map_err(|error| Error::io(path, error))?;
    let place = path.display().to_string();
    let json = path.extension().is_some_and(|extension| extension == "json");
    let mut values = if json { from_run(&text, &place)? } else { from_toml(&text, &place)? };
    let method = named(&mut values, "method", &place, Method::from_name, &Method::ALL.map(Method::name))?;
    let preset = named(&mut values, "preset", &place, Preset::from_name, &Preset::ALL.map(Preset::name))?;
    Ok(SettingsFile { method, preset, settings: values, of_run: json })
}

fn from_toml(text: &str, place: &str) -> Result<Map<String, Value>> {
    toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| text[..span.start].matches('\n').count() + 1);
        let place = line.map_or_else(|| place.to_owned(), |line| format!("{place}:{line}"));
        Error::parse(place, format!("not a settings file: {}", error.message()))
    })
}

/// The settings as they were given; of older files, those that were resolved.
fn from_run(text: &str, place: &str) -> Result<Map<String, Value>> {
    let mut run: Map<String, Value> = serde_json::from_str(text).map_err(|error| {
        Error::parse(format!("{place}:{}", error.line()), format!("not a run.json: {error}"))
    })?;
    let method = run.remove("method");
    let settings = run.remove("settings").or_else(|| run.remove("config"));
    let Some(Value::Object(mut settings)) = settings else {
        return Err(Error::parse(place, "not a run.json: it has no settings"));
    };
    // A number of threads belongs to the machine, not to the run that is to be repeated.
    settings.remove("threads");
    settings.extend(method.map(|method| ("method".to_owned(), method)));
    Ok(settings)
}

fn named<T>(
    values: &mut Map<String, Value>,
    name: &str,
    place: &str,
    find: impl Fn(&str) -> Option<T>,
    names: &[&str],
) -> Result<Option<T>> {
    let Some(value) = values.remove(name) else { return Ok(None) };
    let found = value.as_str().and_then(find);
    found
        .map(Some)
        .ok_or_else(|| Error::parse(place, format!("{name} = {value}: expected one of {}", names.join(", "))))
}
