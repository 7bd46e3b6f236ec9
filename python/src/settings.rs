//! Methods and their settings. Values arrive as JSON; the library knows what each setting expects.

use std::fmt::{self, Display};

use manyview::settings::{Kind, Setting, Settings};
use manyview::{Error, Method, MethodSettings, Mnmf, Model, Preset, SettingsFile};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, IntoDeserializer};
use serde_json::{Map, Value, json};

use crate::error::{one_of, to_python};

/// A method, a preset, and the settings laid over it as a JSON object.
#[derive(FromPyObject)]
pub(crate) struct GivenModel(String, String, String);

impl GivenModel {
    /// Returns the model.
    ///
    /// # Errors
    /// `InvalidParameter` for unknown names and for values that the library refuses.
    pub(crate) fn model(&self) -> PyResult<Model> {
        let GivenModel(method, preset, settings) = self;
        let (method, preset) = (named("method", method)?, named("preset", preset)?);
        let model = Model::with_settings(method, preset, &object(settings)?).map_err(to_python)?;
        model.check().map_err(to_python)?;
        Ok(model)
    }
}

/// Reads a choice by name.
pub(crate) fn named<T: DeserializeOwned>(parameter: &str, name: &str) -> PyResult<T> {
    let text: StrDeserializer<'_, Unknown> = name.into_deserializer();
    T::deserialize(text).map_err(|Unknown(names)| one_of(parameter, name, names))
}

/// A name that is none of these.
#[derive(Debug)]
struct Unknown(&'static [&'static str]);

impl Display for Unknown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "expected one of {}", self.0.join(", "))
    }
}

impl std::error::Error for Unknown {}

impl de::Error for Unknown {
    fn custom<T: Display>(_: T) -> Self {
        Unknown(&[])
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Unknown(expected)
    }
}

/// Sets settings from a JSON object.
pub(crate) fn set_all<S: Settings>(settings: &mut S, given: &str) -> PyResult<()> {
    for (name, value) in object(given)? {
        if !settings.set(&name, &value).map_err(to_python)? {
            return Err(to_python(Error::config(format!("there is no setting {name:?}"))));
        }
    }
    Ok(())
}

fn object(text: &str) -> PyResult<Map<String, Value>> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns all methods in order as JSON: name, group and help.
#[pyfunction]
pub(crate) fn methods() -> String {
    let entry = |method: Method| json!({"name": method.name(), "group": method.group().name(), "help": method.help()});
    Method::ALL.into_iter().map(entry).collect::<Value>().to_string()
}

/// Returns the settings of a method in order as JSON.
#[pyfunction]
pub(crate) fn describe(method: &str) -> PyResult<String> {
    let settings = manyview::describe(named("method", method)?);
    Ok(settings.iter().map(described).collect::<Value>().to_string())
}

fn described(setting: &Setting) -> Value {
    let (kind, choices) = match setting.kind {
        Kind::Whole => ("whole", None),
        Kind::Number => ("number", None),
        Kind::Flag => ("flag", None),
        Kind::Choice(choices) => {
            ("choice", Some(choices.iter().map(|choice| (choice.name, choice.help)).collect::<Vec<_>>()))
        }
        Kind::Wholes => ("wholes", None),
        Kind::Numbers(_) => ("numbers", None),
        Kind::Names => ("names", None),
        _ => ("unknown", None),
    };
    json!({
        "name": setting.name,
        "help": setting.help,
        "kind": kind,
        "expected": setting.expected(),
        "default": setting.default,
        "default_text": setting.default_text(),
        "choices": choices,
        "rare": setting.details.rare,
        "alias": setting.details.alias,
    })
}

/// Returns the value of every setting of a model as a JSON object.
#[pyfunction]
pub(crate) fn resolve(model: GivenModel) -> PyResult<String> {
    Ok(Value::Object(model.model()?.to_json()).to_string())
}

/// Returns all settings of mnmf after some of them were set over the others: those that follow from them change, too.
#[pyfunction]
pub(crate) fn override_settings(settings: &str, given: &str) -> PyResult<String> {
    let file = SettingsFile { settings: object(settings)?, of_run: true, ..SettingsFile::default() };
    let model = file.model(Some(Method::Mnmf), None, &object(given)?).map_err(to_python)?;
    Ok(Value::Object(model.to_json()).to_string())
}

/// Returns resolved settings of mnmf, from the `run.json` of an older version, with those left open that follow from the
/// others.
#[pyfunction]
pub(crate) fn reopen(config: &str, views: usize) -> PyResult<String> {
    let mut settings = object(config)?;
    let open = Mnmf::default().describe().into_iter().filter(|setting| setting.default.is_null());
    for name in open.map(|setting| setting.name) {
        let mut without = settings.clone();
        without.insert(name.into(), Value::Null);
        let model = Model::with_settings(Method::Mnmf, Preset::Default, &without).map_err(to_python)?;
        let MethodSettings::Mnmf(mnmf) = model.settings else { unreachable!("the method is mnmf") };
        let resolved = mnmf.resolved(views).describe();
        let follows =
            |setting: &Setting| setting.name == name && settings.get(name) == Some(&setting.default);
        if resolved.iter().any(follows) {
            settings = without;
        }
    }
    Ok(Value::Object(settings).to_string())
}
