//! Options made from the library's settings: name, kind, help and default of each come from where it is declared.
//!
//! Values stay text until the method is known, since a name may mean a number to one method and a whole number to
//! another; the library then reads and checks them.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use manyview::proximity;
use manyview::settings::{Choice, Kind, Setting, Settings};
use manyview::{Method, Result, describe};
use serde_json::{Map, Value};

const OWN: &str = "Settings of mnmf";
const RARE: &str = "Rarely used settings of mnmf (variants of the paper and of the published code)";
pub(super) const OTHERS: &str = "Settings of other methods (see also manyview methods NAME)";

/// Settings as given on the command line: names and texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given(Vec<(&'static str, String)>);

impl Given {
    /// Takes the settings of these names from the matches.
    fn from_matches(matches: &ArgMatches, settings: &[Setting]) -> Self {
        let mut given = Vec::new();
        for setting in settings {
            let name = setting.name;
            if is_switch(setting) {
                if matches.get_flag(name) {
                    given.push((name, "true".to_owned()));
                }
            } else if let Some(text) = matches.get_one::<String>(name) {
                given.push((name, text.clone()));
            }
            if is_yes_or_no(setting) && matches.get_flag(&negated(name)) {
                given.push((name, "false".to_owned()));
            }
        }
        Given(given)
    }

    /// The same and further settings.
    pub(super) fn with(&self, more: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        Given(self.0.iter().cloned().chain(more).collect())
    }

    /// The values, read as these settings expect them. What is none of them stays text.
    pub(crate) fn values(&self, settings: &[Setting]) -> Map<String, Value> {
        let read = |(name, text): &(&str, String)| {
            let setting = settings.iter().find(|setting| setting.name == *name);
            let value = setting.map_or_else(|| text.as_str().into(), |setting| setting.kind.from_text(text));
            ((*name).to_owned(), value)
        };
        self.0.iter().map(read).collect()
    }
}

/// Every setting of every method, each name once; the first method that has it describes it.
pub(super) fn all_settings() -> Vec<Setting> {
    let mut all: Vec<Setting> = Vec::new();
    for setting in Method::ALL.into_iter().flat_map(describe) {
        if all.iter().all(|known| known.name != setting.name) {
            all.push(setting);
        }
    }
    all
}

/// The options for all settings of all methods.
pub(super) fn with_all_settings(mut command: Command) -> Command {
    for setting in all_settings() {
        let of_mnmf = describe(Method::Mnmf).iter().any(|known| known.name == setting.name);
        let heading = match (of_mnmf, setting.details.rare) {
            (true, false) => OWN,
            (true, true) => RARE,
            (false, _) => OTHERS,
        };
        command = with_setting(command, &setting, help_for_all(setting.name), heading);
    }
    command
}

pub(super) fn given_of_all(matches: &ArgMatches) -> Given {
    Given::from_matches(matches, &all_settings())
}

fn with_setting(command: Command, setting: &Setting, help: String, heading: &'static str) -> Command {
    let long = setting.name.replace('_', "-");
    let mut arg = Arg::new(setting.name).long(long).help(help).help_heading(heading);
    if let Some(alias) = setting.details.alias {
        arg = arg.alias(alias.replace('_', "-"));
    }
    if is_switch(setting) {
        return command.arg(arg.action(ArgAction::SetTrue));
    }
    arg = match setting.kind {
        Kind::Choice(choices) => {
            arg.value_parser(PossibleValuesParser::new(choices.iter().map(possible))).value_name("NAME")
        }
        Kind::Flag => arg.value_name("yes|no"),
        Kind::Whole => arg.value_name("N"),
        Kind::Number => arg.value_name("X"),
        Kind::Wholes => arg.value_name("N,..."),
        Kind::Numbers(_) => arg.value_name("X,..."),
        _ => arg.value_name("NAME,..."),
    };
    if !is_yes_or_no(setting) {
        return command.arg(arg);
    }
    let name = negated(setting.name);
    let negated = Arg::new(name.clone()).long(name.replace('_', "-")).action(ArgAction::SetTrue);
    command.arg(arg).arg(negated.hide(true).conflicts_with(setting.name))
}

/// A value of an option, with its help.
pub(super) fn possible(choice: &Choice) -> PossibleValue {
    PossibleValue::new(choice.name).help(choice.help).aliases(choice.older)
}

/// MNMF's flags are switches, as on every command line; those of other methods take yes or no, since some are on by default.
fn is_switch(setting: &Setting) -> bool {
    setting.kind == Kind::Flag && describe(Method::Mnmf).iter().any(|known| known.name == setting.name)
}

fn is_yes_or_no(setting: &Setting) -> bool {
    setting.kind == Kind::Flag && !is_switch(setting)
}

fn negated(name: &str) -> String {
    format!("no_{name}")
}

/// Help and default of a setting, for every method that has it and says something else than the ones before.
fn help_for_all(name: &str) -> String {
    let mut meanings: Vec<(String, Vec<(Method, String)>)> = Vec::new();
    for method in Method::ALL {
        let Some(setting) = describe(method).into_iter().find(|setting| setting.name == name) else {
            continue;
        };
        let default = (method, setting.default_text());
        match meanings.iter_mut().find(|known| known.0 == setting.help) {
            Some(known) => known.1.push(default),
            None => meanings.push((setting.help, vec![default])),
        }
    }
    let every = meanings.iter().map(|meaning| meaning.1.len()).sum::<usize>() == Method::ALL.len();
    let texts = meanings.iter().enumerate().map(|(at, (help, defaults))| {
        let whose: Vec<&str> = defaults.iter().map(|(method, _)| method.name()).collect();
        let ours = defaults[0].0 == Method::Mnmf;
        let text = format!("{help}{}", default_words(defaults));
        match (at, ours || every) {
            (0, true) => text,
            (0, false) => format!("{text} ({})", whose.join(", ")),
            _ => format!("{}: {text}", whose.join(", ")),
        }
    });
    texts.collect::<Vec<_>>().join("; ")
}

/// `[default: 5]`, or `[default: 10; mve: 80]` where methods differ.
fn default_words(defaults: &[(Method, String)]) -> String {
    let first = &defaults[0].1;
    let mut others: Vec<(&str, Vec<&str>)> = Vec::new();
    for (method, text) in defaults.iter().filter(|(_, text)| text != first) {
        match others.iter_mut().find(|known| known.0 == text) {
            Some(known) => known.1.push(method.name()),
            None => others.push((text, vec![method.name()])),
        }
    }
    let others: String =
        others.iter().map(|(text, methods)| format!("; {}: {text}", methods.join(", "))).collect();
    match (first.is_empty(), others.is_empty()) {
        (true, true) => String::new(),
        _ => format!(" [default: {first}{others}]"),
    }
}

/// The settings of the proximity alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProximitySettings(Given);

impl ProximitySettings {
    pub(super) fn given(&self) -> &Given {
        &self.0
    }

    pub(crate) fn settings(&self) -> Result<proximity::Settings> {
        let mut settings = proximity::Settings::default();
        for (name, value) in self.0.values(&settings.describe()) {
            settings.set(&name, &value)?;
        }
        Ok(settings)
    }
}

impl Args for ProximitySettings {
    fn augment_args(mut command: Command) -> Command {
        for setting in proximity::Settings::default().describe() {
            let help = format!("{} [default: {}]", setting.help, setting.default_text());
            command = with_setting(command, &setting, help, "Proximity");
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ProximitySettings {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        Ok(ProximitySettings(Given::from_matches(matches, &proximity::Settings::default().describe())))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
