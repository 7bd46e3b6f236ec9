//! `manyview cluster`: groups of nodes with similar vectors, without labels.

use anyhow::Result;
use manyview::evaluate::kmeans::{KmeansSettings, kmeans_watched};
use manyview::evaluate::{Vectors, write_clusters};
use manyview::parallel::Pool;
use manyview::result::ResultFolder;

use super::output_file::Output;
use crate::args::GroupArgs;
use crate::interrupt;
use crate::ui::{Reporter, plural, thousands};

pub(crate) fn run(args: &GroupArgs) -> Result<()> {
    let pool = Pool::new(args.threads)?;
    interrupt::watch_for_it()?;
    let mut reporter = Reporter::new(args.quiet);
    let output = Output::prepare(args.output.as_deref(), args.force)?;
    let embedding = ResultFolder::open_vectors(&args.folder)?;
    let vectors = Vectors::try_from(&embedding)?;
    let scaled = vectors.scaled(args.l2norm);
    let vectors = Vectors::new(&scaled, vectors.rows(), vectors.dim())?;
    let settings = KmeansSettings { restarts: args.restarts, seed: args.seed, ..KmeansSettings::new(args.k) };
    let found = kmeans_watched(&vectors, &settings, &pool, &mut |step| {
        reporter.evaluating(step, "starts");
        interrupt::go_on()
    });
    reporter.finish();
    let found = found?;
    let (clusters, sizes) = found.by_size();
    let mut text = Vec::new();
    write_clusters(&mut text, embedding.nodes(), &clusters)?;
    output.write(&text)?;
    let nodes = plural(embedding.rows(), "node");
    let (most, least) = (sizes[0], sizes[sizes.len() - 1]);
    reporter.say(&format!(
        "{nodes} in {} of {} to {} nodes",
        plural(sizes.len(), "cluster"),
        thousands(least),
        thousands(most)
    ));
    if sizes.len() < args.k {
        let k = args.k;
        reporter.say(&format!(
            "note: only {} of {k} clusters have nodes; too many vectors are equal",
            sizes.len()
        ));
    }
    let zero = (0..embedding.rows()).filter(|&row| embedding.row(row).iter().all(|&x| x == 0.0)).count();
    if zero > 0 {
        let (nodes, have) = (plural(zero, "node"), if zero == 1 { "has" } else { "have" });
        reporter.say(&format!("note: {nodes} {have} a zero vector, which says nothing about its cluster"));
    }
    Ok(())
}
