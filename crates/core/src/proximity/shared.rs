//! Rows of an undirected view that differ little from each other, and what a step of a walk saves by it.
//!
//! Where a view links all members of a group, their rows are the same except for the members themselves. In the union of the
//! views, each row has a few more entries, from other views, so no row follows from another one (`twins`), but most of what a step
//! adds up is still the same for all members. So a row is kept as
//!
//! `common entries of the group - at most one of them + what is left`,
//!
//! and a step adds up the common entries once for all members: forward and backward, so that the sum without one entry is the
//! sum of those before it and of those behind it. Nothing is subtracted, so no digit is lost.
//!
//! Invariant: the groups depend on the view only, and a sum on the view and the numbers of its own lane only.

use std::ops::Range;

use rayon::prelude::*;

use super::degrees::Degrees;
use super::step::{Lanes, TOGETHER};
use manyview_base::linalg::kernels::add_multiple;
use manyview_base::linalg::{Csr, Real};
use manyview_base::random::Key;
use manyview_data::network::View;

/// The number of rows of a group, and the number of entries that they have in common, from which a group is worth its two passes.
const FEWEST: usize = 16;
/// The share of the rows of a group that have a common entry.
const COMMON: f64 = 0.9;
/// Groups are used if at least this many times as many entries are added up without them.
const GAIN: usize = 2;
/// How far the degrees of the nodes of a group may be apart: what they have in common is divided by the degree of one of them.
const DEGREES_APART: f64 = 64.0;

/// Rows that have most entries in common.
pub(super) struct Group<T> {
    /// The common entries, ascending: the node, and its share in the degree of the first member.
    entries: Vec<(u32, T)>,
    /// Where the entry is that a member does not have (the number of entries if it has them all), the member, and what shares are
    /// multiplied by for its degree. In ascending order.
    members: Vec<(u32, u32, T)>,
}

/// Looks for groups. Returns them, and the view without what they have in common; `None` if they do not save enough.
pub(super) fn groups<T: Real>(view: &View, degrees: &Degrees) -> Option<(Vec<Group<T>>, Csr<f64>)> {
    let adjacency = &view.adjacency;
    let nodes = adjacency.rows();
    if view.directed || adjacency.entries() < FEWEST * nodes {
        return None;
    }
    let mut keys: Vec<(u64, usize)> =
        (0..nodes).into_par_iter().map(|row| (key(adjacency, row), row)).collect();
    keys.sort_unstable();
    let mut scratch = vec![(0u32, f64::INFINITY); nodes];
    let (mut groups, mut rests) = (Vec::new(), vec![None; nodes]);
    for alike in keys.chunk_by(|one, other| one.0 == other.0).filter(|alike| alike.len() >= FEWEST) {
        let rows: Vec<usize> = alike.iter().map(|&(_, row)| row).collect();
        let common = common_entries(adjacency, &rows, &mut scratch);
        let first = degrees.of_nodes[rows[0]];
        let near = |&row: &usize| {
            let apart = first / degrees.of_nodes[row];
            (1.0 / DEGREES_APART..=DEGREES_APART).contains(&apart)
        };
        let members = rows
            .into_iter()
            .filter(near)
            .filter_map(|row| Some((row, Rest::of(adjacency.row(row), &common)?)));
        let members: Vec<(usize, Rest)> = members.collect();
        if members.len() < FEWEST || common.len() < FEWEST {
            continue;
        }
        let mut group = Group {
            entries: common
                .iter()
                .map(|&(col, weight)| (col, T::from_f64(weight * degrees.scale / first)))
                .collect(),
            members: Vec::with_capacity(members.len()),
        };
        for (row, rest) in members {
            let factor = T::from_f64(first / degrees.of_nodes[row]);
            group.members.push((rest.missing as u32, row as u32, factor));
            rests[row] = Some(rest.entries);
        }
        group.members.sort_unstable_by_key(|&(missing, row, _)| (missing, row));
        groups.push(group);
    }
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for (row, rest) in rests.into_iter().enumerate() {
        match rest {
            Some(rest) => rest.into_iter().for_each(|(col, weight)| {
                indices.push(col);
                values.push(weight);
            }),
            None => {
                indices.extend_from_slice(adjacency.row(row).0);
                values.extend_from_slice(adjacency.row(row).1);
            }
        }
        indptr.push(indices.len());
    }
    let passes = |group: &Group<T>| 2 * group.entries.len() + 2 * group.members.len();
    let added: usize = groups.iter().map(passes).sum::<usize>() + indices.len();
    (GAIN * added <= adjacency.entries()).then(|| (groups, Csr::new(nodes, indptr, indices, values)))
}

/// The smallest of the random numbers of all entries: rows with the same entries but for a share `x` have the same one with
/// probability `1 - x`.
fn key(adjacency: &Csr<f64>, row: usize) -> u64 {
    let (cols, weights) = adjacency.row(row);
    // Rows that are too short are in no group: their number is their own.
    let alone = Key::new(1).with(row as u64).bits();
    if cols.len() < FEWEST {
        return alone;
    }
    let key = Key::new(0);
    let entries = cols.iter().zip(weights);
    entries.map(|(&col, weight)| key.at(col as usize, weight.to_bits() as usize)).min().unwrap_or(alone)
}

/// The entries that nearly all of these rows have, each with its smallest weight. `scratch` is left as it was.
fn common_entries(adjacency: &Csr<f64>, rows: &[usize], scratch: &mut [(u32, f64)]) -> Vec<(u32, f64)> {
    let mut cols = Vec::new();
    for &row in rows {
        for (&col, &weight) in adjacency.row(row).0.iter().zip(adjacency.row(row).1) {
            let (count, least) = &mut scratch[col as usize];
            if *count == 0 {
                cols.push(col);
            }
            *count += 1;
            *least = least.min(weight);
        }
    }
    cols.sort_unstable();
    let enough = COMMON * rows.len() as f64;
    let mut common = Vec::new();
    for col in cols {
        let (count, least) = std::mem::replace(&mut scratch[col as usize], (0, f64::INFINITY));
        if f64::from(count) >= enough {
            common.push((col, least));
        }
    }
    common
}

/// A row without what it has in common with others.
struct Rest {
    /// Where the common entry is that it does not have.
    missing: usize,
    entries: Vec<(u32, f64)>,
}

impl Rest {
    /// `None` if it has not enough of the common entries: all but one, with at least their weights.
    fn of((cols, weights): (&[u32], &[f64]), common: &[(u32, f64)]) -> Option<Self> {
        let mut rest = Rest { missing: common.len(), entries: Vec::new() };
        let mut at = 0;
        for (&col, &weight) in cols.iter().zip(weights) {
            if common.get(at).is_some_and(|&(next, _)| next < col) {
                rest.miss(at, common.len())?;
                at += 1;
            }
            match common.get(at) {
                Some(&(next, _)) if next < col => return None,
                Some(&(next, least)) if next == col => {
                    if weight < least {
                        return None;
                    }
                    if weight > least {
                        rest.entries.push((col, weight - least));
                    }
                    at += 1;
                }
                _ => rest.entries.push((col, weight)),
            }
        }
        if at < common.len() {
            rest.miss(at, common.len())?;
        }
        (at + 1 >= common.len()).then_some(rest)
    }

    /// Notes a missing entry; `None` if it is the second one.
    fn miss(&mut self, at: usize, none: usize) -> Option<()> {
        (self.missing == none).then(|| self.missing = at)
    }
}

impl<T: Real> Group<T> {
    /// Adds what the members have in common to the sums of those from `first_col` on.
    #[inline(always)]
    pub(super) fn add(&self, now: &[Lanes<T>], next: &mut [Lanes<T>], first_col: usize) {
        let mut sum = [T::ZERO; TOGETHER];
        let mut from = 0;
        for &(missing, node, factor) in &self.members {
            self.sum_up(from..missing as usize, now, &mut sum);
            from = missing as usize;
            if node as usize >= first_col {
                add_multiple(&mut next[node as usize].0, factor, &sum);
            }
        }
        let mut sum = [T::ZERO; TOGETHER];
        let mut to = self.entries.len();
        for &(missing, node, factor) in self.members.iter().rev() {
            let behind = (missing as usize + 1).min(self.entries.len());
            self.sum_up(behind..to, now, &mut sum);
            to = behind;
            if node as usize >= first_col {
                add_multiple(&mut next[node as usize].0, factor, &sum);
            }
        }
    }

    #[inline(always)]
    fn sum_up(&self, entries: Range<usize>, now: &[Lanes<T>], sum: &mut [T; TOGETHER]) {
        for &(from, share) in &self.entries[entries] {
            add_multiple(sum, share, &now[from as usize].0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proximity::step::{NodeSet, Steps};
    use manyview_data::network::EdgeCounts;

    const NODES: usize = 600;

    /// Groups that are linked completely, each with its own weight, and other edges, some of them within groups.
    fn view(others: f64) -> View {
        let group = |node: usize| node * 7 % NODES % 9;
        let pairs = (0..NODES).flat_map(|one| (0..NODES).map(move |other| (one, other)));
        let within = pairs.filter(|&(one, other)| one != other && group(one) == group(other));
        let mut entries: Vec<_> =
            within.map(|(one, other)| (one, other, 1.0 / (3 + group(one)) as f64)).collect();
        let pattern = Csr::<f64>::random(NODES, NODES, others, 5);
        for row in 0..NODES {
            for &col in pattern.row(row).0.iter().filter(|&&col| (col as usize) < row) {
                let weight = 0.1 + ((row + col as usize) % 5) as f64;
                entries.extend([(row, col as usize, weight), (col as usize, row, weight)]);
            }
        }
        let adjacency = Csr::from_triplets(NODES, NODES, entries);
        View { name: "v".into(), directed: false, adjacency, counts: EdgeCounts::default() }
    }

    fn naive(view: &View, degrees: &Degrees, now: &[Lanes<f64>]) -> Vec<f64> {
        let of_row = |row: usize| -> f64 {
            let (cols, weights) = view.adjacency.row(row);
            let terms = cols.iter().zip(weights).map(|(&col, weight)| weight * now[col as usize].0[2]);
            terms.sum::<f64>() * degrees.scale / degrees.of_nodes[row]
        };
        (0..view.adjacency.rows()).map(of_row).collect()
    }

    #[test]
    fn a_step_with_groups_is_the_step() {
        let view = view(0.005);
        let degrees = Degrees::of(&view);
        let (groups, rest) = groups::<f64>(&view, &degrees).unwrap();
        assert_eq!(groups.len(), 9);
        assert!(rest.entries() < view.adjacency.entries() / 10, "{}", rest.entries());
        let now: Vec<_> = (0..NODES).map(|node| Lanes([1.0 / (1 + node % 17) as f64; TOGETHER])).collect();
        let expected = naive(&view, &degrees, &now);
        let steps = Steps::<f64>::new(&view, &degrees);
        for first_col in [0, 128, 512] {
            let (mut next, mut reached) = (vec![Lanes([7.0; TOGETHER]); NODES], NodeSet::new(NODES));
            steps.make(&now, &mut next, first_col, &mut reached);
            for (found, expected) in next.iter().zip(&expected).skip(first_col) {
                assert!((found.0[2] / expected - 1.0).abs() < 1e-12, "{} {expected}", found.0[2]);
            }
        }
    }

    /// A number far larger than all others, in the place of the member that does not have it.
    #[test]
    fn no_digit_is_lost_beside_a_large_number() {
        let view = view(0.0);
        let degrees = Degrees::of(&view);
        let (groups, rest) = groups::<f64>(&view, &degrees).unwrap();
        // One row of each group is kept whole: that of the member whose own entry would have had the smallest random number.
        assert_eq!((groups.len(), rest.entries()), (9, NODES - 9));
        let steps = Steps::<f64>::new(&view, &degrees);
        for large in [0, 100, NODES - 1] {
            let value = |node: usize| if node == large { 1e15 } else { 1e-3 };
            let now: Vec<_> = (0..NODES).map(|node| Lanes([value(node); TOGETHER])).collect();
            let (mut next, mut reached) = (vec![Lanes::ZERO; NODES], NodeSet::new(NODES));
            steps.make(&now, &mut next, 0, &mut reached);
            // The mean over the others of its group.
            assert!((next[large].0[0] / 1e-3 - 1.0).abs() < 1e-12, "{}", next[large].0[0]);
        }
    }

    #[test]
    fn views_without_groups_have_none() {
        let random = Csr::<f64>::random(NODES, NODES, 0.3, 2);
        let pairs = (0..NODES).flat_map(|row| {
            let (cols, values) = random.row(row);
            cols.iter().zip(values).map(move |(&col, &value)| (row, col as usize, value))
        });
        let both = pairs.filter(|edge| edge.0 < edge.1).flat_map(|(a, b, w)| [(a, b, w), (b, a, w)]);
        let adjacency = Csr::from_triplets(NODES, NODES, both);
        let random = View { adjacency, ..view(0.0) };
        assert!(groups::<f64>(&random, &Degrees::of(&random)).is_none());
        // Too many other edges.
        let mixed = view(0.3);
        assert!(groups::<f64>(&mixed, &Degrees::of(&mixed)).is_none());
        let directed = View { directed: true, ..view(0.0) };
        assert!(groups::<f64>(&directed, &Degrees::of(&directed)).is_none());
    }

    #[test]
    fn what_a_row_has_besides_the_common_entries() {
        let common = [(1, 2.0), (4, 2.0), (6, 2.0)];
        let rest = |cols: &[u32], weights: &[f64]| {
            Rest::of((cols, weights), &common).map(|rest| (rest.missing, rest.entries))
        };
        assert_eq!(rest(&[1, 4, 6], &[2.0; 3]), Some((3, vec![])));
        assert_eq!(rest(&[0, 1, 4, 7], &[5.0, 2.0, 3.0, 1.0]), Some((2, vec![(0, 5.0), (4, 1.0), (7, 1.0)])));
        assert_eq!(rest(&[4, 6], &[2.0; 2]), Some((0, vec![])));
        assert_eq!(rest(&[2, 4, 6], &[2.0; 3]), Some((0, vec![(2, 2.0)])));
        for cols in [&[4][..], &[1], &[6, 7], &[0, 9], &[]] {
            assert_eq!(rest(cols, &[2.0; 2][..cols.len()]), None, "{cols:?}");
        }
        assert_eq!(rest(&[1, 4, 6], &[2.0, 1.0, 2.0]), None);
    }
}
