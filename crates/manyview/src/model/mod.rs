//! A method with its settings, a seed and a number of threads: [`Model`], the one way to run any method.

mod memory;
mod register;
mod settings_file;
#[cfg(test)]
mod tests;

pub use memory::ModelEstimate;
pub use register::{Group, Method, MethodSettings};
pub use settings_file::{SettingsFile, read_settings, read_settings_from};

use std::ops::ControlFlow;

use manyview_base::error::{Error, Result};
use manyview_base::message::option;
use manyview_base::parallel::MOST_THREADS;
use manyview_base::settings;
use manyview_base::settings::{Setting, Settings};
use manyview_core::checkpoint::Checkpoints;
use manyview_core::comm::{Comm, Local};
use manyview_core::method::{Fit, Observer, Options};
use manyview_core::mnmf::Mnmf;
use manyview_core::preset::Preset;
use manyview_data::Network;
use manyview_data::labels::Labels;
use serde_json::{Map, Value};

settings! {
    /// What every method has besides its own settings.
    #[derive(Copy)]
    struct Common {
        /// The random seed.
        seed: u64 = 0 => at_least(0.0);
        /// The number of threads; does not affect the result.
        threads: Option<usize> = None => at_least(1.0).at_most(MOST_THREADS as f64).absent("all cores");
    }
}

/// A method with its settings.
///
/// ```
/// use manyview::methods::NetMf;
/// use manyview::{Model, digits};
///
/// let model = Model { seed: 7, ..Model::from(NetMf { dim: 16, ..NetMf::default() }) };
/// let fit = model.fit(&digits::network()?.only(0))?;
/// assert_eq!(fit.embedding.dim(), 16);
/// # Ok::<(), manyview::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The settings of the method, and so the method.
    pub settings: MethodSettings,
    /// The random seed.
    pub seed: u64,
    /// The number of threads, all cores when not given; does not affect the result.
    pub threads: Option<usize>,
}

/// What a fit may get besides a network.
pub struct FitOptions<'a> {
    /// Labels of training nodes, for methods that learn from them.
    pub labels: Option<&'a Labels>,
    /// The ranks.
    pub comm: &'a dyn Comm,
    /// Where finished stages are kept.
    pub checkpoints: Option<&'a Checkpoints>,
    /// Whether the fit has its factors, which vectors of new nodes follow from.
    pub keep_factors: bool,
}

impl Default for FitOptions<'_> {
    fn default() -> Self {
        FitOptions { labels: None, comm: &Local, checkpoints: None, keep_factors: false }
    }
}

impl Default for Model {
    fn default() -> Self {
        Mnmf::default().into()
    }
}

impl Model {
    /// A method with the settings of a preset.
    ///
    /// # Errors
    /// [`Error::Config`] when the method does not have that preset.
    pub fn new(method: Method, preset: Preset) -> Result<Self> {
        Ok(Model { settings: MethodSettings::of_preset(method, preset)?, seed: 0, threads: None })
    }

    /// A method with the settings of a preset and others laid over them, by name.
    ///
    /// # Errors
    /// [`Error::Config`] when the method has no such setting, or a value does not fit.
    pub fn with_settings(method: Method, preset: Preset, given: &Map<String, Value>) -> Result<Self> {
        let mut model = Model::new(method, preset)?;
        model.override_with(given)?;
        Ok(model)
    }

    /// Sets settings by name, and those that follow from them: with `stage_dims`, also `stages` and `dim`.
    ///
    /// # Errors
    /// As [`with_settings`](Model::with_settings).
    pub fn override_with(&mut self, given: &Map<String, Value>) -> Result<()> {
        let named = self.named(given)?;
        let own = self.set_common(&named)?;
        self.settings.override_with(&own)
    }

    /// Sets settings by name and nothing else: those of an earlier run, which are complete.
    fn restore(&mut self, values: &Map<String, Value>) -> Result<()> {
        let named = self.named(values)?;
        for (name, value) in self.set_common(&named)? {
            self.settings.set(name, value)?;
        }
        Ok(())
    }

    /// The values with the names that the settings have now.
    fn named<'v>(&self, values: &'v Map<String, Value>) -> Result<Vec<(&'static str, &'v Value)>> {
        let known = self.describe();
        let find = |(given, value): (&String, &'v Value)| {
            let is_meant =
                |setting: &&Setting| setting.name == given || setting.details.alias == Some(given.as_str());
            let setting = known.iter().find(is_meant).ok_or_else(|| self.unknown(given, &known))?;
            Ok((setting.name, value))
        };
        values.iter().map(find).collect()
    }

    /// Sets seed and threads; returns the settings of the method.
    fn set_common<'v>(
        &mut self,
        values: &[(&'static str, &'v Value)],
    ) -> Result<Vec<(&'static str, &'v Value)>> {
        let mut common = Common { seed: self.seed, threads: self.threads };
        let mut own = Vec::new();
        for &(name, value) in values {
            if !common.set(name, value)? {
                own.push((name, value));
            }
        }
        (self.seed, self.threads) = (common.seed, common.threads);
        Ok(own)
    }

    fn unknown(&self, given: &str, known: &[Setting]) -> Error {
        let method = self.method().name();
        let known: Vec<&str> = known.iter().map(|setting| setting.name).collect();
        let others: Vec<&str> = Method::ALL
            .into_iter()
            .filter(|&other| describe(other).iter().any(|setting| setting.name == given))
            .map(Method::name)
            .collect();
        if others.is_empty() {
            return Error::config(format!(
                "{method} has no setting {given:?}; its settings are {}",
                known.join(", ")
            ));
        }
        Error::config(format!(
            "{}: {method} has no such setting; it belongs to {}",
            option(given),
            others.join(", ")
        ))
    }

    /// The method.
    pub fn method(&self) -> Method {
        self.settings.method()
    }

    /// Every setting, with the model's values as defaults.
    pub fn describe(&self) -> Vec<Setting> {
        let common = Common { seed: self.seed, threads: self.threads };
        self.settings.describe().into_iter().chain(common.describe()).collect()
    }

    /// Every setting and its value.
    pub fn to_json(&self) -> Map<String, Value> {
        self.describe().into_iter().map(|setting| (setting.name.to_owned(), setting.default)).collect()
    }

    /// Checks everything that does not depend on the network.
    pub fn check(&self) -> Result<()> {
        Common { seed: self.seed, threads: self.threads }.check_limits()?;
        self.settings.check()
    }

    /// Whether it learns from labels of training nodes with these settings.
    pub fn learns_from_labels(&self) -> bool {
        self.settings.label_setting().is_some()
    }

    /// Refuses labels that the method does not use with these settings, and asks for those that it needs.
    pub fn check_labels(&self, given: bool) -> Result<()> {
        let name = self.method().name();
        match (given, self.settings.label_setting()) {
            (true, None) => Err(Error::config(format!(
                "{}: {name} does not use labels with these settings; remove it",
                option("labels")
            ))),
            (false, Some(setting)) => Err(Error::config(format!(
                "{name} with {} needs labels of training nodes: give {}",
                option(setting),
                option("labels")
            ))),
            _ => Ok(()),
        }
    }

    /// Embeds a network.
    pub fn fit(&self, network: &Network) -> Result<Fit> {
        self.fit_with(network, &FitOptions::default(), &mut |_| ControlFlow::Continue(()))
    }

    /// Embeds a network with labels, ranks or checkpoints; the observer receives progress and can stop the fit.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when the observer breaks; [`Error::Config`] when the method lacks a capability that the
    /// options ask for.
    pub fn fit_with(
        &self,
        network: &Network,
        options: &FitOptions<'_>,
        observer: &mut Observer<'_>,
    ) -> Result<Fit> {
        let FitOptions { labels, comm, checkpoints, keep_factors } = *options;
        let options =
            Options { seed: self.seed, threads: self.threads, labels, comm, checkpoints, keep_factors };
        self.settings.fit(network, &options, observer)
    }
}

/// Every setting of a method, with its defaults.
pub fn describe(method: Method) -> Vec<Setting> {
    Model::new(method, Preset::Default).expect("every method has defaults").describe()
}
