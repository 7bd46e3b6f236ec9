//! Runs a fit: checks the memory, shows progress and prints warnings.

use std::ops::ControlFlow;

use manyview::message::Notation;
use manyview::{Fit, FitOptions, Labels, Model, Network, Progress, Result};

use crate::interrupt;
use crate::ui::Reporter;

/// Embeds a network in this process, shows progress and prints warnings.
pub(crate) fn fit(
    model: &Model,
    network: &Network,
    labels: Option<&Labels>,
    reporter: &mut Reporter,
) -> Result<Fit> {
    let options = FitOptions { labels, ..FitOptions::default() };
    let result = model.fit_with(network, &options, &mut |now| show(now, reporter));
    reporter.finish();
    let fit = result?;
    print_warnings(&fit, reporter);
    Ok(fit)
}

/// Shows progress; breaks after Ctrl-C.
pub(super) fn show(now: &Progress<'_>, reporter: &mut Reporter) -> ControlFlow<()> {
    reporter.fitting(now);
    interrupt::go_on()
}

pub(super) fn print_warnings(fit: &Fit, reporter: &Reporter) {
    for warning in &fit.warnings {
        reporter.say(&format!("warning: {}", warning.message.in_notation(Notation::CommandLine)));
    }
}

/// The model with what its settings leave open chosen so that a fit fits into memory; fails if none would. For methods without
/// proximity matrices, nothing is checked: their memory is not known in advance.
pub(crate) fn fitted(model: &Model, network: &Network, max_memory: Option<u64>) -> Result<Model> {
    Ok(model.fitted(network, max_memory, &mut |_| interrupt::go_on())?.0)
}
