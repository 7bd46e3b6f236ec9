//! `manyview truncate`: the first stages of a result.

use anyhow::Result;
use manyview::Embedding;
use manyview::living::{KeptModel, MODEL};
use manyview::parallel::Pool;
use manyview::result::{EMBEDDING, ResultFolder, truncate};

use super::{command_line, write_run};
use crate::args::TruncateArgs;
use crate::interrupt;
use crate::ui::{Reporter, plural};

pub(crate) fn run(args: &TruncateArgs) -> Result<()> {
    let reporter = Reporter::new(args.output.quiet);
    let saved = ResultFolder::open(&args.folder)?.embedding;
    let record = ResultFolder::open_record(&args.folder)?;
    let model = record.get("model").map(|_| KeptModel::open(&args.folder)).transpose()?;
    let mut cut = truncate(saved.values(), saved.rows(), &record, args.cut(), &command_line())?;
    let mut output = ResultFolder::create(&args.output.output, &[], args.output.force)?;
    interrupt::writes_to(output.traces());
    let shorter = Embedding::from_vectors(saved.nodes().clone(), cut.dim, cut.vectors)?;
    output.write_vectors(&shorter, &Pool::new(Some(1))?)?;
    if let Some(model) = model {
        output.expect_extra(MODEL)?;
        let shorter = model.first_stages(cut.stages, &cut.columns, cut.factor, &cut.run["config"])?;
        // A view that was added later goes with its stage.
        cut.run["network"]["fingerprint"] = shorter.fingerprint().into();
        output.write_extra(MODEL, |writer| {
            cut.run["model"] = serde_json::to_value(shorter.write_to(writer)?)?;
            Ok(())
        })?;
    }
    write_run(&mut output, &cut.run)?;
    output.commit()?;
    let (nodes, columns) = (plural(shorter.rows(), "node"), plural(shorter.dim(), "column"));
    let file = args.output.output.join(EMBEDDING);
    reporter.say(&format!(
        "stages 1 to {} of {}: {nodes} x {columns} in {}",
        cut.stages,
        cut.of,
        file.display()
    ));
    Ok(())
}
