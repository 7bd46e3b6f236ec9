//! What is compared, and how it is measured: [`CompareSettings`], and the settings that are varied: [`Swept`].

use manyview_analysis::evaluate::{ClassifySettings, Cost};
use manyview_base::error::{Error, Result};
use manyview_base::message::{option, option_value};
use manyview_base::named;
use manyview_base::settings::Settings;
use manyview_core::mnmf::Mnmf;
use manyview_core::preset::Preset;
use serde_json::Value;

use crate::model::{Method, Model};

/// The settings of [`compare`](super::compare()).
#[derive(Clone, Debug, PartialEq)]
pub struct CompareSettings {
    /// The methods; empty for all of them.
    pub methods: Vec<Method>,
    /// The settings of all methods.
    pub preset: Preset,
    /// The number of columns of each embedding.
    pub dim: usize,
    /// The metapaths of metapath2vec.
    pub metapaths: Metapaths,
    /// Whether to add rows of MNMF without one of its parts.
    pub ablations: bool,
    /// The settings of MNMF to vary; each adds one row per value.
    pub sweep: Vec<Swept>,
    /// Fractions of the labeled nodes to train on.
    pub train: Vec<f64>,
    /// Number of splits per fraction, and of runs of k-means.
    pub repeats: usize,
    /// The weights C of the classifier; each has a table of its own.
    pub c: Vec<Cost>,
    /// The random seed.
    pub seed: u64,
    /// The number of threads, all cores when not given; does not affect the result.
    pub threads: Option<usize>,
}

impl Default for CompareSettings {
    fn default() -> Self {
        let ClassifySettings { train, repeats, seed, c, .. } = ClassifySettings::default();
        CompareSettings {
            methods: Vec::new(),
            preset: Preset::default(),
            dim: Mnmf::default().dim,
            metapaths: Metapaths::default(),
            ablations: false,
            sweep: Vec::new(),
            train,
            repeats,
            c: vec![c, Cost::Auto],
            seed,
            threads: None,
        }
    }
}

impl CompareSettings {
    /// Checks everything that does not depend on the network or the labels.
    ///
    /// # Errors
    /// [`Error::Config`] for the first invalid setting.
    pub fn check(&self) -> Result<()> {
        let settings = Mnmf { dim: self.dim, ..Mnmf::default() }.into();
        Model { settings, seed: self.seed, threads: self.threads }.check()?;
        if self.c.is_empty() {
            return Err(Error::config(format!(
                "{} is empty; give numbers greater than 0, or auto",
                option("c")
            )));
        }
        self.c.iter().try_for_each(|&c| self.classify(c).check())
    }

    /// The classification at one C.
    pub(super) fn classify(&self, c: Cost) -> ClassifySettings {
        let (train, repeats, seed) = (self.train.clone(), self.repeats, self.seed);
        ClassifySettings { train, repeats, seed, c, ..ClassifySettings::default() }
    }

    /// The same settings without duplicates: each fraction is a column, and each C a table.
    pub(super) fn without_duplicates(&self) -> Self {
        CompareSettings {
            train: distinct(&self.train),
            c: distinct(&self.c),
            sweep: latest(&self.sweep),
            ..self.clone()
        }
    }
}

/// The last of several ranges of the same setting.
fn latest(ranges: &[Swept]) -> Vec<Swept> {
    let mut found: Vec<Swept> = Vec::new();
    for range in ranges {
        found.retain(|known| known.setting != range.setting);
        found.push(range.clone());
    }
    found
}

fn distinct<T: Copy + PartialEq>(values: &[T]) -> Vec<T> {
    let mut found = Vec::new();
    for &value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

named! {
    /// Which metapaths metapath2vec runs on.
    pub enum Metapaths {
        Some = "some", "every pair of views, and all views in order";
        All = "all", "every subset of the views in every order, up to rotation and reflection";
    }
}

named! {
    /// A setting of MNMF that is varied.
    pub enum Sweep {
        Dim = "dim", "number of columns";
        Gamma = "gamma", "exponent of the view weights, with shared consensus stages";
        Stages = "stages", "number of stages";
        ConsensusStages = "consensus-stages", "number of consensus stages";
        Window = "window", "length of the walks that proximity follows";
        Negative = "negative", "negative samples: how often pairs must co-occur to count";
        MaxIter = "max-iter", "maximum number of iterations of a stage";
    }
}

/// A setting of MNMF that is varied, and its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Swept {
    /// The setting.
    pub setting: Sweep,
    /// Its values; `None` for the usual ones.
    pub values: Option<Vec<Value>>,
}

impl From<Sweep> for Swept {
    fn from(setting: Sweep) -> Self {
        Swept { setting, values: None }
    }
}

impl Swept {
    /// Reads texts such as `gamma` and `dim=16,32`: a name alone stands for the usual values; after `name=`, all items up to the
    /// next name are values. Later values of the same setting replace earlier ones.
    ///
    /// # Errors
    /// [`Error::Config`] for an unknown name, with all names; for a value that the setting cannot have.
    pub fn parse<S: AsRef<str>>(texts: &[S]) -> Result<Vec<Swept>> {
        let mut found: Vec<Swept> = Vec::new();
        let items = texts.iter().flat_map(|text| text.as_ref().split(','));
        for item in items.map(str::trim).filter(|item| !item.is_empty()) {
            let (name, value) = match item.split_once('=') {
                Some((name, value)) => (name.trim(), Some(value.trim())),
                None => (item, None),
            };
            match (Sweep::from_name(&name.replace('_', "-")), found.last_mut()) {
                (Some(setting), _) => {
                    let values =
                        value.map(|value| setting.value(value)).transpose()?.map(|value| vec![value]);
                    found.push(Swept { setting, values });
                }
                (None, Some(Swept { setting, values: Some(values) })) if value.is_none() => {
                    values.push(setting.value(item)?);
                }
                _ => return Err(unknown(name)),
            }
        }
        Ok(latest(&found))
    }
}

fn unknown(name: &str) -> Error {
    Error::config(format!(
        "{}: there is no such setting to vary; use {}, alone or with values, as in dim=16,32",
        option_value("sweep", name),
        Sweep::ALL.map(Sweep::name).join(", ")
    ))
}

impl Sweep {
    /// The name in the settings of MNMF.
    pub(super) fn setting(self) -> String {
        self.name().replace('-', "_")
    }

    /// Reads a value.
    fn value(self, text: &str) -> Result<Value> {
        let (name, own) = (self.setting(), Mnmf::default());
        let setting = own.describe().into_iter().find(|setting| setting.name == name);
        let setting = setting.expect("a setting of mnmf");
        let value = setting.kind.from_text(text);
        match own.clone().set(&name, &value) {
            Ok(true) => Ok(value),
            _ => {
                let given = option_value("sweep", format!("{}={text}", self.name()));
                Err(Error::config(format!("{given}: expected {}", setting.expected())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid_and_bad_values_are_refused() {
        CompareSettings::default().check().unwrap();
        let told = |change: fn(&mut CompareSettings)| {
            let mut settings = CompareSettings::default();
            change(&mut settings);
            settings.check().unwrap_err().to_string()
        };
        assert!(told(|settings| settings.dim = 0).starts_with("dim = 0"));
        assert!(told(|settings| settings.repeats = 0).starts_with("repeats = 0"));
        assert!(told(|settings| settings.train = vec![0.5, 2.0]).starts_with("train = 2"));
        assert!(told(|settings| settings.train.clear()).starts_with("train is empty"));
        assert!(told(|settings| settings.c = vec![Cost::Auto, Cost::Fixed(0.0)]).starts_with("c = 0"));
        assert!(told(|settings| settings.c.clear()).starts_with("c is empty"));
        assert!(told(|settings| settings.threads = Some(0)).starts_with("threads = 0"));
    }

    #[test]
    fn ranges_are_read_with_their_values() {
        let parsed =
            Swept::parse(&["gamma,dim=16,32", "consensus_stages=0", "negative=0.5,1,window"]).unwrap();
        let own = |setting, values: &[Value]| Swept { setting, values: Some(values.to_vec()) };
        let expected = [
            Sweep::Gamma.into(),
            own(Sweep::Dim, &[16.into(), 32.into()]),
            own(Sweep::ConsensusStages, &[0.into()]),
            own(Sweep::Negative, &[0.5.into(), 1.0.into()]),
            Sweep::Window.into(),
        ];
        assert_eq!(parsed, expected);
        assert_eq!(
            Swept::parse(&["dim", "dim=8"]).unwrap(),
            [own(Sweep::Dim, &[8.into()])],
            "the last counts"
        );
        let told = |text: &str| Swept::parse(&[text]).unwrap_err().to_string();
        assert!(
            told("colour").contains("no such setting to vary; use dim, gamma, stages"),
            "{}",
            told("colour")
        );
        assert!(told("16,dim").contains("no such setting"), "{}", told("16,dim"));
        assert!(told("gamma,16").contains("no such setting"), "a value without a name");
        for (text, words) in
            [("dim=0", "dim=0"), ("dim=x", "dim=x"), ("dim=", "dim="), ("window=1.5", "window=1.5")]
        {
            assert!(told(text).contains(words) && told(text).contains("expected"), "{}", told(text));
        }
    }

    #[test]
    fn duplicates_are_dropped() {
        let (train, c) = (vec![0.5, 0.3, 0.5], vec![Cost::Auto, Cost::Fixed(1.0), Cost::Auto]);
        let sweep = vec![Sweep::Dim.into(), Sweep::Dim.into()];
        let settings = CompareSettings { train, c, sweep, ..CompareSettings::default() }.without_duplicates();
        assert_eq!((settings.train, settings.c.len(), settings.sweep.len()), (vec![0.5, 0.3], 2, 1));
    }
}
