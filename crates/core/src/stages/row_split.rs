//! Which rows belong to which rank: every rank gets about the same number of entries, not of rows.
//!
//! The number of entries of a row is only known once it is computed, and computed rows should not move. So the entries of a
//! sample of rows are counted first, one row from each of many strata of equal length; the ranks share this work. Degrees
//! are no substitute, since the proximity divides by them: on a planted network
//! of skew 1 (8,000 nodes, sorted by degree) the mean degree falls 21-fold from the first quarter of the entries to
//! the last, and the entries of a row by no more than a third. Entries of sampled matrices follow from the visits of walks, which
//! degrees do tell.
//!
//! Invariant: every rank computes the same bounds from the same numbers.

use std::ops::{ControlFlow, Range};

use crate::comm::{self, Comm};
use crate::method::{Observer, Progress};
use crate::proximity::{How, Proximity, sample};
use manyview_base::error::Result;
use manyview_base::parallel::Pool;
use manyview_base::random::Key;
use manyview_data::network::View;

/// The number of rows that each rank counts in each view.
const SAMPLE: usize = 256;

/// At most one row in this many is counted: counting a row costs as much as computing it.
const SPARING: usize = 16;

/// The rows of this rank; with one rank, all rows.
pub(super) fn own_rows(
    nodes: usize,
    views: &[&View],
    proximity: Proximity,
    pool: &Pool,
    comm: &dyn Comm,
    observer: &mut Observer<'_>,
) -> Result<Range<usize>> {
    if comm.size() == 1 {
        return Ok(0..nodes);
    }
    let strata = (SAMPLE * comm.size()).min(nodes / SPARING).max(1);
    let rows: Vec<usize> = (0..strata).map(|stratum| sampled_row(stratum, strata, nodes)).collect();
    let own = bound(strata, comm.rank(), comm.size())..bound(strata, comm.rank() + 1, comm.size());
    // One for each row: rows without entries are assigned too.
    let mut costs = vec![1.0; own.len()];
    if let How::Sampled(walks) = proximity.how {
        for view in views {
            add_visits(view, walks.per_node * proximity.settings.window, &rows[own.clone()], &mut costs);
        }
    }
    let counted = if proximity.how == How::Exact { views } else { &[] };
    for (index, view) in counted.iter().enumerate() {
        let mut watch = |_: usize| -> ControlFlow<()> {
            let done = index as f64 / views.len() as f64;
            observer(&Progress::Working { doing: "proximity", view: Some(&view.name), done })
        };
        let sampled = sample(view, proximity.settings, &rows[own.clone()], pool, &mut watch);
        for (cost, counts) in costs.iter_mut().zip(comm::agree(comm, sampled)?.rows) {
            *cost += counts.iter().map(|&count| f64::from(count)).sum::<f64>();
        }
    }
    let mut all_costs = vec![0.0; strata];
    comm::all_gather(comm, &costs, &mut all_costs);
    let bounds = cut(&all_costs, nodes, comm.size());
    Ok(bounds[comm.rank()]..bounds[comm.rank() + 1])
}

/// Adds to the cost of each of some rows the entries that a sampled matrix has in it at most, given the visits by the walks from a node:
/// those from the row's node, and its share of all visits if both directions count.
fn add_visits(view: &View, visits: usize, rows: &[usize], costs: &mut [f64]) {
    let adjacency = &view.adjacency;
    let degree = |row: usize| adjacency.row(row).1.iter().sum::<f64>();
    let walking = (0..adjacency.rows()).filter(|&row| !adjacency.row(row).0.is_empty()).count();
    let volume: f64 = (0..adjacency.rows()).map(degree).sum();
    for (&row, cost) in rows.iter().zip(costs) {
        if adjacency.row(row).0.is_empty() {
            continue;
        }
        // Weights near the largest number have no finite sum; then rows count alike.
        let share = Some(degree(row) / volume).filter(|share| share.is_finite());
        let share = share.unwrap_or(1.0 / walking as f64);
        let back = if view.directed { 0.0 } else { walking as f64 * share };
        *cost += visits as f64 * (1.0 + back);
    }
}

/// The start of part `index` of `parts` equal parts.
fn bound(whole: usize, index: usize, parts: usize) -> usize {
    (whole as u128 * index as u128 / parts as u128) as usize
}

/// A random row of a stratum; a fixed position could coincide with a regular pattern in the network.
fn sampled_row(stratum: usize, strata: usize, nodes: usize) -> usize {
    let (from, to) = (bound(nodes, stratum, strata), bound(nodes, stratum + 1, strata));
    from + (Key::new(0).at(stratum, 0) % (to - from).max(1) as u64) as usize
}

/// The bounds of the rows of each rank, so that all have the same cost; `costs` are those of a row in each stratum.
fn cut(costs: &[f64], nodes: usize, ranks: usize) -> Vec<usize> {
    let strata = costs.len();
    let start = |stratum: usize| bound(nodes, stratum, strata);
    let total: f64 = (0..strata).map(|at| costs[at] * (start(at + 1) - start(at)) as f64).sum();
    let mut bounds = vec![0];
    let (mut stratum, mut before) = (0, 0.0);
    for rank in 1..ranks {
        let wanted = total * rank as f64 / ranks as f64;
        let cost = |at: usize| costs[at] * (start(at + 1) - start(at)) as f64;
        while stratum + 1 < strata && before + cost(stratum) < wanted {
            before += cost(stratum);
            stratum += 1;
        }
        let rows = ((wanted - before) / costs[stratum]).round() as usize;
        bounds.push((start(stratum) + rows).min(start(stratum + 1)));
    }
    bounds.push(nodes);
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_costs_give_equal_rows() {
        assert_eq!(cut(&[3.0; 10], 1000, 4), [0, 250, 500, 750, 1000]);
        assert_eq!(cut(&[1.0], 7, 3), [0, 2, 5, 7]);
    }

    #[test]
    fn costly_rows_are_dealt_out_sparingly() {
        // Rows 0 to 99 cost 9 each, the others 1.
        let costs: Vec<f64> = (0..10).map(|stratum| if stratum == 0 { 9.0 } else { 1.0 }).collect();
        assert_eq!(cut(&costs, 1000, 2), [0, 100, 1000]);
        assert_eq!(cut(&costs, 1000, 3), [0, 67, 400, 1000]);
    }

    /// To the bit: what ranks compute is a part of what one process computes.
    #[test]
    fn blocks_of_ranks_are_the_matrix_of_one_process() {
        use crate::comm::Threads;
        use crate::proximity::{Keep, Settings, Source, row_blocks};
        use manyview_base::linalg::Csr;
        use manyview_data::generate::Planted;

        let planted = Planted { nodes: 700, views: 2, skew: 1.0, seed: 4, ..Planted::default() };
        let network = planted.generate().unwrap().network().unwrap();
        let (pool, nodes) = (Pool::new(Some(2)).unwrap(), network.nodes().len());
        let views: Vec<&View> = network.views().iter().collect();
        let sampled = Settings { proximity: Source::Sampled, walks: Some(12), ..Settings::default() };
        for settings in [Settings::default(), sampled] {
            let proximity = Proximity::decide(settings, &views, 5, &pool).unwrap();
            let matrices = |comm: &dyn Comm| {
                let mut watch = |_: &Progress<'_>| ControlFlow::Continue(());
                let rows = own_rows(nodes, &views, proximity, &pool, comm, &mut watch).unwrap();
                let rows_of = |view: &&View| {
                    let go_on = &mut |_| ControlFlow::Continue(());
                    row_blocks::<f32>(view, proximity, rows.clone(), Keep::All, &pool, go_on).unwrap().blocks
                };
                views.iter().map(rows_of).collect::<Vec<_>>()
            };
            let stacked = |ranks: usize| -> Vec<Csr<f32>> {
                let parts = Threads::run(ranks, |comm| matrices(comm));
                let of_view = |view: usize| parts.iter().flat_map(|part| part[view].clone()).collect();
                (0..views.len()).map(|view| Csr::stack(nodes, of_view(view))).collect()
            };
            let one = stacked(1);
            for ranks in [2, 3, 4] {
                assert!(stacked(ranks) == one, "{ranks} ranks, {settings:?}");
            }
        }
    }

    #[test]
    fn bounds_rise_when_ranks_outnumber_rows() {
        for (nodes, ranks) in [(0, 3), (1, 5), (2, 9), (40, 41)] {
            let bounds = cut(&vec![2.0; (nodes / SPARING).max(1)], nodes, ranks);
            assert_eq!((bounds[0], bounds[ranks], bounds.len()), (0, nodes, ranks + 1));
            assert!(bounds.is_sorted(), "{bounds:?}");
        }
    }

    #[test]
    fn every_stratum_gives_a_row_of_its_own() {
        let rows: Vec<usize> = (0..7).map(|stratum| sampled_row(stratum, 7, 100)).collect();
        for (stratum, row) in rows.iter().enumerate() {
            assert!((bound(100, stratum, 7)..bound(100, stratum + 1, 7)).contains(row));
        }
    }
}
