//! Embeds a network by any method, for the commands that do not care by which.

use manyview::comm::Local;
use manyview::evaluate::Labels;
use manyview::methods::{Group, Outcome};
use manyview::stages::Progress;
use manyview::{Config, Network, Result};

use crate::args::Chosen;
use crate::interrupt;
use crate::ui::Reporter;

/// Embeds a network, shows progress and says what a person should read.
pub(super) fn fit(
    chosen: &Chosen,
    network: &Network,
    labels: Option<&Labels>,
    reporter: &mut Reporter,
) -> Result<Outcome> {
    let result = match chosen {
        Chosen::Mnmf(config) => mnmf(config, network, reporter),
        Chosen::Other(model) => model.fit_with(network, labels, &mut |now| {
            reporter.learning(now);
            interrupt::go_on()
        }),
    };
    reporter.finish();
    let outcome = result?;
    outcome.warnings.iter().for_each(|warning| reporter.say(&format!("warning: {warning}")));
    Ok(outcome)
}

fn mnmf(config: &Config, network: &Network, reporter: &mut Reporter) -> Result<Outcome> {
    let fit = config.fit_with(network, &Local, &mut |now| {
        reporter.fitting(now);
        interrupt::go_on()
    })?;
    let seconds = fit.seconds.proximity + fit.seconds.factorise;
    Ok(Outcome { embedding: fit.embedding, warnings: fit.warnings, seconds, threads: fit.threads })
}

/// Refuses what would not fit into memory. Only methods that keep proximity matrices can be that large.
pub(super) fn check_memory(chosen: &Chosen, network: &Network, max_memory: Option<u64>) -> Result<()> {
    let (config, alone) = match chosen {
        Chosen::Mnmf(config) => (config.clone(), false),
        Chosen::Other(model) => match model.proximity() {
            Some((window, negative)) => {
                let stages = Config { stages: 1, consensus_stages: Some(0), ..Config::default() };
                let config = Config { dim: model.dim, window, negative, threads: model.threads, ..stages };
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
