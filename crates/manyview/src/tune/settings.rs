//! What is searched, and how candidates are scored: [`TuneSettings`].

use manyview_analysis::evaluate::{ClassifySettings, Cost, LinkSettings};
use manyview_base::error::{Error, Result};
use manyview_base::message::{option, option_value};
use manyview_base::named;

use super::over::Over;
use crate::model::{Method, Model};

named! {
    /// A way to search.
    pub enum Search {
        Grid = "grid", "every combination of the values";
        Bayes = "bayes", "combinations that a Gaussian process expects to be better than the best one so far";
        EarlyStopping = "early-stopping", "one stage after the other, until the score falls";
    }
}

impl Search {
    /// The name of its row in the table.
    pub fn title(self) -> &'static str {
        match self {
            Search::Grid => "grid search",
            Search::Bayes => "Bayesian search",
            Search::EarlyStopping => "early stopping",
        }
    }
}

/// The settings of [`tune`](super::tune()).
#[derive(Clone, Debug, PartialEq)]
pub struct TuneSettings {
    /// MNMF with the settings that are not searched over, the seed and the number of threads.
    pub model: Model,
    /// The searches, in the order of the table.
    pub searches: Vec<Search>,
    /// The settings to search over; empty for the number of stages.
    pub over: Vec<Over>,
    /// The fraction of the labeled nodes that is validated on in each round. Classifiers are trained on as many others. Neither
    /// are in the final table.
    pub validation: f64,
    /// The number of rounds of a validation.
    pub validation_rounds: usize,
    /// Fractions of the remaining labeled nodes to train on in the final table.
    pub train: Vec<f64>,
    /// Number of splits per fraction in the final table.
    pub repeats: usize,
    /// The weight C of the classifier.
    pub c: Cost,
    /// Without labels: the fraction of the edges to hide. Half of them are for validation, the others for the final table.
    pub hide: f64,
    /// The number of candidates of a Bayesian search.
    pub trials: usize,
    /// After how many stages in a row with a lower score than the stage before early stopping ends.
    pub patience: usize,
    /// Whether candidates that are clearly behind after half of their stages are cut off.
    pub cut: bool,
    /// The most memory that a fit may need, in bytes; what is available when not given.
    pub max_memory: Option<u64>,
}

impl Default for TuneSettings {
    fn default() -> Self {
        let ClassifySettings { train, repeats, c, .. } = ClassifySettings::default();
        TuneSettings {
            model: Model::default(),
            searches: vec![Search::Grid],
            over: Vec::new(),
            validation: 0.1,
            validation_rounds: 10,
            train,
            repeats,
            c,
            hide: LinkSettings::default().hide,
            trials: 12,
            patience: 1,
            cut: true,
            max_memory: None,
        }
    }
}

impl TuneSettings {
    /// Checks everything that does not depend on the network or the labels.
    ///
    /// # Errors
    /// [`Error::Config`] for the first invalid setting.
    pub fn check(&self) -> Result<()> {
        if self.model.method() != Method::Mnmf {
            let name = self.model.method().name();
            return Err(Error::config(format!("only mnmf can be tuned, not {name}")));
        }
        self.model.check()?;
        if self.searches.is_empty() {
            let names = Search::ALL.map(Search::name).join(", ");
            return Err(Error::config(format!("{} is empty; use {names} or all", option("search"))));
        }
        if !(self.validation > 0.0 && self.validation < 0.5) {
            return Err(Error::config(format!(
                "{} must be a fraction between 0 and 0.5, such as 0.1: as many other nodes are trained on",
                option_value("validation", self.validation)
            )));
        }
        for (name, value) in [
            ("validation_rounds", self.validation_rounds),
            ("trials", self.trials),
            ("patience", self.patience),
        ] {
            if value == 0 {
                return Err(Error::config(format!("{} must be at least 1", option_value(name, 0))));
            }
        }
        self.links().check()?;
        self.tested().check()
    }

    /// How candidates are scored.
    pub(super) fn validated(&self) -> ClassifySettings {
        ClassifySettings { train: vec![0.5], repeats: self.validation_rounds, ..self.tested() }
    }

    /// How the best of each search is tested.
    pub(super) fn tested(&self) -> ClassifySettings {
        let (train, repeats, c, seed) = (self.train.clone(), self.repeats, self.c, self.model.seed);
        ClassifySettings { train, repeats, seed, c, ..ClassifySettings::default() }
    }

    /// Which edges are hidden if there are no labels.
    pub(super) fn links(&self) -> LinkSettings {
        LinkSettings { hide: self.hide, repeats: 1, seed: self.model.seed, ..LinkSettings::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid_and_bad_values_are_refused() {
        TuneSettings::default().check().unwrap();
        let told = |change: fn(&mut TuneSettings)| {
            let mut settings = TuneSettings::default();
            change(&mut settings);
            settings.check().unwrap_err().to_string()
        };
        assert!(
            told(|settings| settings.validation = 0.5).starts_with("validation = 0.5 must be a fraction")
        );
        assert!(told(|settings| settings.validation_rounds = 0).starts_with("validation_rounds = 0"));
        assert!(told(|settings| settings.trials = 0).starts_with("trials = 0"));
        assert!(told(|settings| settings.patience = 0).starts_with("patience = 0"));
        assert!(told(|settings| settings.searches.clear()).starts_with("search is empty; use grid, bayes"));
        assert!(told(|settings| settings.hide = 1.0).starts_with("hide = 1"));
        assert!(told(|settings| settings.train = vec![2.0]).starts_with("train = 2"));
        let netmf = Model::new(Method::NetMf, manyview_core::preset::Preset::Default).unwrap();
        let settings = TuneSettings { model: netmf, ..TuneSettings::default() };
        assert!(settings.check().unwrap_err().to_string().starts_with("only mnmf"));
    }
}
