//! The method and its settings. All are optional: what is not given comes from the settings file, then from the preset.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use manyview::{Error, Method, Model, Preset, Result, SettingsFile, describe, read_settings};

use super::named;
use super::settings::{Given, given_of_all, with_all_settings};

const HEADING: &str = "Method";

#[derive(Clone, Debug, Default)]
pub(crate) struct ModelArgs {
    method: Option<Method>,
    preset: Option<Preset>,
    file: Option<PathBuf>,
    given: Given,
}

impl ModelArgs {
    /// The arguments of a command that has some of the options only.
    pub(super) fn new(method: Option<Method>, file: Option<PathBuf>, given: Given) -> Self {
        ModelArgs { method, preset: None, file, given }
    }

    /// The method with its settings.
    pub(crate) fn model(&self) -> Result<Model> {
        let file = self.file.as_deref().map(read_settings).transpose()?.unwrap_or_default();
        let method = self.method.or(file.method).unwrap_or(Method::DEFAULT);
        // Settings of a file are those of its method.
        let file = if file.method.is_some_and(|of_file| of_file != method) {
            SettingsFile { preset: file.preset, ..SettingsFile::default() }
        } else {
            file
        };
        file.model(Some(method), self.preset, &self.given.values(&describe(method)))
    }

    /// The model, for commands that run MNMF only.
    pub(crate) fn mnmf(&self) -> Result<Model> {
        let model = self.model()?;
        if model.method() != Method::Mnmf {
            let name = model.method().name();
            return Err(Error::config(format!(
                "this command runs mnmf only, not {name}; use manyview embed"
            )));
        }
        Ok(model)
    }
}

impl Args for ModelArgs {
    fn augment_args(command: Command) -> Command {
        let method = Arg::new("method")
            .value_parser(named::<Method>())
            .value_name("NAME")
            .hide_possible_values(true)
            .help("Method; manyview methods lists them [default: mnmf]");
        let preset = Arg::new("preset")
            .value_parser(named::<Preset>())
            .value_name("NAME")
            .help("Set of settings that belong together; single settings override it [default: default]");
        let file = Arg::new("settings").value_parser(value_parser!(PathBuf)).value_name("FILE").help(
            "Read method, preset and settings from a TOML file, or from the run.json of an earlier run; options override it",
        );
        let options = [method, preset, file].map(|arg| {
            let long = arg.get_id().to_string();
            arg.long(long).help_heading(HEADING)
        });
        with_all_settings(command.args(options))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ModelArgs {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        Ok(ModelArgs {
            method: matches.get_one("method").copied(),
            preset: matches.get_one("preset").copied(),
            file: matches.get_one("settings").cloned(),
            given: given_of_all(matches),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};
    use manyview::message::Notation;
    use manyview::mnmf::Order;
    use manyview::settings::Setting;
    use manyview::{MethodSettings, Mnmf};

    use super::*;
    use crate::args::{Cli, Command};

    fn model(words: &[&str]) -> Result<Model> {
        let cli = Cli::parse_from([&["manyview", "embed", "x", "-o", "y"], words].concat());
        let Command::Embed(args) = cli.command else { panic!("embed was asked for") };
        args.model.model()
    }

    fn mnmf(words: &[&str]) -> Mnmf {
        let MethodSettings::Mnmf(settings) = model(words).unwrap().settings else { panic!("it is mnmf") };
        settings
    }

    #[test]
    fn nothing_typed_is_the_default_and_presets_are_the_librarys() {
        assert_eq!(model(&[]).unwrap(), Model::default());
        for preset in Preset::ALL {
            assert_eq!(mnmf(&["--preset", preset.name()]), Mnmf::preset(preset));
        }
    }

    #[test]
    fn what_is_typed_wins_over_the_preset() {
        let settings = mnmf(&["--preset", "authors", "--stages", "6", "--solver", "mu", "--negative", "2"]);
        assert_eq!((settings.stages, settings.consensus_stages), (6, Some(3)));
        assert_eq!((settings.unique_solver, settings.proximity.negative), (None, 2.0));
        assert_eq!(mnmf(&["--order", "consensus-first"]).order, Order::ConsensusFirst);
        let dims = mnmf(&["--stage-dims", "8,4,4"]);
        assert_eq!((dims.stages, dims.dim, dims.stage_dims), (3, 16, Some(vec![8, 4, 4])));
        assert_eq!(mnmf(&["--normalise", "max"]), mnmf(&["--normalize", "max"]), "the older spelling");
        assert_eq!(mnmf(&["--stop", "six-looks"]), mnmf(&["--stop", "six-checks"]), "the older name");
    }

    #[test]
    fn settings_go_to_the_method_that_has_them() {
        let boostne = model(&["--method", "boostne", "--stages", "3", "--negative", "2"]).unwrap().to_json();
        assert_eq!((boostne["stages"].as_u64(), boostne["negative"].as_f64()), (Some(3), Some(2.0)));
        let deepwalk =
            model(&["--method", "deepwalk", "--negative", "2", "--weighted", "yes"]).unwrap().to_json();
        assert_eq!((deepwalk["negative"].as_u64(), deepwalk["weighted"].as_bool()), (Some(2), Some(true)));
        let mve = model(&["--method", "mve", "--preset", "paper", "--no-attention"]).unwrap().to_json();
        assert_eq!(mve["attention"].as_bool(), Some(false));
        let told = |words: &[&str]| model(words).unwrap_err().in_notation(Notation::CommandLine);
        assert!(
            told(&["--method", "boostne", "--epochs", "3"])
                .starts_with("--epochs: boostne has no such setting")
        );
        assert!(told(&["--gamma", "x"]).starts_with("--gamma x: expected a number above 0"));
        assert!(
            told(&["--method", "deepwalk", "--negative", "2.5"])
                .starts_with("--negative 2.5: expected a whole")
        );
    }

    #[test]
    fn a_settings_file_lies_between_preset_and_options() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.toml");
        std::fs::write(&path, "preset = \"paper\"\ndim = 32\nstages = 4\n").unwrap();
        let settings = mnmf(&["--settings", path.to_str().unwrap(), "--stages", "6"]);
        let expected = Mnmf { dim: 32, stages: 6, ..Mnmf::preset(Preset::Paper) };
        assert_eq!(settings, expected);
    }

    /// One declaration, every front end: whatever a setting is, the command line has it with its name, help and default.
    #[test]
    fn every_setting_is_an_option_with_its_help_and_default() {
        let command = Cli::command();
        let embed = command.find_subcommand("embed").unwrap();
        let check = |method: Method, setting: &Setting| {
            let arg = embed.get_arguments().find(|arg| arg.get_id() == setting.name);
            let arg = arg.unwrap_or_else(|| panic!("{} of {}", setting.name, method.name()));
            assert_eq!(arg.get_long(), Some(setting.name.replace('_', "-").as_str()));
            let help = arg.get_help().unwrap().to_string();
            assert!(help.contains(&setting.help), "{}: {help}", setting.name);
            assert!(help.contains(&setting.default_text()), "{} of {}: {help}", setting.name, method.name());
        };
        for method in Method::ALL {
            describe(method).iter().for_each(|setting| check(method, setting));
        }
    }
}
