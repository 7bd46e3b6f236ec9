//! PTE: the source of an edge predicts its target; each node has one target vector for all views.
//!
//! `L = - sum_k sum_(u,v) in E_k w_uv log p_k(v | u)`, `p_k(v | u) ~ exp(c_u x_v)`: second-order LINE on every view,
//! where all views share the table x, which is the embedding. Negative samples of a view are drawn by the weight of the
//! nodes' incoming edges in the view, to the power of 3/4; a sample that is the target itself is skipped. Every view
//! trains on the same number of edges, whatever its size.
//!
//! After Tang, Qu and Mei (2015), without their network of labels: unsupervised.

use manyview_base::error::Result;
use manyview_base::{named, settings};
use manyview_core::method::{Found, Method, Task};
use manyview_core::preset::{Preset, largest_dim};

use crate::default_or;
use crate::edges::{Edges, MOST_SAMPLES, Turns, Weights, add_shares, by_name, line_rate, samples_of};
use crate::sgd::{Clash, Corpus, Negatives, Noise, Pair, Parts, Table, Tables, Training, train};

settings! {
    /// Settings of PTE.
    pub struct Pte {
        /// The number of columns of the embedding.
        dim: usize = 256 => at_least(1.0).at_most(largest_dim()).hint("the usual choice is 256");
        /// The number of edges to train on, of all views together.
        samples: Option<usize> = None
            => at_least(1.0).at_most(MOST_SAMPLES).absent("2,500 per node").hint("the usual choice is 2,500 per node");
        /// The number of negative samples per edge.
        negative: usize = 5 => at_least(1.0).at_most(1000.0).hint("the usual choice is 5");
        /// The initial learning rate; it decreases linearly to 1/10,000 of this.
        rate: f64 = 0.025 => above(0.0).at_most(1.0).hint("the usual choice is 0.025");
        /// Whether views share the source vectors of nodes.
        sources: Sources = Sources::Shared;
    }
}

named! {
    /// Which views share source vectors.
    pub enum Sources {
        Shared = "shared", "one source vector per node for all views, as in the original program when views have the same nodes";
        PerView = "per-view", "a separate source vector per node in each view";
    }
}

impl Method for Pte {
    fn of_preset(preset: Preset) -> Option<Self> {
        default_or(Pte { samples: Some(300_000_000), ..Pte::default() }, preset)
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn run(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        let trained = self.train(task)?;
        let keep = |node: usize| trained.incoming[node] > 0.0;
        Ok(Found { vectors: trained.targets.to_vec(keep), ..Found::default() })
    }
}

/// The tables after training.
struct Trained {
    targets: Table,
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests read the source vectors"))]
    sources: Vec<Table>,
    /// The weight of the incoming edges of each node in all views; each view counts the same.
    incoming: Vec<f64>,
}

impl Pte {
    /// Returns the edges to train on: the same number of each view.
    fn corpora<'a>(
        &self,
        views: &'a [Edges<'_>],
        nodes: usize,
    ) -> Vec<Corpus<impl Fn(usize, &mut Vec<Pair>) + Sync + use<'a>>> {
        let each = samples_of(self.samples, nodes).div_ceil(views.len());
        views.iter().map(|edges| edges.corpus(each, 1)).collect()
    }

    fn train(&self, task: &mut Task<'_, '_>) -> Result<Trained> {
        let (views, nodes, pool) = (by_name(task), task.network.nodes().len(), task.pool);
        let weights: Vec<Weights> = views.iter().map(|(_, view)| Weights::of(view)).collect();
        let (mut outgoing, mut incoming) = (vec![0.0; nodes], vec![0.0; nodes]);
        for weights in &weights {
            add_shares(&mut outgoing, &weights.outgoing);
            add_shares(&mut incoming, &weights.incoming);
        }
        let (source_parts, target_parts) = (Parts::of(&outgoing), Parts::of(&incoming));
        let noises: Vec<Noise> =
            weights.iter().map(|weights| Noise::of_counts(&target_parts, &weights.incoming)).collect();
        let mut targets = Table::random(target_parts, task.dim, task.key("targets"));
        let mut sources: Vec<Table> = match self.sources {
            Sources::Shared => vec![Table::random(source_parts, task.dim, task.key("sources"))],
            Sources::PerView => views
                .iter()
                .map(|(_, view)| {
                    Table::random(source_parts.clone(), task.dim, task.view_key("sources", &view.name))
                })
                .collect(),
        };

        let keys: Vec<_> = views.iter().map(|(_, view)| task.view_key("edges", &view.name)).collect();
        let all: Vec<Edges<'_>> =
            views.iter().zip(&keys).map(|((_, view), key)| Edges::new(view, key.with(0))).collect();
        let corpora = self.corpora(&all, nodes);
        let turns =
            Turns::new(corpora.iter().map(|corpus| corpus.blocks).collect(), corpora[0].block_pairs, 1);
        for turn in turns.all() {
            for (view, corpus) in corpora.iter().enumerate() {
                let negatives = Negatives { noise: &noises[view], count: self.negative, clash: Clash::Skip };
                let key = keys[view].with(1);
                let training = Training { negatives, rate: line_rate(self.rate), key, pool };
                let own = if sources.len() == 1 { 0 } else { view };
                let mut tables = Tables::Two { inputs: &mut sources[own], outputs: &mut targets };
                let watch = &mut |own: f64| task.tell("training", turns.done(view, turn, own));
                train(&mut tables, corpus, turns.blocks(view, turn), &training, &|_, _, _| (), watch)?;
            }
        }
        Ok(Trained { targets, sources, incoming })
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::tests::network;
    use manyview_base::parallel::Pool;
    use manyview_base::random::Key;
    use manyview_core::method::Progress;
    use manyview_data::Network;
    use manyview_data::network::{Duplicates, NetworkBuilder};

    fn trained(network: &Network, dim: usize, settings: &Pte) -> Trained {
        let pool = Pool::new(Some(2)).unwrap();
        let mut go_on = |_: &Progress<'_>| ControlFlow::Continue(());
        settings.train(&mut Task::new(network, dim, 5, &pool, None, &mut go_on)).unwrap()
    }

    /// Views that have all pairs of six nodes as edges, with different weights from 1 to 4.
    fn complete(views: usize) -> Network {
        let mut builder = NetworkBuilder::with_nodes((0..6).map(|node| node.to_string())).unwrap();
        for view in 0..views {
            let view = builder.add_view(&format!("v{view}"), false, Duplicates::Sum).unwrap();
            for (a, b) in (0..6u32).flat_map(|a| (0..a).map(move |b| (a, b))) {
                builder.add_edge(view, a, b, f64::from((a * 7 + b * 3 + view as u32) % 4 + 1)).unwrap();
            }
        }
        builder.build().unwrap()
    }

    /// The gradient vanishes where `c_u x_v = log(w_uv Q / (b (d_u - w_uv) q_v))`, with `q_v = d_v^0.75` and Q their
    /// sum; `d_u - w_uv`, because a negative that is the target is skipped.
    #[test]
    fn products_go_to_the_optimum() {
        let settings = Pte {
            samples: Some(3_000_000),
            negative: 3,
            rate: 0.05,
            sources: Sources::PerView,
            ..Pte::default()
        };
        let network = complete(1);
        let found = trained(&network, 8, &settings);
        let adjacency = &network.views()[0].adjacency;
        let degrees = Weights::of(&network.views()[0]).outgoing;
        let noise: Vec<f64> = degrees.iter().map(|degree| degree.powf(0.75)).collect();
        let whole: f64 = noise.iter().sum();
        for (u, degree) in degrees.iter().enumerate() {
            for (&v, &weight) in adjacency.row(u).0.iter().zip(adjacency.row(u).1) {
                let pairs = found.sources[0].row(u).iter().zip(found.targets.row(v as usize));
                let product: f32 = pairs.map(|(c, x)| c * x).sum();
                let optimum = (weight * whole / (3.0 * (degree - weight) * noise[v as usize])).ln();
                assert!((f64::from(product) - optimum).abs() < 0.2, "{u} {v}: {product} and {optimum}");
            }
        }
    }

    /// With one view, PTE is second-order LINE, trained in one call, whose contexts are the result.
    #[test]
    fn one_view_is_line_of_the_second_order_with_the_tables_swapped() {
        let network = network().only(0);
        let settings = Pte { samples: Some(20_000), ..Pte::default() };
        let found = trained(&network, 8, &settings);
        let pool = Pool::new(Some(1)).unwrap();
        let mut go_on = |_: &Progress<'_>| ControlFlow::Continue(());
        let task = Task::new(&network, 8, 5, &pool, None, &mut go_on);
        let key = task.view_key("edges", &network.views()[0].name);
        let parts = Parts::one(40);
        let noise = Noise::of_counts(&parts, &Weights::of(&network.views()[0]).incoming);
        let mut vectors = Table::random(parts.clone(), 8, task.key("sources"));
        let mut contexts = Table::random(parts, 8, task.key("targets"));
        let drawn = Edges::new(&network.views()[0], key.with(0));
        let corpus = drawn.corpus(20_000, 1);
        let negatives = Negatives { noise: &noise, count: 5, clash: Clash::Skip };
        let training = Training { negatives, rate: line_rate(0.025), key: key.with(1), pool: &pool };
        let mut tables = Tables::Two { inputs: &mut vectors, outputs: &mut contexts };
        train(&mut tables, &corpus, 0..corpus.blocks, &training, &|_, _, _| (), &mut |_| Ok(())).unwrap();
        assert_eq!(found.targets.to_vec(|_| true), contexts.to_vec(|_| true));
        assert_eq!(found.sources[0].to_vec(|_| true), vectors.to_vec(|_| true));
    }

    #[test]
    fn views_of_any_size_train_on_as_many_edges() {
        let network = network();
        let few = Network::from_edges(&[("few", &[("a", "b", 1.0)])]).unwrap();
        let views = [&network.views()[0], &few.views()[0]].map(|view| Edges::new(view, Key::new(1)));
        for (samples, each) in [(Some(5001), 2501), (None, 1250 * 40)] {
            let settings = Pte { samples, ..Pte::default() };
            for corpus in settings.corpora(&views, 40) {
                let mut pairs = Vec::new();
                (0..corpus.blocks).for_each(|block| (corpus.fill)(block, &mut pairs));
                assert_eq!(pairs.len(), each);
            }
        }
    }

    #[test]
    fn the_order_of_views_does_not_count() {
        let network = complete(2);
        let turned = Network::new(network.nodes().clone(), network.views().iter().rev().cloned().collect());
        for sources in Sources::ALL {
            let settings = Pte { samples: Some(5000), sources, ..Pte::default() };
            let vectors = |network: &Network| trained(network, 4, &settings).targets.to_vec(|_| true);
            assert_eq!(vectors(&network), vectors(&turned));
            let tables = trained(&network, 4, &settings).sources;
            assert_eq!(tables.len(), if sources == Sources::Shared { 1 } else { 2 });
        }
    }

    #[test]
    fn each_bad_setting_is_named() {
        let base = Pte::default;
        let bad = [
            (Pte { samples: Some(0), ..base() }, "samples = 0"),
            (Pte { negative: 0, ..base() }, "negative = 0"),
            (Pte { rate: 0.0, ..base() }, "rate = 0"),
            (Pte { rate: f64::NAN, ..base() }, "rate = NaN"),
        ];
        for (settings, words) in bad {
            let message = settings.check().unwrap_err().to_string();
            assert!(message.starts_with(words), "{message}");
        }
    }
}
