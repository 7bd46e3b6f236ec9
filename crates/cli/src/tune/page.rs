//! The search as one HTML page: the table of the searches, curves over the stages, all candidates, and the best settings.
//!
//! Invariant: names come from the data, so they are written through [`escaped`] only.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::Result;
use manyview::Network;
use manyview::compare::percent;
use manyview::tune::{Ending, Search, SearchResult, StageScore, Trial, Tuning, settings_toml};

use super::table::{FACTS, best, facts, score, sentence, test_columns};
use crate::html::svg::{Lines, Row, Scale};
use crate::html::{Document, Maps, SCRIPT, TABLE_END, bounds, escaped, line_figure, score_cell, table_head};
use crate::ui::{plural, seconds};

/// The head of the page.
pub(crate) struct About<'a> {
    pub(crate) title: &'a str,
    pub(crate) command: &'a str,
    pub(crate) network: &'a Network,
}

/// The whole page.
pub(crate) fn page(about: &About<'_>, tuning: &Tuning) -> Result<String> {
    let views = about.network.views().len();
    let network = format!("{}, {}.", plural(about.network.nodes().len(), "node"), plural(views, "view"));
    let mut text = format!("<section>\n<h2>Searches</h2>\n<p>{}</p>\n", escaped(&sentence(tuning)));
    text += &searches(tuning, views);
    text += "<p class=\"note\">Validation scores are those that the searches maximize, so they are too high for what they \
             select. Test scores are of nodes or edges that no search has seen.</p>\n";
    for note in &tuning.notes {
        let _ = writeln!(text, "<p class=\"note\">Note: {}.</p>", escaped(note));
    }
    text += "</section>\n<section>\n<h2>Best settings</h2>\n";
    let _ = writeln!(text, "<p>The {}; test scores are in the table above.</p>", escaped(&best(tuning)));
    let toml = settings_toml(&tuning.best().candidate.model);
    let _ = write!(text, "<pre tabindex=\"0\">{}</pre>\n</section>\n", escaped(&toml));
    text += &curves(tuning);
    text += &candidates(tuning, views);
    let document = Document {
        kind: "manyview search for settings",
        title: about.title,
        sentence: &network,
        command: Some(about.command),
        body: text,
        script: SCRIPT,
    };
    document.write(&Maps::default())
}

/// One row per search.
fn searches(tuning: &Tuning, views: usize) -> String {
    let columns = test_columns(tuning);
    let names = [""].into_iter().chain(FACTS).chain(["validation"]);
    let names = names.chain(columns.iter().map(String::as_str)).chain(["time"]);
    let mut text = table_head("Searches", names);
    let means = |column: usize| {
        let tests = tuning
            .searches
            .iter()
            .filter_map(move |result| result.winner().measured.test.as_ref()?.get(column));
        tests.map(|found| found.score.mean)
    };
    let bounds: Vec<(f64, f64)> = (0..columns.len()).map(|column| bounds(means(column))).collect();
    for result in &tuning.searches {
        let _ = write!(text, "<tr><th scope=\"row\">{}</th>", escaped(result.title()));
        facts(result, views).iter().for_each(|fact| _ = write!(text, "<td>{fact}</td>"));
        let winner = result.winner();
        let _ = write!(text, "<td>{}</td>", winner.score.map_or_else(|| "–".into(), percent));
        for (column, bounds) in winner.measured.test.iter().flatten().zip(&bounds) {
            // As shown: scores that look the same are best together.
            let is_best = percent(column.score.mean) == percent(bounds.1);
            text += &score_cell(column.score.mean, *bounds, is_best, &score(&column.score));
        }
        let _ = writeln!(text, "<td>{}</td></tr>", seconds(result.seconds));
    }
    text + TABLE_END
}

/// The name of a curve, and its points by the number of stages.
type Curve<'a> = (String, BTreeMap<usize, &'a StageScore>);

/// The score and the mean approximation error over the number of stages: of the best candidate with each number, and after
/// each stage of a single fit.
fn curves(tuning: &Tuning) -> String {
    let searched =
        |result: &&SearchResult| matches!(result.search, Some(search) if search != Search::EarlyStopping);
    let across: Vec<Curve<'_>> = tuning.searches.iter().filter(searched).map(across_candidates).collect();
    let early = tuning.searches.iter().filter(|result| !result.stages.is_empty());
    let mut one_fit: Vec<Curve<'_>> =
        early.map(|result| within_fit(result.title(), &result.stages)).collect();
    one_fit.push(within_fit("best settings", &tuning.best().measured.stages));
    let mut text = "<section>\n<h2>Number of stages</h2>\n<div class=\"figures\">\n".to_owned();
    for (curves, of) in
        [(across, "candidates by their number of stages"), (one_fit, "after each stage of one fit")]
    {
        if curves.iter().map(|(_, stages)| stages.len()).max().unwrap_or(0) > 1 {
            let title = format!("validation score, {of}");
            text += &chart_of(&title, "validation score, percent", &curves, |stage| stage.score);
            let title = format!("mean approximation error, {of}");
            text += &chart_of(&title, "error, percent", &curves, |stage| stage.error);
        }
    }
    text + "</div>\n<p class=\"note\">Percent. The mean approximation error is the mean over the views of \
            ‖R‖² / ‖M‖², the share of the proximity that is not explained after the last stage.</p>\n</section>\n"
}

/// The best candidate of a search with each number of stages.
fn across_candidates(result: &SearchResult) -> Curve<'_> {
    let mut best: BTreeMap<usize, &StageScore> = BTreeMap::new();
    for trial in result.trials.iter().filter(|trial| trial.ending() == Ending::Whole) {
        let Some(last) = trial.measured.stages.last() else { continue };
        let known = best.entry(last.stage).or_insert(last);
        if last.score > known.score {
            *known = last;
        }
    }
    (result.title().to_owned(), best)
}

fn within_fit<'a>(title: &str, stages: &'a [StageScore]) -> Curve<'a> {
    (title.to_owned(), stages.iter().map(|stage| (stage.stage, stage)).collect())
}

fn chart_of(title: &str, y: &str, curves: &[Curve<'_>], value: impl Fn(&StageScore) -> f64) -> String {
    let numbers: BTreeMap<usize, ()> =
        curves.iter().flat_map(|(_, stages)| stages.keys().map(|&at| (at, ()))).collect();
    let ticks: Vec<String> = numbers.keys().map(ToString::to_string).collect();
    let points = |stages: &BTreeMap<usize, &StageScore>| {
        numbers.keys().map(|at| stages.get(at).map(|stage| value(stage))).collect()
    };
    let rows: Vec<Row> = curves.iter().map(|(name, stages)| (name.clone(), points(stages))).collect();
    line_figure(&Lines {
        title,
        x: "stages",
        y,
        ticks: &ticks,
        rows: &rows,
        scale: Scale::Percent,
        bands: &[],
    })
}

/// One row per candidate, each once, the best first.
fn candidates(tuning: &Tuning, views: usize) -> String {
    let mut all: Vec<(&Trial, Vec<&str>)> = Vec::new();
    for result in &tuning.searches {
        for trial in &result.trials {
            match all
                .iter_mut()
                .find(|(known, _)| known.name == trial.name && known.cut_after == trial.cut_after)
            {
                Some((_, titles)) => titles.push(result.title()),
                None => all.push((trial, vec![result.title()])),
            }
        }
    }
    let rank =
        |trial: &Trial| (trial.ending() != Ending::Whole, trial.score.map_or(f64::INFINITY, |score| -score));
    all.sort_by(|(a, _), (b, _)| rank(a).partial_cmp(&rank(b)).unwrap_or(std::cmp::Ordering::Equal));
    let columns = ["", "stages", "consensus", "dim", "validation", "error", "time", "tried by", "ending"];
    let mut text = "<section>\n<h2>Candidates</h2>\n".to_owned() + &table_head("Candidates", columns);
    let whole = all.iter().filter(|(trial, _)| trial.ending() == Ending::Whole);
    let bounds = bounds(whole.filter_map(|(trial, _)| trial.score));
    for (trial, titles) in &all {
        let mnmf = trial.candidate.mnmf().resolved(views);
        let _ = write!(
            text,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td>",
            escaped(&trial.candidate.title()),
            mnmf.stages,
            mnmf.consensus_stages.unwrap_or(0),
            mnmf.dim
        );
        let ending = match (trial.cut_after, &trial.measured.failed) {
            (Some(stages), _) => format!("cut off after {}", plural(stages, "stage")),
            (None, Some(failed)) => format!("failed: {failed}"),
            _ => String::new(),
        };
        let shown = trial.measured.after(trial.cut_after.unwrap_or(mnmf.stages));
        match (trial.score, trial.ending()) {
            (Some(score), Ending::Whole) => {
                text += &score_cell(score, bounds, score == bounds.1, &percent(score));
            }
            (Some(score), _) => _ = write!(text, "<td class=\"muted\">{}</td>", percent(score)),
            _ => text += "<td>–</td>",
        }
        let _ = writeln!(
            text,
            "<td>{}</td><td>{}</td><td class=\"words\">{}</td><td class=\"words\">{}</td></tr>",
            shown.map_or_else(|| "–".into(), |found| percent(found.error)),
            seconds(trial.measured.seconds),
            escaped(&titles.join(", ")),
            escaped(&ending)
        );
    }
    text += TABLE_END;
    text += "<p class=\"note\">A candidate that is cut off has the score of the stage where it was. Times \
             are without stages that an earlier candidate had computed.</p>\n</section>\n";
    text
}
