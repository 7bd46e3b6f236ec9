//! `manyview methods`: the methods and their settings.

use std::fmt::Write;

use anyhow::Result;
use manyview::settings::{Choice, Kind, Setting};
use manyview::{Method, Model, Preset, describe};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::MethodsArgs;
use crate::ui::print;

pub(crate) fn run(args: &MethodsArgs) -> Result<()> {
    if args.json {
        let chosen = args.method.map_or_else(|| Method::ALL.to_vec(), |method| vec![method]);
        let entries: Vec<MethodEntry> = chosen.into_iter().map(MethodEntry::new).collect();
        return print(serde_json::to_string_pretty(&entries)? + "\n");
    }
    print(args.method.map_or_else(list, settings))
}

/// A method in the output of `--json`.
#[derive(Serialize)]
struct MethodEntry {
    name: &'static str,
    group: &'static str,
    help: &'static str,
    settings: Vec<SettingEntry>,
    /// The settings of each preset that differ from the defaults.
    presets: Map<String, Value>,
}

#[derive(Serialize)]
struct SettingEntry {
    name: &'static str,
    help: String,
    expected: String,
    default: Value,
    default_text: String,
    choices: Vec<ChoiceEntry>,
    rare: bool,
}

#[derive(Serialize)]
struct ChoiceEntry {
    name: &'static str,
    help: &'static str,
}

impl MethodEntry {
    fn new(method: Method) -> Self {
        let settings = describe(method).into_iter().map(SettingEntry::new).collect();
        let presets = Preset::ALL.into_iter().filter_map(|preset| {
            let changed = changed(method, preset)?;
            let values = changed.into_iter().map(|setting| (setting.name.to_owned(), setting.default));
            Some((preset.name().to_owned(), values.collect()))
        });
        let (name, group, help) = (method.name(), method.group().name(), method.help());
        MethodEntry { name, group, help, settings, presets: presets.collect() }
    }
}

impl SettingEntry {
    fn new(setting: Setting) -> Self {
        let choices = match setting.kind {
            Kind::Choice(choices) => {
                choices.iter().map(|&Choice { name, help, .. }| ChoiceEntry { name, help }).collect()
            }
            _ => Vec::new(),
        };
        SettingEntry {
            name: setting.name,
            expected: setting.expected(),
            default_text: setting.default_text(),
            help: setting.help,
            default: setting.default,
            choices,
            rare: setting.details.rare,
        }
    }
}

/// The settings of a preset that differ from the defaults; `None` if the method does not have that preset.
fn changed(method: Method, preset: Preset) -> Option<Vec<Setting>> {
    let defaults = describe(method);
    let model = Model::new(method, preset).ok()?;
    Some(model.describe().into_iter().filter(|setting| !defaults.contains(setting)).collect())
}

fn list() -> String {
    let mut text = String::new();
    let widest = Method::ALL.iter().map(|method| method.name().len()).max().unwrap_or(0);
    for method in Method::ALL {
        let (name, group) = (method.name(), method.group().name());
        let _ = writeln!(text, "{name:<widest$}  {group:<13}  {}", method.help());
    }
    text + "\nTo list the settings of a method: manyview methods NAME\n"
}

fn settings(method: Method) -> String {
    let mut text = format!("{}: {} ({})\n\n", method.name(), method.help(), method.group().name());
    for setting in describe(method) {
        text.push_str(&lines(&setting));
    }
    text.push_str("presets:\n");
    for preset in Preset::ALL {
        let Some(changed) = changed(method, preset) else { continue };
        let values: Vec<String> =
            changed.iter().map(|setting| format!("{} {}", setting.name, setting.default_text())).collect();
        let values = if values.is_empty() { "as listed above".into() } else { values.join(", ") };
        let _ = writeln!(text, "  {}: {values}", preset.name());
    }
    text
}

fn lines(setting: &Setting) -> String {
    let name = setting.name.replace('_', "-");
    let default = match setting.default_text() {
        default if default.is_empty() => String::new(),
        default => format!("  [default: {default}]"),
    };
    let mut text = format!("--{name}{default}\n    {}\n    {}\n", setting.help, setting.expected());
    if let Kind::Choice(choices) = setting.kind {
        for Choice { name, help, .. } in choices {
            let _ = writeln!(text, "      {name}: {help}");
        }
    }
    text + "\n"
}
