//! `manyview compare`: every method on the same network, the same splits and the same page.
//!
//! `jobs.rs` says what is to be embedded, `kept.rs` what is there already, `foreign.rs` what may not be replaced, `scores.rs`
//! measures, `table.rs` makes the paper's tables, `write.rs`, `record.rs` and `page.rs` write them.

mod foreign;
mod jobs;
mod kept;
mod page;
mod record;
mod scores;
mod table;
mod write;

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, bail};
use manyview::evaluate::{ClassifySettings, Labels};
use manyview::io::{OutputFolder, read_npy, write_npy};
use manyview::layout::layout_watched;
use manyview::overlap::{Overlap, overlaps};
use manyview::parallel::Pool;
use manyview::result::ResultFolder;
use manyview::{Embedding, Error, Mnmf, Model, Network};

use crate::args::CompareArgs;
use crate::commands::{command_line, fit, read, tell_unknown, tell_unlabeled};
use crate::interrupt;
use crate::ui::{Reporter, plural, print, seconds};
use jobs::{Job, Section, Work};
use kept::{Found, Identity, Place};
use page::{About, Picture};
use record::Record;
use scores::{Scores, cost_name};
use table::{Measured, Table, tables};

const FILES: [&str; 4] = ["compare.json", "compare.md", "compare.tex", "compare.html"];

pub(crate) fn run(args: &CompareArgs) -> Result<()> {
    let args = &args.each_once();
    let measuring = check(args)?;
    interrupt::watch_for_it()?;
    let mut reporter = Reporter::new(args.quiet).without_stages();
    let (network, _) = read(&args.network, args.threads, &mut reporter)?;
    let labels = Labels::open(&args.labels, network.nodes())?;
    tell_unlabeled(&labels, &reporter);
    tell_unknown(&labels, &args.labels, "network", &reporter);
    if labels.names().len() < 2 {
        let sentence = format!(
            "{}: all labels are the same; a comparison needs two classes or more",
            args.labels.display()
        );
        return Err(Error::network(sentence).into());
    }
    // What is wrong with shares and labels is said before the first method, not after the last.
    let notes: Vec<String> = measuring.label_notes(&labels)?.iter().map(ToString::to_string).collect();
    let work = Work::of(args, &network)?;
    notes.iter().chain(&work.left_out).for_each(|note| reporter.say(&format!("note: {note}")));
    if !args.force {
        foreign::refuse(&args.output, &work, &network)?;
    }
    let output = OutputFolder::prepare(&args.output, &FILES, true)?;
    interrupt::writes_to(output.traces());
    let pool = Pool::new(args.threads)?;
    let overlap = overlaps(&network, &pool);
    let mut comparison = Comparison { args, network, labels, notes, overlap, pool, reporter };
    let measured = comparison.measure(&work)?;
    let costs: Vec<String> = args.c.iter().map(|&cost| cost_name(cost)).collect();
    let tables = tables(&measured, &args.train, &costs);
    let pictures = if args.no_pictures { Vec::new() } else { comparison.pictures(&work, &measured)? };
    comparison.write(output, &measured, &tables, &pictures)?;
    show(args, &measured, &tables)
}

/// Refuses what makes no sense before a large file is read; returns how all are measured, at any C.
fn check(args: &CompareArgs) -> Result<ClassifySettings> {
    let settings = Mnmf { dim: args.dim, ..Mnmf::default() }.into();
    Model { settings, seed: args.seed, threads: args.threads }.check()?;
    let (train, repeats, seed) = (args.train.clone(), args.repeats, args.seed);
    let measuring = ClassifySettings { train, repeats, seed, ..ClassifySettings::default() };
    measuring.check()?;
    Ok(measuring)
}

/// Prints the tables. A comparison of which nothing worked has failed.
fn show(args: &CompareArgs, measured: &[Measured], tables: &[Table]) -> Result<()> {
    let mut text: String = tables.iter().map(|table| write::text(table) + "\n").collect();
    if measured.iter().all(|row| row.candidates.is_empty()) {
        print(text)?;
        let record = args.output.join("compare.json");
        bail!("no method worked, so there is nothing to compare; {} says why", record.display());
    }
    text.push_str(&write::legend_text(tables, "*"));
    let failed = measured.iter().filter(|row| !row.failures.is_empty()).count();
    if failed > 0 {
        text.push_str(&format!(
            "{} failed, in part or whole; compare.json says why\n",
            plural(failed, "method")
        ));
    }
    text.push_str(&format!("open {} in a browser\n", args.output.join("compare.html").display()));
    print(text)
}

struct Comparison<'a> {
    args: &'a CompareArgs,
    network: Network,
    labels: Labels,
    /// What labels and splits alone tell of all scores.
    notes: Vec<String>,
    overlap: Vec<Overlap>,
    pool: Pool,
    reporter: Reporter,
}

impl Comparison<'_> {
    /// Runs all jobs. A failure is noted and does not stop the others; a wish to end does.
    fn measure(&mut self, work: &Work) -> Result<Vec<Measured>> {
        let open =
            |row: &jobs::Row| Measured { row: row.clone(), candidates: Vec::new(), failures: Vec::new() };
        let mut measured: Vec<Measured> = work.rows.iter().map(open).collect();
        for (number, job) in work.jobs.iter().enumerate() {
            let row = &mut measured[job.row];
            let candidate = job.candidate.as_ref().map(|name| format!(", {name}")).unwrap_or_default();
            let title = match row.row.section {
                Section::Ablations | Section::Sweep(_) => {
                    format!("{}: {}", row.row.section.title(), row.row.title)
                }
                Section::Method(_) | Section::Ours => row.row.title.clone(),
            };
            let what = format!("{title}{candidate} ({} of {})", number + 1, work.jobs.len());
            match self.job(job, row.row.candidates.is_some(), &what) {
                Ok(scores) => row.candidates.push((job.candidate.clone(), scores)),
                Err(error) if matches!(error.downcast_ref(), Some(Error::Interrupted)) => return Err(error),
                Err(error) => {
                    self.reporter.finish();
                    self.reporter.say(&format!("{what} failed: {error:#}"));
                    let name = job.candidate.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
                    row.failures.push(format!("{name}{error:#}"));
                }
            }
        }
        self.reporter.finish();
        Ok(measured)
    }

    /// The scores of a job: those that are there, or new ones.
    fn job(&mut self, job: &Job, validate: bool, what: &str) -> Result<Scores> {
        let own = job.view.map(|view| self.network.only(view));
        let identity = {
            let network = own.as_ref().unwrap_or(&self.network);
            Identity::of(self.args, job, network, &self.labels, validate)?
        };
        let place = Place::new(&self.args.output, job, identity);
        let (embedding, took) = match place.look() {
            Found::Scores(scores) => {
                self.keeps_something();
                self.reporter.say(&format!("{what}: done before"));
                self.tell_notes(&scores);
                return Ok(scores);
            }
            Found::Embedding(finished, took) => {
                self.keeps_something();
                self.reporter.say(&format!("{what}: embedded before, measuring"));
                (finished.embedding, took)
            }
            Found::Nothing => {
                self.reporter.say(what);
                self.embed(job, own.as_ref(), &place)?
            }
        };
        let began = Instant::now();
        let mut scores = Scores::measure(
            self.args,
            &embedding,
            &self.labels,
            job.repeat,
            validate,
            &self.pool,
            &mut self.reporter,
        )?;
        scores.seconds = took;
        self.reporter.finish();
        place.keep(&scores)?;
        let (took, measured) = (seconds(took), seconds(began.elapsed().as_secs_f64()));
        self.reporter.say(&format!("  embedded in {took}, measured in {measured}"));
        self.tell_notes(&scores);
        Ok(scores)
    }

    fn tell_notes(&self, scores: &Scores) {
        scores.notes.iter().for_each(|note| self.reporter.say(&format!("  note: {note}")));
    }

    /// From now on an interruption leaves something to go on from.
    fn keeps_something(&self) {
        let folder = self.args.output.display();
        interrupt::leaves(format!(
            "interrupted: what is finished is kept in {folder}; the same command goes on from there"
        ));
    }

    /// Embeds and writes what `manyview embed` writes.
    fn embed(&mut self, job: &Job, own: Option<&Network>, place: &Place) -> Result<(Embedding, f64)> {
        let network = own.unwrap_or(&self.network);
        job.model.check()?;
        fit::check_memory(&job.model, network, None)?;
        let CompareArgs { train, seed, .. } = self.args;
        let seen = job.repeat.map(|repeat| training(train, *seed, &self.labels, repeat)).transpose()?;
        let mut fitted = fit::fit(&job.model, network, seen.as_ref(), &mut self.reporter)?;
        if own.is_none() {
            fitted.overlap.clone_from(&self.overlap);
        }
        place.keep_embedding(&fitted, &command_line(), &self.pool)?;
        self.keeps_something();
        Ok((fitted.embedding, fitted.seconds.total))
    }

    /// A map for each method; where there is a choice, of the candidate that validates best. One that cannot be drawn
    /// costs no other, nor the tables.
    fn pictures(&mut self, work: &Work, measured: &[Measured]) -> Result<Vec<Picture>> {
        let mut pictures = Vec::new();
        for (number, row) in measured.iter().enumerate() {
            let shown = matches!(row.row.section, Section::Method(_) | Section::Ours);
            let Some((candidate, _)) = table::most_valid(&row.candidates).filter(|_| shown) else { continue };
            let job = work.jobs.iter().find(|job| job.row == number && job.candidate == *candidate);
            let job = job.filter(|job| job.repeat.is_none());
            let Some(job) = job else { continue };
            let folder = self.args.output.join(&job.folder);
            let name = candidate.as_ref().map(|name| format!(", {name}")).unwrap_or_default();
            let title = format!("{}{name}", row.row.title);
            match self.places(&folder) {
                Ok(places) => pictures.push(Picture { title, places }),
                Err(error) if matches!(error.downcast_ref(), Some(Error::Interrupted)) => return Err(error),
                Err(error) => {
                    self.reporter.finish();
                    self.reporter.say(&format!("no map of {title}: {error:#}"));
                }
            }
        }
        self.reporter.finish();
        Ok(pictures)
    }

    /// The map of a job's embedding, drawn once.
    fn places(&mut self, folder: &Path) -> Result<Vec<Option<[f32; 2]>>> {
        let file = folder.join("map.npy");
        // A node without a place, since its vector is zero, has none in the file either.
        let pair = |pair: &[f32]| (!pair[0].is_nan()).then(|| [pair[0], pair[1]]);
        if let Ok(kept) = read_npy(&file)
            && (kept.rows, kept.dim) == (self.network.nodes().len(), 2)
        {
            return Ok(kept.values.chunks_exact(2).map(pair).collect());
        }
        let finished = ResultFolder::open(folder)?;
        let reporter = &mut self.reporter;
        let places = layout_watched(&finished.embedding, self.args.seed, &self.pool, &mut |step| {
            reporter.laying_out(step);
            interrupt::go_on()
        })?;
        let flat: Vec<f32> = places.iter().flat_map(|place| place.unwrap_or([f32::NAN; 2])).collect();
        write_npy(&file, places.len(), 2, &flat)?;
        Ok(places)
    }

    fn write(
        &self,
        mut output: OutputFolder,
        measured: &[Measured],
        tables: &[Table],
        pictures: &[Picture],
    ) -> Result<()> {
        let command = command_line();
        let sentence = self.sentence();
        let record = Record::of(self, &command, measured, tables);
        output.write("compare.json", |writer| {
            serde_json::to_writer_pretty(&mut *writer, &record)?;
            writeln!(writer)
        })?;
        let markdown: String = tables.iter().map(write::markdown).collect();
        let head = format!("{sentence}\n\n```sh\n{command}\n```\n\n");
        let legend = write::legend_text(tables, "\\*");
        output.write("compare.md", |writer| writer.write_all((head + &markdown + &legend).as_bytes()))?;
        let latex: String = tables.iter().map(write::latex).collect();
        output.write("compare.tex", |writer| writer.write_all(latex.as_bytes()))?;
        let title = self.args.output.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let about = About {
            title: &title,
            command: &command,
            sentence: &sentence,
            label_of: (0..self.labels.rows()).map(|row| self.labels.of(row).first().copied()).collect(),
            labels: self.labels.names(),
        };
        let page = page::page(&about, tables, pictures);
        output.write("compare.html", |writer| writer.write_all(page.as_bytes()))?;
        output.commit()?;
        Ok(())
    }

    fn sentence(&self) -> String {
        let (nodes, views) =
            (plural(self.network.nodes().len(), "node"), plural(self.network.views().len(), "view"));
        let labels = plural(self.labels.names().len(), "label");
        let several = if self.labels.is_multi_label() { ", several a node" } else { "" };
        let (labeled, repeats) =
            (plural(self.labels.labeled(), "labeled node"), plural(self.args.repeats, "repeat"));
        let dim = self.args.dim;
        format!(
            "{nodes}, {views}, {labels}{several}, {labeled}; {dim} columns, {repeats}, settings {}.",
            self.args.preset.name()
        )
    }
}

/// The labels that may be learned from in a repeat: those of nodes that train whatever the share.
fn training(train: &[f64], seed: u64, labels: &Labels, repeat: usize) -> manyview::Result<Labels> {
    let splits = train.iter().map(|&share| labels.split(share, seed, repeat));
    let splits: Vec<_> = splits.collect::<manyview::Result<_>>()?;
    let always = |row: &u32| splits.iter().all(|split| split.train.binary_search(row).is_ok());
    let rows: Vec<u32> = splits[0].train.iter().copied().filter(always).collect();
    Ok(labels.of_rows(&rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounding of small classes makes shares that do not lie within each other, and several labels split otherwise.
    #[test]
    fn no_tested_node_of_any_share_is_learned_from() {
        let ids: Vec<String> = (0..61).map(|node| format!("n{node}")).collect();
        let one = |node: usize| vec![["a", "b", "c", "d", "e"][if node < 3 { 4 } else { node % 4 }]];
        let several = |node: usize| if node.is_multiple_of(3) { vec!["a", "b"] } else { one(node) };
        let none = |node: usize| if node.is_multiple_of(7) { vec![] } else { one(node) };
        for of in [&one as &dyn Fn(usize) -> Vec<&'static str>, &several, &none] {
            let labels = Labels::from_sets(&ids, (0..ids.len()).map(of)).unwrap();
            let shares = [0.7, 0.3, 0.45, 0.5];
            for repeat in 0..8 {
                let seen = training(&shares, 3, &labels, repeat).unwrap();
                let splits = shares.map(|share| labels.split(share, 3, repeat).unwrap());
                let tested = |row: u32| splits.iter().any(|split| split.test.binary_search(&row).is_ok());
                assert!(seen.labeled_rows().into_iter().all(|row| !tested(row)), "repeat {repeat}");
                let rest = labels.labeled_rows().into_iter().filter(|&row| !tested(row)).count();
                assert_eq!(seen.labeled(), rest, "and all others are");
                assert!(rest > 10, "{rest}");
            }
        }
    }
}
