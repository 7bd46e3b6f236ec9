//! metapath2vec with one type of node: skip-gram over walks that take the views in turn (Dong et al., 2017).
//!
//! A path is a list of views. Step t of a walk goes along an edge of view `t mod m`, so on a path of one view this is
//! DeepWalk with a fixed window. With one type of node, metapath2vec++ is the same as metapath2vec.

use serde::{Deserialize, Serialize};

use super::skipgram::SkipGram;
use super::walks::{DeadEnd, Walks};
use super::{Found, Rival, Task};
use crate::sgd::Clash;
use manyview_base::error::{Error, Result};
use manyview_data::network::{Network, View};

/// Settings of metapath2vec.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metapath2Vec {
    /// Names of views in the order in which walks take them, again and again; all views in their order when not given.
    pub metapath: Option<Vec<String>>,
    /// What happens where the view whose turn it is has no edge.
    pub dead_end: DeadEnd,
    /// Walks, and the training on them.
    #[serde(flatten)]
    pub skip_gram: SkipGram,
}

impl Default for Metapath2Vec {
    fn default() -> Self {
        // A fixed window has twice the pairs of a drawn one.
        let skip_gram = SkipGram { dynamic_window: false, ..SkipGram::default() };
        Metapath2Vec { metapath: None, dead_end: DeadEnd::Stop, skip_gram }
    }
}

impl Rival for Metapath2Vec {
    fn paper() -> Self {
        let skip_gram = SkipGram { walks: 80, epochs: 5, dynamic_window: false, ..SkipGram::default() };
        Metapath2Vec { skip_gram, ..Metapath2Vec::default() }
    }

    fn check(&self) -> Result<()> {
        if self.metapath.as_ref().is_some_and(Vec::is_empty) {
            return Err(Error::config(
                "metapath has no view: name at least one, or leave it out to take all in turn",
            ));
        }
        self.skip_gram.check()
    }

    fn fit(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        let SkipGram { walks, length, weighted, .. } = self.skip_gram;
        let network = task.network;
        let path = self.path(network)?;
        // Not the names: the same path through views that are called otherwise gives the same vectors.
        let key = task.key("metapath2vec");
        let walks = Walks::new(path.into_iter(), weighted, self.dead_end, (walks, length), key.with(0));
        let vectors = self.skip_gram.fit(task, &walks, key.with(1), Clash::Skip)?;
        Ok(Found { vectors, ..Found::default() })
    }
}

impl Metapath2Vec {
    /// The views of the path.
    fn path<'a>(&self, network: &'a Network) -> Result<Vec<&'a View>> {
        let Some(names) = &self.metapath else { return Ok(network.views().iter().collect()) };
        let find = |name: &String| {
            network.views().iter().find(|view| view.name == *name).ok_or_else(|| {
                let known: Vec<&str> = network.views().iter().map(|view| view.name.as_str()).collect();
                Error::config(format!(
                    "metapath names {name:?}, which is no view; there are {}",
                    known.join(", ")
                ))
            })
        };
        names.iter().map(find).collect()
    }
}

/// The paths through K views that are worth a try, as places of views: every pair, then all in order.
///
/// One view is not among them: that is DeepWalk.
pub fn usual_paths(views: usize) -> Vec<Vec<usize>> {
    let pairs = (0..views).flat_map(|first| (first + 1..views).map(move |second| vec![first, second]));
    let all = (views != 2).then(|| (0..views).collect());
    pairs.chain(all).collect()
}

/// All paths without a view twice, short ones first. Walks go round and round, and both ways along an edge, so a path
/// that is another one turned or reversed is left out: 3 for two views, 7 for three, 218 for six.
///
/// The number grows like that of all orders of the views: 556,069 for ten.
pub fn all_paths(views: usize) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    for first in 0..views {
        extend(&mut vec![first], views, &mut found);
    }
    found.sort_by_key(Vec::len);
    found
}

/// Adds the paths that begin with `path`, whose first view is its smallest (of all turns, that one) and whose second is
/// smaller than its last (of both directions, that one).
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
    use serde_json::json;

    use super::*;
    use crate::{Method, Model};
    use manyview_core::config::Preset;

    #[test]
    fn paths_are_as_many_as_the_formula_says() {
        assert_eq!([1, 2, 3, 6].map(|views| usual_paths(views).len()), [1, 1, 4, 16]);
        assert_eq!(usual_paths(3), [vec![0, 1], vec![0, 2], vec![1, 2], vec![0, 1, 2]]);
        assert_eq!([1, 2, 3, 6].map(|views| all_paths(views).len()), [1, 3, 7, 218]);
        assert_eq!(all_paths(2), [vec![0], vec![1], vec![0, 1]]);
    }

    #[test]
    fn no_path_is_another_one_turned_or_reversed() {
        /// The smallest of all turns of a path and of its reverse.
        fn least(path: &[usize]) -> Vec<usize> {
            let reversed: Vec<usize> = path.iter().rev().copied().collect();
            let turns = |path: &[usize]| {
                let double = [path, path].concat();
                (0..path.len()).map(|at| double[at..at + path.len()].to_vec()).min()
            };
            turns(path).min(turns(&reversed)).unwrap()
        }
        let paths = all_paths(5);
        let mut all: Vec<Vec<usize>> = paths.iter().map(|path| least(path)).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), paths.len());
    }

    type Edges<'a> = &'a [(&'a str, &'a str, f64)];

    fn model(metapath: &[&str]) -> Model {
        let values = json!({"dim": 4, "walks": 2, "length": 8, "window": 2, "metapath": metapath});
        Model::new(Method::Metapath2Vec, Preset::Default, values.as_object().unwrap()).unwrap()
    }

    /// A path means its views and not their places in the file, nor their names.
    #[test]
    fn views_in_another_order_give_the_same_vectors_on_the_same_path() {
        let edges: [Edges<'_>; 2] = [
            &[("a", "b", 1.0), ("b", "c", 1.0), ("c", "d", 1.0), ("d", "a", 1.0)],
            &[("a", "c", 1.0), ("b", "d", 1.0), ("a", "d", 1.0)],
        ];
        let nodes = ["a", "b", "c", "d"];
        let fit = |views: &[(&str, Edges<'_>)], path: &[&str]| -> Vec<Vec<f32>> {
            let found = model(path).fit(&Network::from_edges(views).unwrap()).unwrap().embedding;
            let row = |id: &&str| {
                let node = found.nodes().iter().position(|other| other == *id).unwrap();
                found.row(node).to_vec()
            };
            nodes.iter().map(row).collect()
        };
        let plain = fit(&[("x", edges[0]), ("y", edges[1])], &["x", "y"]);
        // Both orders name the nodes in the same order, so that start vectors are the same.
        assert_eq!(fit(&[("p", edges[0]), ("q", edges[1])], &["p", "q"]), plain);
        let spare: Edges<'_> = &[("a", "b", 1.0), ("b", "c", 1.0), ("c", "d", 1.0)];
        assert_eq!(fit(&[("s", spare), ("y", edges[1]), ("x", edges[0])], &["x", "y"]), plain);
        assert_ne!(fit(&[("x", edges[0]), ("y", edges[1])], &["y", "x"]), plain);
    }

    #[test]
    fn paths_that_lead_nowhere_are_refused() {
        let network = crate::tests::network();
        let told = model(&["view1", "views"]).fit(&network).unwrap_err().to_string();
        assert_eq!(told, "metapath names \"views\", which is no view; there are view1, view2, view3");
        let told = model(&[]).fit(&network).unwrap_err().to_string();
        assert!(told.starts_with("metapath has no view"), "{told}");
    }
}
