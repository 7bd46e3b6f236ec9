//! DeepWalk: skip-gram on the random walks of one view (Perozzi et al., 2014).
//!
//! The default trains on 10 walks per node, which take a minute where the 80 of the papers take ten; both use negative
//! sampling and one epoch. The published code differs: `softmax = "both"`, `epochs = 5`, `subsample = 0.001`.

use manyview_base::error::Result;
use manyview_base::random::{Key, text_key};
use manyview_base::settings;
use manyview_base::settings::Settings;
use manyview_core::method::{Found, Method, Task};
use manyview_core::preset::{Preset, largest_dim};
use manyview_data::network::{Network, View};

use crate::sgd::Clash;
use crate::skipgram::SkipGram;
use crate::walks::{DeadEnd, Walks};
use crate::{default_or, each_view};

settings! {
    /// Settings of DeepWalk.
    pub struct DeepWalk {
        /// The number of columns per view.
        dim: usize = 256 => at_least(1.0).at_most(largest_dim()).hint("the usual choice is 256");
    } with {
        /// Walks, and the training on them.
        skip_gram: SkipGram = SkipGram::default();
    }
}

impl Method for DeepWalk {
    fn of_preset(preset: Preset) -> Option<Self> {
        let skip_gram = SkipGram { walks: 80, ..SkipGram::default() };
        default_or(DeepWalk { skip_gram, ..DeepWalk::default() }, preset)
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn check(&self) -> Result<()> {
        self.check_limits()?;
        self.skip_gram.check()
    }

    fn run(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        each_view(task, |view, task| {
            let view = &task.network.views()[view];
            let key = task.view_key("deepwalk", &view.name);
            let walks = self.walks(view, key);
            let vectors = self.skip_gram.run(task, &walks, key.with(1), Clash::Skip)?;
            Ok(Found { vectors, ..Found::default() })
        })
    }
}

impl DeepWalk {
    fn walks<'a>(&self, view: &'a View, key: Key) -> Walks<'a> {
        let SkipGram { walks, length, weighted, .. } = self.skip_gram;
        Walks::new(std::iter::once(view), weighted, DeadEnd::Stop, (walks, length), key.with(0))
    }
}

/// Returns all walks of a network's first view with seed 0, for benchmarks.
pub fn walks_of(network: &Network, settings: &DeepWalk) -> Vec<Vec<u32>> {
    let view = &network.views()[0];
    let key = Key::new(0).with(text_key("deepwalk")).with(text_key(&view.name));
    let walks = settings.walks(view, key);
    let walk = |number| {
        let mut nodes = Vec::new();
        walks.walk(number, &mut nodes);
        nodes
    };
    (0..walks.count()).map(walk).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Softmax;
    use crate::tests::{fit, fit_on};
    use manyview_data::generate::Planted;

    /// Two cliques in the first view, and an additional node in the second.
    fn cliques() -> Network {
        let names: Vec<(String, String)> = (0..8)
            .flat_map(|a| (0..a).map(move |b| (a, b)))
            .flat_map(|(a, b)| ["a", "b"].map(|clique| (format!("{clique}{a}"), format!("{clique}{b}"))))
            .collect();
        let edges: Vec<(&str, &str, f64)> =
            names.iter().map(|(a, b)| (a.as_str(), b.as_str(), 1.0)).collect();
        Network::from_edges(&[("cliques", &edges), ("other", &[("a0", "alone", 1.0)])]).unwrap()
    }

    #[test]
    fn two_cliques_can_be_told_apart_by_a_plane() {
        let network = cliques();
        for softmax in Softmax::ALL {
            let skip_gram = SkipGram { walks: 40, epochs: 3, softmax, ..SkipGram::default() };
            let found = fit(&DeepWalk { dim: 8, skip_gram }, &network).embedding;
            let rows = |first: char| {
                let ids = network.nodes().iter().enumerate();
                let of = ids.filter(move |(_, id)| id.starts_with(first) && *id != "alone");
                of.map(|(node, _)| &found.row(node)[..8]).collect::<Vec<&[f32]>>()
            };
            let (a, b) = (rows('a'), rows('b'));
            let sum = |rows: &[&[f32]], col: usize| rows.iter().map(|row| row[col]).sum::<f32>();
            let normal: Vec<f32> = (0..8).map(|col| sum(&a, col) - sum(&b, col)).collect();
            let along = |row: &&[f32]| row.iter().zip(&normal).map(|(x, y)| x * y).sum::<f32>();
            let lowest = a.iter().map(along).fold(f32::MAX, f32::min);
            let highest = b.iter().map(along).fold(f32::MIN, f32::max);
            assert!(lowest > highest, "{softmax:?}: {lowest} and {highest}");
            let alone = network.nodes().iter().position(|id| id == "alone").unwrap();
            assert!(found.row(alone)[..8].iter().all(|&x| x == 0.0), "no edge in the first view");
            assert!(found.row(alone)[8..].iter().any(|&x| x != 0.0));
        }
    }

    /// Enough nodes for several parts, which threads then share.
    #[test]
    fn threads_change_no_bit_of_larger_networks() {
        let planted = Planted { nodes: 1100, views: 1, communities: 5, ..Planted::default() };
        let network = planted.generate().unwrap().network().unwrap();
        let skip_gram = SkipGram { walks: 2, length: 10, window: 3, ..SkipGram::default() };
        let settings = DeepWalk { dim: 5, skip_gram };
        let on = |threads| fit_on(&settings, &network, 0, threads).embedding;
        assert_eq!(on(1), on(3));
    }
}
