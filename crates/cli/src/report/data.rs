//! Computes and packs the data of the page.
//!
//! Numbers are packed into bytes: shares in 255ths, cosines in 65,535ths, all in base64.
//! With ten neighbors and six views that is about 250 bytes per node; a finer resolution would not be visible.
//!
//! The nodes of a page are those of the sample, then their neighbors outside of it, of which the page has less.

use anyhow::Result;
use manyview::embedding::{Kind, Part};
use manyview::layout::layout_watched;
use manyview::method::{ChosenPlan, StageRecord, ViewRecord};
use manyview::neighbors::{Neighbor, neighbors_watched};
use manyview::overlap::Overlap;
use manyview::parallel::Pool;
use manyview::result::{SavedFoldIn, SavedResult, SavedRun};
use manyview::{Embedding, Error};
use serde::Serialize;

use super::{Content, Scores, Worth};
use crate::html::PageMap;
use crate::html::encode::base64;
use crate::html::labels::LabelSet;
use crate::interrupt;
use crate::ui::Reporter;

/// Number of neighbors per node.
const NEIGHBORS: usize = 10;

/// Number of parts listed per pair of neighbors.
const TOP_PARTS: usize = 3;

/// Marks a missing neighbor.
const NOBODY: u32 = u32::MAX;

/// All data of a page, unpacked by `data.js` and `origins.js`.
#[derive(Serialize)]
pub(super) struct Page<'a> {
    nodes: Vec<&'a str>,
    /// The sample of a large result.
    sample: Option<Drawn>,
    maps: [PageMap; 1],
    /// "consensus", then the views, and their union if it took part; empty if the columns of the result are not assigned to views.
    sources: Vec<&'a str>,
    /// For each node the share of each source, 8 bits each.
    shares: String,
    parts: Vec<PagePart>,
    neighbors: Near,
    labels: Vec<LabelSet>,
    clusters: Option<Vec<i64>>,
    scores: Option<&'a Scores>,
    worth: Option<&'a Worth>,
    /// The nodes that were folded in, if others were fitted.
    folded_in: Option<FoldedIn>,
    run: Run<'a>,
}

/// Nodes that were folded in.
#[derive(Serialize)]
struct FoldedIn {
    /// Their numbers on the page.
    nodes: Vec<usize>,
    /// How many there are in the result.
    of: usize,
}

/// The first `drawn` nodes of the page were drawn from `of` nodes; the others are there as their neighbors.
#[derive(Serialize)]
struct Drawn {
    drawn: usize,
    of: usize,
}

#[derive(Serialize)]
struct PagePart {
    stage: usize,
    /// Index into the sources.
    source: usize,
    /// How many columns of the embedding it has.
    columns: usize,
}

/// The neighbors of all nodes of the map, [`NEIGHBORS`] each.
#[derive(Default, Serialize)]
struct Near {
    count: usize,
    /// Numbers of nodes of the page, 32 bits each.
    ids: String,
    /// 16 bits each.
    similarity: String,
    /// The share of each source in the similarity, 8 bits each.
    shares: String,
    /// Number of parts with the largest shares.
    top: usize,
    /// Their indices, 8 bits each if that is enough, otherwise 16.
    parts: String,
    /// Their shares, 8 bits each.
    part_shares: String,
}

#[derive(Serialize)]
struct Run<'a> {
    version: &'a str,
    command: &'a str,
    method: &'a str,
    config: &'a [(String, String)],
    network: RunNetwork<'a>,
    stages: &'a [StageRecord],
    /// What the plan was chosen by, in words.
    chosen_plan: Option<String>,
    warnings: Vec<String>,
    seconds: manyview::result::RunSeconds,
    threads: usize,
    peak_memory_bytes: Option<u64>,
}

#[derive(Serialize)]
struct RunNetwork<'a> {
    views: &'a [ViewRecord],
    joint: Option<&'a ViewRecord>,
    overlap: &'a [Overlap],
}

/// Computes the data of the page; most of the time is spent on the neighbors and the map.
pub(super) fn compute<'a>(
    content: Content<'a>,
    seed: u64,
    pool: &Pool,
    reporter: &mut Reporter,
) -> Result<Page<'a>> {
    let Content { finished, labels, sample, extras, .. } = content;
    let embedding = &finished.embedding;
    let mut near = neighbors_watched(embedding, &sample.rows, NEIGHBORS, pool, &mut |done| {
        reporter.neighbors(done, sample.rows.len());
        interrupt::go_on()
    })?;
    // The page shows similar nodes only; vectors with both signs also have neighbors with a negative cosine.
    near.iter_mut().for_each(|near| near.retain(|neighbor| neighbor.similarity > 0.0));
    let places = layout_watched(&sample.embedding, seed, pool, &mut |step| {
        reporter.laying_out(step);
        interrupt::go_on()
    })?;
    if interrupt::go_on().is_break() {
        return Err(Error::Interrupted.into());
    }
    let origins = Origins::new(finished);
    let rows = with_neighbors(&sample.rows, &near);
    let mut numbers = vec![NOBODY; embedding.rows()];
    rows.iter().zip(0..).for_each(|(&row, number)| numbers[row as usize] = number);
    let cluster = |at: usize, of: &[Option<u32>]| of.get(at).copied().flatten().map_or(-1, i64::from);
    Ok(Page {
        nodes: rows.iter().map(|&row| embedding.nodes().id(row as usize)).collect(),
        sample: sample.is_part().then_some(Drawn { drawn: sample.rows.len(), of: sample.total }),
        maps: [PageMap::new("", &places)],
        shares: base64(&rows.iter().flat_map(|&node| origins.shares(node, node)).collect::<Vec<u8>>()),
        parts: origins.page_parts(),
        neighbors: origins.pack(&sample.rows, &near, &numbers),
        sources: origins.sources,
        labels: labels.iter().map(|(title, labels)| LabelSet::of_rows(title, labels, &rows)).collect(),
        clusters: extras.clusters.as_ref().map(|of| (0..rows.len()).map(|at| cluster(at, of)).collect()),
        scores: extras.scores.as_ref(),
        worth: extras.worth.as_ref(),
        folded_in: finished.run.folded_in.and_then(|new| folded_in(new, &rows)),
        run: run(&finished.run),
    })
}

/// The rows of the sample, then those of neighbors that are not in it, both ascending.
fn with_neighbors(sample: &[u32], near: &[Vec<Neighbor>]) -> Vec<u32> {
    let neighbors = near.iter().flatten().map(|neighbor| neighbor.node);
    let mut others: Vec<u32> = neighbors.filter(|node| sample.binary_search(node).is_err()).collect();
    others.sort_unstable();
    others.dedup();
    [sample, &others].concat()
}

/// The nodes of the page that were folded in; `None` if no node of the result was fitted, and there is nothing to tell apart.
fn folded_in(new: SavedFoldIn, rows: &[u32]) -> Option<FoldedIn> {
    if new.first_row == 0 {
        return None;
    }
    let is_new = |row: u32| (row as usize).checked_sub(new.first_row).is_some_and(|place| place < new.nodes);
    let nodes = (0..rows.len()).filter(|&at| is_new(rows[at])).collect();
    Some(FoldedIn { nodes, of: new.nodes })
}

fn run(run: &SavedRun) -> Run<'_> {
    Run {
        version: &run.version,
        command: &run.command,
        method: &run.method,
        config: &run.config,
        network: RunNetwork {
            views: &run.network.views,
            joint: run.network.joint.as_ref(),
            overlap: &run.network.overlap,
        },
        stages: &run.stages,
        chosen_plan: run.chosen_plan.as_ref().map(ChosenPlan::sentence),
        warnings: run.warnings.iter().cloned().chain(run.scale_note().map(|note| note.to_string())).collect(),
        seconds: run.seconds,
        threads: run.threads,
        peak_memory_bytes: run.peak_memory_bytes,
    }
}

/// The sources of vectors and similarities.
pub(super) struct Origins<'a> {
    embedding: &'a Embedding,
    /// "consensus", then the views, and their union if it took part.
    pub(super) sources: Vec<&'a str>,
    /// The source of each part.
    source_of: Vec<usize>,
}

impl<'a> Origins<'a> {
    pub(super) fn new(finished: &'a SavedResult) -> Self {
        let SavedResult { embedding, run } = finished;
        let views = run.network.views.iter().map(|view| view.name.as_str());
        let joint = run.network.joint.iter().map(|joint| joint.name.as_str());
        let sources: Vec<&str> = std::iter::once("consensus").chain(views).chain(joint).collect();
        // Other methods have one part for all columns, which is no consensus stage.
        let without_view = embedding.parts().iter().all(|part| part.view.is_none());
        if embedding.parts().is_empty() || (run.stages.is_empty() && without_view) {
            return Origins { embedding, sources: Vec::new(), source_of: Vec::new() };
        }
        let source = |part: &Part| match &part.view {
            None if part.kind == Kind::Joint => sources.len() - 1,
            None => 0,
            Some(view) => {
                1 + sources[1..].iter().position(|name| name == view).expect("parts belong to these views")
            }
        };
        let source_of = embedding.parts().iter().map(source).collect();
        Origins { embedding, sources, source_of }
    }

    /// The columns of a source.
    pub(super) fn columns(&self, source: usize) -> Vec<usize> {
        let parts = self.embedding.parts().iter().zip(&self.source_of).filter(|(_, of)| **of == source);
        parts.flat_map(|(part, _)| part.columns.clone()).collect()
    }

    fn page_parts(&self) -> Vec<PagePart> {
        let parts = self.embedding.parts().iter().zip(&self.source_of);
        let page_part = |(part, &source): (&Part, &usize)| PagePart {
            stage: part.stage,
            source,
            columns: part.columns.len(),
        };
        parts.map(page_part).collect()
    }

    /// The share of each source in the inner product of two nodes, in 255ths.
    fn shares(&self, a: u32, b: u32) -> Vec<u8> {
        self.by_source(&self.embedding.part_shares(a as usize, b as usize))
    }

    fn by_source(&self, part_shares: &[f64]) -> Vec<u8> {
        let mut sums = vec![0.0; self.sources.len()];
        for (&source, share) in self.source_of.iter().zip(part_shares) {
            sums[source] += share;
        }
        sums.into_iter().map(in_255ths).collect()
    }

    /// Packs the neighbors of rows. `numbers` are those of all rows on the page.
    fn pack(&self, rows: &[u32], near: &[Vec<Neighbor>], numbers: &[u32]) -> Near {
        let (mut ids, mut similarity) = (Vec::new(), Vec::new());
        let (mut shares, mut parts, mut part_shares) = (Vec::new(), Vec::new(), Vec::new());
        for (&node, near) in rows.iter().zip(near) {
            for neighbor in near {
                let of_parts = self.embedding.part_shares(node as usize, neighbor.node as usize);
                ids.extend(numbers[neighbor.node as usize].to_le_bytes());
                similarity.extend(((neighbor.similarity * 65535.0).round() as u16).to_le_bytes());
                shares.extend(self.by_source(&of_parts));
                let top = self.top(&of_parts);
                parts.extend(top.iter().flat_map(|&(part, _)| self.part_bytes(part)));
                part_shares.extend(top.iter().map(|&(_, share)| in_255ths(share)));
            }
            for _ in near.len()..NEIGHBORS {
                ids.extend(NOBODY.to_le_bytes());
                similarity.extend([0; 2]);
                shares.extend(std::iter::repeat_n(0, self.sources.len()));
                parts.extend((0..TOP_PARTS).flat_map(|_| self.part_bytes(None)));
                part_shares.extend([0; TOP_PARTS]);
            }
        }
        Near {
            count: NEIGHBORS,
            ids: base64(&ids),
            similarity: base64(&similarity),
            shares: base64(&shares),
            top: TOP_PARTS,
            parts: base64(&parts),
            part_shares: base64(&part_shares),
        }
    }

    /// The parts with the largest shares.
    fn top(&self, shares: &[f64]) -> [(Option<usize>, f64); TOP_PARTS] {
        let mut order: Vec<usize> = (0..shares.len()).collect();
        order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
        std::array::from_fn(|rank| match order.get(rank) {
            Some(&part) if shares[part] > 0.0 => (Some(part), shares[part]),
            _ => (None, 0.0),
        })
    }

    /// The index of a part; all bits are set if there is none.
    fn part_bytes(&self, part: Option<usize>) -> Vec<u8> {
        if self.source_of.len() < usize::from(u8::MAX) {
            vec![part.map_or(u8::MAX, |part| part as u8)]
        } else {
            part.map_or(u16::MAX, |part| part.min(usize::from(u16::MAX)) as u16).to_le_bytes().to_vec()
        }
    }
}

fn in_255ths(share: f64) -> u8 {
    (share * 255.0).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_were_folded_in_are_told_apart_from_fitted_ones() {
        let new = |first_row, nodes| folded_in(SavedFoldIn { first_row, nodes }, &[0, 3, 9, 10, 12, 11, 2]);
        let some = new(10, 2).unwrap();
        assert_eq!((some.nodes, some.of), (vec![3, 5], 2));
        assert!(new(0, 13).is_none());
    }

    #[test]
    fn neighbors_outside_the_sample_follow_it() {
        let pool = Pool::new(Some(1)).unwrap();
        let nodes = ["a", "b", "c", "d", "e"].iter().collect();
        let embedding =
            Embedding::new(nodes, 2, vec![1.0, 0.0, 0.0, 1.0, 0.1, 1.0, 1.0, 0.1, 0.0, 0.0], Vec::new());
        let near = manyview::neighbors::neighbors(&embedding, &[1, 3], 1, &pool);
        assert_eq!(with_neighbors(&[1, 3], &near), [1, 3, 0, 2]);
        assert_eq!(with_neighbors(&[0, 1, 2, 3, 4], &near), [0, 1, 2, 3, 4]);
    }
}
