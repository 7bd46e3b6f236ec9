//! Embeds a network by any method, for the commands that do not care by which.

use std::io::{self, Write};

use manyview::comm::Local;
use manyview::evaluate::Labels;
use manyview::methods::{Group, Outcome};
use manyview::overlap::Overlap;
use manyview::result::{MethodRecord, MethodSeconds, RankRecord, RunRecord, RunSeconds};
use manyview::stages::{Progress, Seconds};
use manyview::{Config, Embedding, Fit, Network, Result};

use crate::args::Chosen;
use crate::interrupt;
use crate::ui::Reporter;

/// What a method found.
pub(crate) enum Fitted {
    Mnmf(Box<Fit>),
    Other(Outcome),
}

/// Wall time around the method.
#[derive(Clone, Copy)]
pub(crate) struct Taken {
    pub(crate) read: f64,
    pub(crate) write: f64,
    pub(crate) total: f64,
}

impl Fitted {
    pub(crate) fn embedding(&self) -> &Embedding {
        match self {
            Fitted::Mnmf(fit) => &fit.embedding,
            Fitted::Other(outcome) => &outcome.embedding,
        }
    }

    pub(crate) fn into_embedding(self) -> Embedding {
        match self {
            Fitted::Mnmf(fit) => fit.embedding,
            Fitted::Other(outcome) => outcome.embedding,
        }
    }

    /// Time of the method itself.
    pub(crate) fn seconds(&self) -> f64 {
        match self {
            Fitted::Mnmf(fit) => fit.seconds.proximity + fit.seconds.factorize,
            Fitted::Other(outcome) => outcome.seconds,
        }
    }

    fn warnings(&self) -> &[String] {
        match self {
            Fitted::Mnmf(fit) => &fit.warnings,
            Fitted::Other(outcome) => &outcome.warnings,
        }
    }

    /// Writes `run.json`.
    pub(crate) fn write_record(
        &self,
        mut writer: &mut dyn Write,
        command: &str,
        chosen: &Chosen,
        network: &Network,
        overlap: &[Overlap],
        taken: Taken,
    ) -> io::Result<()> {
        let Taken { read, write, total } = taken;
        match (self, chosen) {
            (Fitted::Mnmf(fit), Chosen::Mnmf(config)) => {
                let Seconds { proximity, factorize } = fit.seconds;
                let seconds = RunSeconds { read, proximity, factorize, write, total };
                let ranks = RankRecord::gather(&Local, fit, read, write);
                RunRecord::new(command, config, fit, seconds, &ranks)
                    .with_overlap(overlap)
                    .write_to(&mut writer)
            }
            (Fitted::Other(outcome), Chosen::Other(model)) => {
                let seconds = MethodSeconds { read, fit: outcome.seconds, write, total };
                MethodRecord::new(command, model, network, overlap, outcome, seconds).write_to(&mut writer)
            }
            _ => unreachable!("what was found is of the method that was chosen"),
        }
    }
}

/// Embeds a network, shows progress and says what a person should read.
pub(crate) fn fit(
    chosen: &Chosen,
    network: &Network,
    labels: Option<&Labels>,
    reporter: &mut Reporter,
) -> Result<Fitted> {
    let result = match chosen {
        Chosen::Mnmf(config) => {
            let fit = config.fit_with(network, &Local, &mut |now| {
                reporter.fitting(now);
                interrupt::go_on()
            });
            fit.map(|fit| Fitted::Mnmf(Box::new(fit)))
        }
        Chosen::Other(model) => {
            let outcome = model.fit_with(network, labels, &mut |now| {
                reporter.learning(now);
                interrupt::go_on()
            });
            outcome.map(Fitted::Other)
        }
    };
    reporter.finish();
    let fitted = result?;
    fitted.warnings().iter().for_each(|warning| reporter.say(&format!("warning: {warning}")));
    Ok(fitted)
}

/// Refuses what would not fit into memory. Only methods that keep proximity matrices can be that large.
pub(crate) fn check_memory(chosen: &Chosen, network: &Network, max_memory: Option<u64>) -> Result<()> {
    let (config, alone) = match chosen {
        Chosen::Mnmf(config) => (config.clone(), false),
        Chosen::Other(model) => match model.proximity() {
            Some((window, negative)) => {
                let stages = Config { stages: 1, consensus_stages: Some(0), ..Config::default() };
                // As many columns as a plan needs; a method that needs them too says so itself.
                let dim = model.dim.max(network.views().len());
                let config = Config { dim, window, negative, threads: model.threads, ..stages };
                (config, model.method().group() == Group::Single)
            }
            None => return Ok(()),
        },
    };
    let mut look = |_: &Progress<'_>| interrupt::go_on();
    let mut check = |network: &Network| {
        let estimate = config.estimate(network, &mut look)?;
        estimate.check(&config, network, max_memory, &mut look)
    };
    if alone {
        (0..network.views().len()).try_for_each(|view| check(&network.only(view)))
    } else {
        check(network)
    }
}
