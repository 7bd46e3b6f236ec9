//! metapath2vec for one type of node: skip-gram on walks that take the views in turn (Dong et al., 2017).
//!
//! A path is a list of m views. Step t of a walk follows an edge of view `t mod m`, so on a path of one view this is
//! DeepWalk with a fixed window. With one type of node, metapath2vec++ is the same as metapath2vec.

use manyview_base::error::{Error, Result};
use manyview_base::message::option;
use manyview_base::settings;
use manyview_base::settings::Settings;
use manyview_core::method::{Found, Method, Task};
use manyview_core::preset::{Preset, largest_dim};
use manyview_data::network::{Network, View};

use crate::default_or;
use crate::sgd::Clash;
use crate::skipgram::SkipGram;
use crate::walks::{DeadEnd, Walks};

settings! {
    /// Settings of metapath2vec.
    pub struct Metapath2Vec {
        /// The number of columns of the embedding.
        dim: usize = 256 => at_least(1.0).at_most(largest_dim()).hint("the usual choice is 256");
        /// The names of the views in the order in which walks take them, repeated until a walk ends.
        metapath: Option<Vec<String>> = None => absent("all views in their order");
        /// What happens at a node that has no edge in the next view of the path.
        dead_end: DeadEnd = DeadEnd::Skip;
    } with {
        /// Walks, and the training on them. A fixed window gives twice the pairs of a random one.
        skip_gram: SkipGram = SkipGram { dynamic_window: false, ..SkipGram::default() };
    }
}

impl Method for Metapath2Vec {
    fn of_preset(preset: Preset) -> Option<Self> {
        let skip_gram = SkipGram { walks: 80, epochs: 5, dynamic_window: false, ..SkipGram::default() };
        let dead_end = DeadEnd::Stop;
        default_or(Metapath2Vec { skip_gram, dead_end, ..Metapath2Vec::default() }, preset)
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn check(&self) -> Result<()> {
        self.check_limits()?;
        if self.metapath.as_ref().is_some_and(Vec::is_empty) {
            return Err(Error::config(format!(
                "{} is empty; name at least one view, or leave it out to use all views in turn",
                option("metapath")
            )));
        }
        self.skip_gram.check()
    }

    fn run(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        let SkipGram { walks, length, weighted, .. } = self.skip_gram;
        let network = task.network;
        let path = self.path(network)?;
        // The key does not depend on the names of the views: renaming them does not change the vectors.
        let key = task.key("metapath2vec");
        let walks = Walks::new(path.into_iter(), weighted, self.dead_end, (walks, length), key.with(0));
        let vectors = self.skip_gram.run(task, &walks, key.with(1), Clash::Skip)?;
        Ok(Found { vectors, ..Found::default() })
    }
}

impl Metapath2Vec {
    /// Returns the views of the path.
    fn path<'a>(&self, network: &'a Network) -> Result<Vec<&'a View>> {
        let Some(names) = &self.metapath else { return Ok(network.views().iter().collect()) };
        let find = |name: &String| {
            network.views().iter().find(|view| view.name == *name).ok_or_else(|| {
                let known: Vec<&str> = network.views().iter().map(|view| view.name.as_str()).collect();
                Error::config(format!(
                    "{} names {name:?}, which is not a view; the views are {}",
                    option("metapath"),
                    known.join(", ")
                ))
            })
        };
        names.iter().map(find).collect()
    }
}

/// Returns the paths through K views that are usually tried, as indices of views: every pair, then all views in order.
///
/// Paths of one view are not included: they are DeepWalk.
pub fn usual_paths(views: usize) -> Vec<Vec<usize>> {
    let pairs = (0..views).flat_map(|first| (first + 1..views).map(move |second| vec![first, second]));
    let all = (views != 2).then(|| (0..views).collect());
    pairs.chain(all).collect()
}

/// Returns all paths that have no view twice, short paths first. Walks repeat the path, and follow edges in both
/// directions, so a path that is a rotation or the reverse of another one is left out: 3 paths for two views, 7 for
/// three, 218 for six.
///
/// The number grows like the number of permutations of the views: 556,069 for ten.
pub fn all_paths(views: usize) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    for first in 0..views {
        extend(&mut vec![first], views, &mut found);
    }
    found.sort_by_key(Vec::len);
    found
}

/// Adds the paths that begin with `path`. Of all rotations, only the one that begins with its smallest view is added;
/// of both directions, the one whose second view is smaller than its last.
fn extend(path: &mut Vec<usize>, views: usize, found: &mut Vec<Vec<usize>>) {
    if path.len() <= 2 || path[1] < path[path.len() - 1] {
        found.push(path.clone());
    }
    for next in path[0] + 1..views {
        if !path.contains(&next) {
            path.push(next);
            extend(path, views, found);
            path.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{fit, network, try_fit};

    #[test]
    fn paths_are_as_many_as_the_formula_says() {
        assert_eq!([1, 2, 3, 6].map(|views| usual_paths(views).len()), [1, 1, 4, 16]);
        assert_eq!(usual_paths(3), [vec![0, 1], vec![0, 2], vec![1, 2], vec![0, 1, 2]]);
        assert_eq!([1, 2, 3, 6].map(|views| all_paths(views).len()), [1, 3, 7, 218]);
        assert_eq!(all_paths(2), [vec![0], vec![1], vec![0, 1]]);
    }

    #[test]
    fn no_path_is_another_one_turned_or_reversed() {
        /// The smallest of all rotations of a path and of its reverse.
        fn least(path: &[usize]) -> Vec<usize> {
            let reversed: Vec<usize> = path.iter().rev().copied().collect();
            let rotations = |path: &[usize]| {
                let double = [path, path].concat();
                (0..path.len()).map(|at| double[at..at + path.len()].to_vec()).min()
            };
            rotations(path).min(rotations(&reversed)).unwrap()
        }
        let paths = all_paths(5);
        let mut all: Vec<Vec<usize>> = paths.iter().map(|path| least(path)).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), paths.len());
    }

    type Edges<'a> = &'a [(&'a str, &'a str, f64)];

    fn quick(metapath: &[&str]) -> Metapath2Vec {
        let mut quick = Metapath2Vec { dim: 4, ..Metapath2Vec::default() };
        quick.metapath = Some(metapath.iter().map(|&name| name.to_owned()).collect());
        quick.skip_gram = SkipGram { walks: 2, length: 8, window: 2, ..quick.skip_gram };
        quick
    }

    /// The result follows from the views of a path, not from their positions in the network or their names.
    #[test]
    fn views_in_another_order_give_the_same_vectors_on_the_same_path() {
        let edges: [Edges<'_>; 2] = [
            &[("a", "b", 1.0), ("b", "c", 1.0), ("c", "d", 1.0), ("d", "a", 1.0)],
            &[("a", "c", 1.0), ("b", "d", 1.0), ("a", "d", 1.0)],
        ];
        let nodes = ["a", "b", "c", "d"];
        let vectors = |views: &[(&str, Edges<'_>)], path: &[&str]| -> Vec<Vec<f32>> {
            let found = fit(&quick(path), &Network::from_edges(views).unwrap()).embedding;
            let row = |id: &&str| {
                let node = found.nodes().iter().position(|other| other == *id).unwrap();
                found.row(node).to_vec()
            };
            nodes.iter().map(row).collect()
        };
        let plain = vectors(&[("x", edges[0]), ("y", edges[1])], &["x", "y"]);
        // The nodes are in the same order in both, so the initial vectors are the same.
        assert_eq!(vectors(&[("p", edges[0]), ("q", edges[1])], &["p", "q"]), plain);
        let spare: Edges<'_> = &[("a", "b", 1.0), ("b", "c", 1.0), ("c", "d", 1.0)];
        assert_eq!(vectors(&[("s", spare), ("y", edges[1]), ("x", edges[0])], &["x", "y"]), plain);
        assert_ne!(vectors(&[("x", edges[0]), ("y", edges[1])], &["y", "x"]), plain);
    }

    /// Half of the nodes have edges in one view only.
    #[test]
    fn every_node_with_an_edge_gets_a_vector_unless_walks_stop() {
        let network = Network::from_edges(&[
            ("x", &[("a", "b", 1.0), ("b", "c", 1.0), ("c", "a", 1.0)]),
            ("y", &[("d", "e", 1.0), ("e", "f", 1.0), ("f", "d", 1.0)]),
        ])
        .unwrap();
        let zero = |dead_end: DeadEnd| {
            let found = fit(&Metapath2Vec { dead_end, ..quick(&["x", "y"]) }, &network);
            let zero = |row: &usize| found.embedding.row(*row).iter().all(|&x| x == 0.0);
            let warned = found.warnings.iter().any(|warning| {
                let message = warning.message.to_string();
                message.starts_with("3 of 6 vectors of") && message.contains("the first that of \"d\"")
            });
            ((0..6).filter(zero).count(), warned)
        };
        assert_eq!(zero(DeadEnd::Stop), (3, true));
        assert_eq!(zero(DeadEnd::Skip), (0, false));
        assert_eq!(Metapath2Vec::default().dead_end, DeadEnd::Skip);
        assert_eq!(Metapath2Vec::of_preset(Preset::Paper).unwrap().dead_end, DeadEnd::Stop);
    }

    #[test]
    fn paths_that_lead_nowhere_are_refused() {
        let network = network();
        let message = try_fit(&quick(&["view1", "views"]), &network).unwrap_err().to_string();
        assert_eq!(
            message,
            "metapath names \"views\", which is not a view; the views are view1, view2, view3"
        );
        let message = try_fit(&quick(&[]), &network).unwrap_err().to_string();
        assert!(message.starts_with("metapath is empty"), "{message}");
    }
}
