//! The settings of the method. All are optional: what is not typed comes from the preset.

use clap::Args;
use manyview::config::{
    Config, Consensus, Init, Isolated, Layout, Normalize, Preset, Scale, Share, Solver, StopRule,
};
use manyview::methods::{Method, Model};
use manyview::{Error, Result};
use serde::Serialize;
use serde_json::{Map, Value};

use super::others::OtherArgs;
use super::{choice, number, whole};

/// A parser for one of the library's choices.
macro_rules! named {
    ($type:ty) => {
        choice(<$type>::ALL.map(|choice| (choice.name(), choice.help(), choice)))
    };
}

#[derive(Debug, Default, Args, Serialize)]
#[command(next_help_heading = "Method")]
pub(crate) struct ModelArgs {
    /// Method [default: mnmf]
    #[arg(long, value_name = "NAME", value_parser = named!(Method))]
    #[serde(skip)]
    pub(crate) method: Option<Method>,
    /// A set of settings that belong together; single settings override it [default: default]
    #[arg(long, value_name = "NAME", value_parser = named!(Preset))]
    #[serde(skip)]
    pub(crate) preset: Option<Preset>,
    /// Columns of the embedding [default: 256]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) dim: Option<usize>,
    /// Stages: consensus and unique ones together [default: 8]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) stages: Option<usize>,
    /// How many of the stages are consensus stages [default: a quarter, rounded up]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) consensus_stages: Option<usize>,
    /// Columns of each stage by hand, comma-separated; sets --stages and --dim too
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = whole)]
    pub(crate) stage_dims: Option<Vec<usize>>,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) proximity: ProximitySettings,
    /// Kind of consensus stage [default: pooled]
    #[arg(long, value_name = "KIND", value_parser = named!(Consensus))]
    pub(crate) consensus: Option<Consensus>,
    /// How a unique stage's columns are shared out over the views [default: residual]
    #[arg(long, value_name = "HOW", value_parser = named!(Share))]
    pub(crate) share: Option<Share>,
    /// Exponent of the view weights in shared consensus stages, above 0: near 1 the best-fitting view takes all;
    /// from 5 on little changes; below 1 badly fitting views gain [default: 5]
    #[arg(long, value_name = "X", value_parser = number)]
    pub(crate) gamma: Option<f64>,
    /// How views of different size are made comparable; `residual` acts in shared consensus stages, `max` in all
    /// [default: residual]
    #[arg(long, value_name = "HOW", value_parser = named!(Normalize))]
    pub(crate) normalize: Option<Normalize>,
    /// How factors are updated [default: hals]
    #[arg(long, value_name = "NAME", value_parser = named!(Solver))]
    pub(crate) solver: Option<Solver>,
    /// At most so many iterations a stage [default: 200]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) max_iter: Option<usize>,
    /// A stage has converged when an iteration lowers its objective by less than this share [default: 0.0001]
    #[arg(long, value_name = "X", value_parser = number)]
    pub(crate) tol: Option<f64>,
    /// Scale of the embedding's columns [default: balanced]
    #[arg(long, value_name = "HOW", value_parser = named!(Scale))]
    pub(crate) scale: Option<Scale>,
    /// All random numbers follow from it [default: 0]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Threads [default: all cores]; does not change the result
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) threads: Option<usize>,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) rare: RareArgs,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) others: OtherArgs,
}

#[derive(Debug, Default, Args, Serialize)]
#[command(next_help_heading = "Method")]
pub(crate) struct ProximitySettings {
    /// How many steps of a random walk count as near [default: 5] (deepwalk, metapath2vec: 10)
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) window: Option<usize>,
    /// Pairs that meet less than this many times as often as chance are dropped; 5, the paper's, keeps a third of
    /// what 1 keeps and takes a third of the time and memory [default: 1] (methods that learn by small steps: random nodes that each
    /// pair is set against, 5)
    #[arg(long, value_name = "X", value_parser = number)]
    pub(crate) negative: Option<f64>,
    /// What a node without edges in a view looks like there [default: zero]
    #[arg(long, value_name = "HOW", value_parser = named!(Isolated))]
    pub(crate) isolated: Option<Isolated>,
}

#[derive(Debug, Default, Args, Serialize)]
#[command(next_help_heading = "Rarely needed (for the paper's and the published code's variants)")]
pub(crate) struct RareArgs {
    /// Unique stages before consensus stages
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unique_first: bool,
    /// How columns are shared out over the stages [default: even]
    #[arg(long, value_name = "HOW", value_parser = named!(Layout))]
    pub(crate) layout: Option<Layout>,
    /// Where stages start [default: scaled]
    #[arg(long, value_name = "HOW", value_parser = named!(Init))]
    pub(crate) init: Option<Init>,
    /// Solver of unique stages [default: as --solver]
    #[arg(long, value_name = "NAME", value_parser = named!(Solver))]
    pub(crate) unique_solver: Option<Solver>,
    /// At most so many iterations of a unique stage [default: as --max-iter]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) unique_max_iter: Option<usize>,
    /// What counts as converged in consensus stages [default: decrease]
    #[arg(long, value_name = "RULE", value_parser = named!(StopRule))]
    pub(crate) stop: Option<StopRule>,
    /// Added to mu's denominators, with unscaled view weights [default: 0]
    #[arg(long, value_name = "X", value_parser = number)]
    pub(crate) epsilon: Option<f64>,
}

impl ModelArgs {
    /// The method and its settings.
    pub(crate) fn chosen(&self) -> Result<Chosen> {
        match self.method.unwrap_or_default() {
            Method::Mnmf => self.mnmf().map(Chosen::Mnmf),
            method => Model::new(method, self.preset.unwrap_or_default(), &self.typed()).map(Chosen::Other),
        }
    }

    /// The settings of MNMF, for commands that know no other method.
    pub(crate) fn mnmf(&self) -> Result<Config> {
        if let Some(other) = self.method.filter(|&method| method != Method::Mnmf) {
            let name = other.name();
            return Err(Error::config(format!(
                "this command runs mnmf alone, not {name}; use manyview embed"
            )));
        }
        let Ok(Value::Object(own)) = serde_json::to_value(Config::default()) else {
            unreachable!("settings are a struct of plain values")
        };
        if let Some(foreign) = self.typed().keys().find(|name| !own.contains_key(*name)) {
            return Err(Error::config(format!(
                "mnmf has no setting {foreign:?}; leave it out, or name the method that has it with --method"
            )));
        }
        Ok(self.config())
    }

    /// The names and values that were typed.
    fn typed(&self) -> Map<String, Value> {
        let Ok(Value::Object(mut all)) = serde_json::to_value(self) else {
            unreachable!("arguments are a struct of plain values")
        };
        if self.others.no_attention {
            all.insert("attention".into(), false.into());
        }
        // `--negative 5` is a number to mnmf and a whole number to deepwalk; 5 is both, 5.0 is not.
        let whole = |value: Value| match value.as_f64() {
            Some(x) if x.fract() == 0.0 && (0.0..1e15).contains(&x) => Value::from(x as u64),
            _ => value,
        };
        all.into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name, whole(value)))
            .collect()
    }

    /// The preset with what was typed laid over it.
    fn config(&self) -> Config {
        let mut config = Config::preset(self.preset.unwrap_or_default());
        if let Some(dims) = &self.stage_dims {
            config.stages = dims.len();
            config.dim = dims.iter().sum();
            config.consensus_stages = None;
            config.stage_dims = Some(dims.clone());
        }
        if self.stages.is_some() && self.consensus_stages.is_none() && config.layout == Layout::Code {
            // The published code has as many consensus stages as unique ones.
            config.consensus_stages = self.stages.map(|stages| stages / 2);
        }
        set(&mut config.dim, &self.dim);
        set(&mut config.stages, &self.stages);
        set(&mut config.gamma, &self.gamma);
        set(&mut config.consensus, &self.consensus);
        set(&mut config.share, &self.share);
        set(&mut config.normalize, &self.normalize);
        set(&mut config.solver, &self.solver);
        set(&mut config.max_iter, &self.max_iter);
        set(&mut config.tol, &self.tol);
        set(&mut config.scale, &self.scale);
        set(&mut config.seed, &self.seed);
        set(&mut config.layout, &self.rare.layout);
        set(&mut config.init, &self.rare.init);
        set(&mut config.stop, &self.rare.stop);
        set(&mut config.epsilon, &self.rare.epsilon);
        self.proximity.lay_over(&mut config);
        // Who sets the solver means all stages, also where a preset has a solver of its own for unique ones.
        if self.solver.is_some() {
            config.unique_solver = None;
        }
        if self.max_iter.is_some() {
            config.unique_max_iter = None;
        }
        config.consensus_stages = self.consensus_stages.or(config.consensus_stages);
        config.unique_solver = self.rare.unique_solver.or(config.unique_solver);
        config.unique_max_iter = self.rare.unique_max_iter.or(config.unique_max_iter);
        config.unique_first = self.rare.unique_first;
        config.threads = self.threads;
        config
    }
}

/// A method with its settings.
pub(crate) enum Chosen {
    Mnmf(Config),
    Other(Model),
}

impl Chosen {
    /// Checks what does not depend on the network.
    pub(crate) fn check(&self) -> Result<()> {
        match self {
            Chosen::Mnmf(config) => config.check(),
            Chosen::Other(model) => model.check(),
        }
    }

    pub(crate) fn seed(&self) -> u64 {
        match self {
            Chosen::Mnmf(config) => config.seed,
            Chosen::Other(model) => model.seed,
        }
    }

    pub(crate) fn threads(&self) -> Option<usize> {
        match self {
            Chosen::Mnmf(config) => config.threads,
            Chosen::Other(model) => model.threads,
        }
    }
}

impl ProximitySettings {
    /// Lays what was typed over the settings.
    pub(crate) fn lay_over(&self, config: &mut Config) {
        set(&mut config.window, &self.window);
        set(&mut config.negative, &self.negative);
        set(&mut config.isolated, &self.isolated);
    }
}

fn set<T: Clone>(setting: &mut T, typed: &Option<T>) {
    if let Some(typed) = typed {
        setting.clone_from(typed);
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::args::{Cli, Command};

    fn config(words: &[&str]) -> Config {
        let cli = Cli::parse_from([&["manyview", "embed", "x", "-o", "y"], words].concat());
        let Command::Embed(args) = cli.command else { panic!("embed was asked for") };
        args.model.mnmf().unwrap()
    }

    #[test]
    fn nothing_typed_is_the_default_and_presets_are_the_librarys() {
        assert_eq!(config(&[]), Config::default());
        for preset in Preset::ALL {
            assert_eq!(config(&["--preset", preset.name()]), Config::preset(preset));
        }
    }

    #[test]
    fn what_is_typed_wins_over_the_preset() {
        let config = config(&["--preset", "authors", "--stages", "6", "--solver", "mu", "--negative", "2"]);
        assert_eq!((config.stages, config.consensus_stages), (6, Some(3)));
        assert_eq!((config.unique_solver, config.negative, config.window), (None, 2.0, 1));
    }

    #[test]
    fn settings_go_to_the_method_that_has_them() {
        let chosen = |words: &[&str]| {
            let cli = Cli::parse_from([&["manyview", "embed", "x", "-o", "y"], words].concat());
            let Command::Embed(args) = cli.command else { panic!("embed was asked for") };
            args.model.chosen()
        };
        let Chosen::Other(model) =
            chosen(&["--method", "boostne", "--stages", "3", "--negative", "2"]).unwrap()
        else {
            panic!("boostne was asked for")
        };
        let json = serde_json::to_value(&model).unwrap();
        assert_eq!((json["stages"].as_u64(), json["negative"].as_f64()), (Some(3), Some(2.0)));
        let told = |words: &[&str]| chosen(words).err().unwrap().to_string();
        assert!(
            told(&["--method", "boostne", "--walks", "3"])
                .starts_with("boostne has no setting \"walks\"; it has dim")
        );
        assert!(told(&["--walks", "3"]).starts_with("mnmf has no setting \"walks\""));
    }

    #[test]
    fn stage_dims_set_stages_and_dim() {
        let config = config(&["--stage-dims", "8,4,4"]);
        assert_eq!((config.stages, config.dim, config.stage_dims), (3, 16, Some(vec![8, 4, 4])));
    }

    /// The help is written by hand, because what is not typed depends on the preset; so it is checked.
    #[test]
    fn help_tells_the_true_defaults() {
        let config = Config::default();
        let defaults = [
            ("dim", config.dim.to_string()),
            ("stages", config.stages.to_string()),
            ("gamma", config.gamma.to_string()),
            ("window", config.window.to_string()),
            ("negative", config.negative.to_string()),
            ("max_iter", config.max_iter.to_string()),
            ("tol", config.tol.to_string()),
            ("seed", config.seed.to_string()),
            ("consensus", config.consensus.name().into()),
            ("share", config.share.name().into()),
            ("normalize", config.normalize.name().into()),
            ("solver", config.solver.name().into()),
            ("scale", config.scale.name().into()),
            ("isolated", config.isolated.name().into()),
            ("layout", config.layout.name().into()),
            ("init", config.init.name().into()),
            ("stop", config.stop.name().into()),
            ("epsilon", config.epsilon.to_string()),
        ];
        let command = Cli::command();
        let embed = command.find_subcommand("embed").unwrap();
        for (id, value) in defaults {
            let arg = embed.get_arguments().find(|arg| arg.get_id() == id).unwrap();
            let help = arg.get_help().unwrap().to_string();
            assert!(help.contains(&format!("[default: {value}]")), "--{id}: {help}");
        }
    }
}
