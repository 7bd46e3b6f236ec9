//! `manyview methods`: the methods, and the settings of each.

use std::fmt::Write;

use anyhow::Result;
use manyview::settings::{Kind, Setting};
use manyview::{Method, Preset, describe};
use serde_json::{Map, Value, json};

use crate::args::MethodsArgs;
use crate::ui::print;

pub(crate) fn run(args: &MethodsArgs) -> Result<()> {
    let chosen = args.method.map_or_else(|| Method::ALL.to_vec(), |method| vec![method]);
    if args.json {
        let all: Map<String, Value> =
            chosen.into_iter().map(|method| (method.name().to_owned(), json(method))).collect();
        return print(serde_json::to_string_pretty(&all)? + "\n");
    }
    print(args.method.map_or_else(list, settings))
}

/// Everything that is known of a method, for programs.
fn json(method: Method) -> Value {
    let settings: Map<String, Value> = describe(method)
        .into_iter()
        .map(|setting| {
            let facts = json!({
                "help": setting.help,
                "expected": setting.expected(),
                "default": setting.default,
                "default_text": setting.default_text(),
                "rare": setting.details.rare,
            });
            (setting.name.to_owned(), facts)
        })
        .collect();
    json!({"group": method.group().name(), "help": method.help(), "settings": settings})
}

fn list() -> String {
    let mut text = String::new();
    let widest = Method::ALL.iter().map(|method| method.name().len()).max().unwrap_or(0);
    for method in Method::ALL {
        let (name, group) = (method.name(), method.group().name());
        let _ = writeln!(text, "{name:<widest$}  {group:<13}  {}", method.help());
    }
    text + "\nmanyview methods NAME shows the settings of a method.\n"
}

fn settings(method: Method) -> String {
    let mut text = format!("{}: {} ({})\n\n", method.name(), method.help(), method.group().name());
    for setting in describe(method) {
        text.push_str(&lines(&setting));
    }
    let presets = Preset::ALL.into_iter().filter(|&preset| manyview::Model::new(method, preset).is_ok());
    let presets: Vec<&str> = presets.map(Preset::name).collect();
    let _ = writeln!(text, "presets: {}", presets.join(", "));
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
        for (name, help) in choices {
            let _ = writeln!(text, "      {name}: {help}");
        }
    }
    text + "\n"
}
