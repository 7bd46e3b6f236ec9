//! Edges that come and go between nodes of a model: the network after them, and how far each node can feel the change.

use std::collections::BTreeMap;

use super::KeptModel;
use manyview_base::error::{Error, Result};
use manyview_base::linalg::Csr;
use manyview_data::network::{Duplicates, EdgeCounts, Interner, Network, View};

/// Ids that a message names.
const SHOWN: usize = 3;

/// What to do about nodes that the model does not have.
const ADVICE: &str = "update is for edges between nodes of the model, fold-in gives vectors to new ones";

/// A network after a change.
pub(super) struct Changed {
    pub(super) network: Network,
    /// Edges that came, and that went.
    pub(super) edges: [usize; 2],
}

/// Applies edges that come and edges that go to the network of a model: an edge that goes is removed whatever its weight, and one that comes is
/// added to one that is there, or replaces it if its weight is larger (`duplicates`).
///
/// # Errors
/// [`Error::Config`] for views or nodes that the model does not have, for edges to be removed that are not there, and for a view that would
/// lose all its edges.
pub(super) fn apply(
    model: &KeptModel,
    come: Option<&Network>,
    go: Option<&Network>,
    duplicates: Duplicates,
) -> Result<Changed> {
    let mut views: Vec<View> = model.network.views().to_vec();
    let mut edges = [0; 2];
    for (at, given) in [go, come].into_iter().enumerate() {
        let Some(given) = given else { continue };
        let numbers = numbers(model, given, ADVICE)?;
        for change in given.views() {
            let view = model.network.view_index(&change.name)?;
            super::additions::check_direction(&change.name, views[view].directed, change.directed)?;
            let adjacency = if at == 0 {
                without_edges(model, &views[view], change, &numbers)?
            } else {
                with_edges(&views[view].adjacency, change, &numbers, duplicates)
            };
            edges[1 - at] += change.edges();
            views[view] = View { adjacency, counts: EdgeCounts::default(), ..views[view].clone() };
        }
    }
    if let Some(empty) = views.iter().find(|view| view.adjacency.entries() == 0) {
        return Err(Error::config(format!(
            "view {:?} would have no edges left; fit again without it",
            empty.name
        )));
    }
    Ok(Changed { network: Network::new(model.network.nodes().clone(), views), edges })
}

/// The rows of the nodes of a change in the model; an error that ends with `advice` if it does not have all of them.
pub(super) fn numbers(model: &KeptModel, given: &Network, advice: &str) -> Result<Vec<usize>> {
    let mut ids = Interner::default();
    for id in model.network.nodes().iter() {
        ids.intern(id.as_bytes()).map_err(|error| Error::network(format!("node {id:?}: {error}")))?;
    }
    let found: Vec<Option<u32>> = given.nodes().iter().map(|id| ids.find(id.as_bytes())).collect();
    let unknown = given.nodes().iter().zip(&found).filter(|(_, found)| found.is_none());
    let unknown: Vec<String> = unknown.map(|(id, _)| format!("{id:?}")).collect();
    if unknown.is_empty() {
        return Ok(found.into_iter().flatten().map(|row| row as usize).collect());
    }
    let more =
        if unknown.len() > SHOWN { format!(", and {} more", unknown.len() - SHOWN) } else { String::new() };
    let shown = unknown[..unknown.len().min(SHOWN)].join(", ");
    Err(Error::config(format!("the model does not have these nodes: {shown}{more}; {advice}")))
}

/// The changed entries by row.
fn by_row(change: &View, numbers: &[usize]) -> BTreeMap<usize, BTreeMap<u32, f64>> {
    let mut rows: BTreeMap<usize, BTreeMap<u32, f64>> = BTreeMap::new();
    for row in 0..change.adjacency.rows() {
        let (cols, weights) = change.adjacency.row(row);
        for (&col, &weight) in cols.iter().zip(weights) {
            rows.entry(numbers[row]).or_default().insert(numbers[col as usize] as u32, weight);
        }
    }
    rows
}

/// A matrix whose rows are made from the old ones.
fn rebuilt(old: &Csr<f64>, mut row: impl FnMut(usize, &mut Vec<(u32, f64)>)) -> Csr<f64> {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut entries = Vec::new();
    for at in 0..old.rows() {
        let (cols, weights) = old.row(at);
        entries.clear();
        entries.extend(cols.iter().copied().zip(weights.iter().copied()));
        row(at, &mut entries);
        indices.extend(entries.iter().map(|entry| entry.0));
        values.extend(entries.iter().map(|entry| entry.1));
        indptr.push(indices.len());
    }
    Csr::new(old.cols(), indptr, indices, values)
}

pub(super) fn with_edges(
    old: &Csr<f64>,
    change: &View,
    numbers: &[usize],
    duplicates: Duplicates,
) -> Csr<f64> {
    let change = by_row(change, numbers);
    rebuilt(old, |at, entries| {
        let Some(new) = change.get(&at) else { return };
        for (&col, &weight) in new {
            match entries.binary_search_by_key(&col, |entry| entry.0) {
                Ok(place) => {
                    let known = &mut entries[place].1;
                    *known = duplicates.merged(*known, weight);
                }
                Err(place) => entries.insert(place, (col, weight)),
            }
        }
    })
}

fn without_edges(model: &KeptModel, old: &View, change: &View, numbers: &[usize]) -> Result<Csr<f64>> {
    let gone = by_row(change, numbers);
    let nodes = model.network.nodes();
    for (&row, cols) in &gone {
        let there = old.adjacency.row(row).0;
        if let Some(&col) = cols.keys().find(|col| there.binary_search(col).is_err()) {
            return Err(Error::config(format!(
                "view {:?} has no edge between {:?} and {:?} that could be removed",
                old.name,
                nodes.id(row),
                nodes.id(col as usize)
            )));
        }
    }
    Ok(rebuilt(&old.adjacency, |at, entries| {
        if let Some(gone) = gone.get(&at) {
            entries.retain(|entry| !gone.contains_key(&entry.0));
        }
    }))
}

/// For each node, a bound of how far the distribution of the walks from it changes, in total variation: the expected sum, over the nodes
/// that a walk leaves within the window, of how far the shares of their edges change.
///
/// Two walks, one in each network, can be made to take the same steps with the probability that the shares have in common; so they part at a
/// node with at most the probability by which its shares differ.
pub(super) fn influence(old: &View, new: &View, window: usize) -> Vec<f64> {
    let nodes = old.adjacency.rows();
    let apart: Vec<f64> =
        (0..nodes).map(|node| distance(old.adjacency.row(node), new.adjacency.row(node))).collect();
    let mut sum = apart.clone();
    let mut next = vec![0.0; nodes];
    for _ in 1..window {
        for (node, next) in next.iter_mut().enumerate() {
            let (cols, weights) = old.adjacency.row(node);
            let degree: f64 = weights.iter().sum();
            let reached: f64 =
                cols.iter().zip(weights).map(|(&col, weight)| weight * sum[col as usize]).sum();
            *next = apart[node] + if degree > 0.0 { reached / degree } else { 0.0 };
        }
        std::mem::swap(&mut sum, &mut next);
    }
    sum
}

/// The distance in total variation of the shares of a node's edges; 1 if it has edges in one of the two only.
fn distance(old: (&[u32], &[f64]), new: (&[u32], &[f64])) -> f64 {
    if old == new {
        return 0.0;
    }
    let degrees = [old, new].map(|(_, weights)| weights.iter().sum::<f64>());
    if degrees.contains(&0.0) {
        return 1.0;
    }
    let shares = |(cols, weights): (&[u32], &[f64]), degree: f64| -> BTreeMap<u32, f64> {
        cols.iter().copied().zip(weights.iter().map(|weight| weight / degree)).collect()
    };
    let (mut before, after) = (shares(old, degrees[0]), shares(new, degrees[1]));
    after.iter().map(|(col, share)| (share - before.remove(col).unwrap_or(0.0)).max(0.0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: usize = 30;

    fn view(extra: Option<(usize, usize)>) -> View {
        let ring = (0..NODES).flat_map(|node| [(node, (node + 1) % NODES), (node, (node * 7 + 3) % NODES)]);
        let edges: Vec<(usize, usize)> = ring.filter(|(a, b)| a != b).chain(extra).collect();
        let both = edges.into_iter().flat_map(|(a, b)| [(a, b, 1.0), (b, a, 1.0)]);
        let adjacency = Csr::from_triplets(NODES, NODES, both);
        View { name: "v".into(), directed: false, adjacency, counts: EdgeCounts::default() }
    }

    /// Where a walk is after a number of steps.
    fn distribution(view: &View, from: usize, steps: usize) -> Vec<f64> {
        let mut now = vec![0.0; NODES];
        now[from] = 1.0;
        for _ in 0..steps {
            let mut next = vec![0.0; NODES];
            for (node, here) in now.iter().enumerate() {
                let (cols, weights) = view.adjacency.row(node);
                let degree: f64 = weights.iter().sum();
                cols.iter()
                    .zip(weights)
                    .for_each(|(&col, weight)| next[col as usize] += here * weight / degree);
            }
            now = next;
        }
        now
    }

    #[test]
    fn walks_change_by_no_more_than_the_bound() {
        let (old, new) = (view(None), view(Some((2, 9))));
        let bound = influence(&old, &new, 5);
        let mut largest = 0.0f64;
        for (node, &bound) in bound.iter().enumerate() {
            for steps in 1..=5 {
                let [before, after] = [&old, &new].map(|view| distribution(view, node, steps));
                let apart: f64 = before.iter().zip(&after).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0;
                assert!(apart <= bound + 1e-12, "node {node}, {steps} steps: {apart} above {bound}");
                largest = largest.max(apart);
            }
        }
        assert!(largest > 0.05 && bound[2] > 0.1 && bound.iter().any(|&bound| bound < 0.1), "{bound:?}");
        assert_eq!(influence(&old, &old, 5), vec![0.0; NODES]);
    }
}
