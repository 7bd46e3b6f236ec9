//! Tests of the program: its output, files and exit codes.

#[path = "cli/add_view.rs"]
mod add_view;
#[path = "cli/compare.rs"]
mod compare;
#[path = "cli/embed.rs"]
mod embed;
#[path = "cli/evaluate.rs"]
mod evaluate;
#[path = "cli/explain.rs"]
mod explain;
#[path = "cli/extremes.rs"]
mod extremes;
#[path = "cli/faults.rs"]
mod faults;
#[path = "cli/figures.rs"]
mod figures;
#[path = "cli/generate.rs"]
mod generate;
#[path = "cli/help.rs"]
mod help;
#[path = "cli/ids.rs"]
mod ids;
#[path = "cli/inputs.rs"]
mod inputs;
#[cfg(unix)]
#[path = "cli/interrupt.rs"]
mod interrupt;
#[path = "cli/living.rs"]
mod living;
#[path = "cli/machine.rs"]
mod machine;
#[path = "cli/messy.rs"]
mod messy;
#[path = "cli/methods.rs"]
mod methods;
#[path = "cli/neighbors_and_clusters.rs"]
mod neighbors_and_clusters;
#[path = "cli/outputs.rs"]
mod outputs;
#[path = "cli/plan.rs"]
mod plan;
#[path = "cli/proximity.rs"]
mod proximity;
#[cfg(not(feature = "mpi"))]
#[path = "cli/ranks.rs"]
mod ranks;
#[path = "cli/report.rs"]
mod report;
#[path = "cli/sampled.rs"]
mod sampled;
#[path = "cli/settings.rs"]
mod settings;
#[path = "cli/support.rs"]
mod support;
#[path = "cli/truncate.rs"]
mod truncate;
#[path = "cli/tune.rs"]
mod tune;
#[path = "cli/update.rs"]
mod update;
#[path = "cli/views.rs"]
mod views;
