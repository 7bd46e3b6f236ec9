//! What is compared, and how it is measured: [`CompareSettings`].

use manyview_analysis::evaluate::{ClassifySettings, Cost};
use manyview_base::error::{Error, Result};
use manyview_base::message::option;
use manyview_base::named;
use manyview_core::mnmf::Mnmf;
use manyview_core::preset::Preset;

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
    pub sweep: Vec<Sweep>,
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
            sweep: distinct(&self.sweep),
            ..self.clone()
        }
    }
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
    fn duplicates_are_dropped() {
        let (train, c) = (vec![0.5, 0.3, 0.5], vec![Cost::Auto, Cost::Fixed(1.0), Cost::Auto]);
        let sweep = vec![Sweep::Dim, Sweep::Dim];
        let settings = CompareSettings { train, c, sweep, ..CompareSettings::default() }.without_duplicates();
        assert_eq!((settings.train, settings.c.len(), settings.sweep.len()), (vec![0.5, 0.3], 2, 1));
    }
}
