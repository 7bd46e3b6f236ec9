//! Planted multi-view networks of any size, for experiments, tests and benchmarks.
//!
//! Every node has a community common to all views, and in each view a second community specific to that view. A share
//! `noise` of the edges of a view has random ends. Of the others, a share `consensus` is within the common
//! communities and the rest within those of the view. A method that finds what the views have in common recovers the
//! labels. One that also keeps what is unique can recover the partitions of the views.
//!
//! Invariant: the network depends only on the settings, with the same bytes for any number of threads. Each view has
//! its own random numbers, so it does not change when views are added.

mod edges;
mod write;

use rayon::prelude::*;

use crate::network::{Duplicates, Network, NetworkBuilder, Nodes};
use edges::{Plan, draw_edges};
use manyview_base::error::{Error, Result};
use manyview_base::message::{option, option_value};
use manyview_base::parallel::Pool;
use manyview_base::random::{Key, Stream, open_unit_f64, text_key};

/// First coordinates of the random numbers, one per use.
#[derive(Clone, Copy)]
enum Use {
    Partition,
    Activity,
    Presence,
    Edges,
    Weights,
}

impl Use {
    fn of(self, key: Key) -> Key {
        key.with(self as u64)
    }
}

/// The maximum number of views, the same as for a table that is read.
const MOST_VIEWS: usize = 1000;

/// The maximum skew. Larger values put all edges on a few nodes and eventually underflow.
const STEEPEST: f64 = 10.0;

/// The settings of a planted network. The defaults give a thousand nodes in three views.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Planted {
    /// The number of nodes, 1000 by default.
    pub nodes: usize,
    /// The number of views, 3 by default.
    pub views: usize,
    /// The number of communities, 10 by default. Their sizes differ by at most one.
    pub communities: usize,
    /// The average degree of the nodes present in a view: one value for all views (10 by default) or one per view.
    pub degree: Vec<f64>,
    /// The share of edges with random ends: one value for all views (0.1 by default) or one per view.
    pub noise: Vec<f64>,
    /// The share of the other edges that are within the communities common to all views, 0.5 by default. The rest are
    /// within the communities of the view.
    pub consensus: f64,
    /// The share of nodes missing from each view, drawn separately for each; 0 by default.
    pub absent: f64,
    /// With 0, the default, all nodes have the same activity. Otherwise the node of rank r has activity r^-skew, the
    /// same in all views.
    pub skew: f64,
    /// Whether edges have weights: exponential with mean 1 in steps of 0.001, unrelated to the communities.
    pub weighted: bool,
    /// The random seed.
    pub seed: u64,
}

impl Default for Planted {
    fn default() -> Self {
        Planted {
            nodes: 1000,
            views: 3,
            communities: 10,
            degree: vec![10.0],
            noise: vec![0.1],
            consensus: 0.5,
            absent: 0.0,
            skew: 0.0,
            weighted: false,
            seed: 0,
        }
    }
}

/// A network with known communities.
#[derive(Clone, Debug, PartialEq)]
pub struct PlantedNetwork {
    /// The settings.
    pub settings: Planted,
    /// The common community of each node.
    pub labels: Vec<u32>,
    /// The views, in order.
    pub views: Vec<PlantedView>,
}

/// One view of a planted network.
#[derive(Clone, Debug, PartialEq)]
pub struct PlantedView {
    /// `view1`, `view2`, ...
    pub name: String,
    /// Distinct pairs in ascending order, each with the lower node first.
    pub edges: Vec<(u32, u32)>,
    /// A weight above zero for each edge, if the network is weighted.
    pub weights: Option<Vec<f32>>,
    /// The community of each node that is specific to the view.
    pub labels: Vec<u32>,
}

impl Planted {
    /// Generates the network on all cores; see [`Planted::generate_on`].
    ///
    /// # Errors
    /// Those of [`Planted::generate_on`].
    pub fn generate(&self) -> Result<PlantedNetwork> {
        self.check()?;
        self.generate_on(&Pool::new(None)?)
    }

    /// Generates the network on the threads of the pool, in time about linear in its edges.
    ///
    /// Every view has exactly `present nodes x degree / 2` edges, rounded. If the communities have too few pairs for
    /// their share, random pairs are used instead.
    ///
    /// # Errors
    /// [`Error::Config`] when the settings cannot work.
    pub fn generate_on(&self, pool: &Pool) -> Result<PlantedNetwork> {
        self.check()?;
        Ok(pool.run(|| self.draw()))
    }

    fn draw(&self) -> PlantedNetwork {
        let labels = self.partition(Key::new(self.seed));
        let activity = self.activity();
        let views = (0..self.views).into_par_iter().map(|view| self.view(view, &labels, &activity)).collect();
        PlantedNetwork { settings: self.clone(), labels, views }
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// [`Error::Config`] when they cannot work.
    pub fn check(&self) -> Result<()> {
        let refuse = |message: String| Err(Error::config(message));
        if self.nodes == 0 || self.nodes > u32::MAX as usize {
            return refuse(format!(
                "{} must be between 1 and {}",
                option_value("nodes", self.nodes),
                u32::MAX
            ));
        }
        if self.views == 0 || self.views > MOST_VIEWS {
            return refuse(format!(
                "{} must be between 1 and {MOST_VIEWS}",
                option_value("views", self.views)
            ));
        }
        if self.communities == 0 || self.communities > self.nodes {
            return refuse(format!(
                "{} must be between 1 and {}, the number of nodes",
                option_value("communities", self.communities),
                self.nodes
            ));
        }
        self.check_lists()?;
        if !(0.0..=1.0).contains(&self.consensus) {
            return refuse(format!("{} must be between 0 and 1", option_value("consensus", self.consensus)));
        }
        if !(0.0..1.0).contains(&self.absent) {
            return refuse(format!("{} must be at least 0 and below 1", option_value("absent", self.absent)));
        }
        if !(0.0..=STEEPEST).contains(&self.skew) {
            return refuse(format!("{} must be between 0 and {STEEPEST}", option_value("skew", self.skew)));
        }
        self.check_room()
    }

    fn check_lists(&self) -> Result<()> {
        for (name, values) in [("degree", &self.degree), ("noise", &self.noise)] {
            if values.len() != 1 && values.len() != self.views {
                return Err(Error::config(format!(
                    "{} has {} values for {} views; give one value for all views or one per view",
                    option(name),
                    values.len(),
                    self.views
                )));
            }
        }
        if let Some(degree) = self.degree.iter().find(|degree| !(degree.is_finite() && **degree > 0.0)) {
            return Err(Error::config(format!(
                "{} must be a number above 0",
                option_value("degree", degree)
            )));
        }
        if let Some(noise) = self.noise.iter().find(|noise| !(0.0..=1.0).contains(*noise)) {
            return Err(Error::config(format!("{} must be between 0 and 1", option_value("noise", noise))));
        }
        Ok(())
    }

    /// Checks that there are enough pairs of nodes for the edges.
    fn check_room(&self) -> Result<()> {
        let present = self.present();
        let pairs = present as u64 * (present as u64).saturating_sub(1) / 2;
        for view in 0..self.views {
            // Compared as floats, because a degree of 1e300 does not fit into an integer.
            if self.edges(view) > pairs as f64 {
                return Err(Error::config(format!(
                    "{} is too high for {}: its {present} nodes have {pairs} pairs; use at most {}",
                    option_value("degree", per_view(&self.degree, view)),
                    view_name(view),
                    present.saturating_sub(1)
                )));
            }
        }
        Ok(())
    }

    /// Returns the number of nodes in each view.
    fn present(&self) -> usize {
        self.nodes - (self.nodes as f64 * self.absent).round() as usize
    }

    /// Returns the number of edges of a view, an integer.
    fn edges(&self, view: usize) -> f64 {
        (self.present() as f64 * per_view(&self.degree, view) / 2.0).round()
    }

    fn view(&self, view: usize, labels: &[u32], activity: &[f64]) -> PlantedView {
        let name = view_name(view);
        let key = Key::new(self.seed).with(text_key(&name));
        let own = self.partition(key);
        let total = self.edges(view) as usize;
        let random = (total as f64 * per_view(&self.noise, view)).round() as usize;
        let common = ((total - random) as f64 * self.consensus).round() as usize;
        let plan = Plan {
            present: self.draw_present(key),
            activity,
            partitions: [(labels, common), (&own, total - random - common)],
            random,
        };
        let edges = draw_edges(&plan, Use::Edges.of(key));
        let weights = self.weighted.then(|| draw_weights(&edges, Use::Weights.of(key)));
        PlantedView { name, edges, weights, labels: own }
    }

    /// Draws communities of equal size with members scattered over all nodes.
    fn partition(&self, key: Key) -> Vec<u32> {
        let mut labels: Vec<u32> = (0..self.nodes).map(|node| (node % self.communities) as u32).collect();
        Stream::new(Use::Partition.of(key)).shuffle(&mut labels);
        labels
    }

    fn activity(&self) -> Vec<f64> {
        if self.skew == 0.0 {
            return vec![1.0; self.nodes];
        }
        // The power of libm instead of that of the system, whose last digit differs between machines.
        let mut activity: Vec<f64> =
            (1..=self.nodes).into_par_iter().map(|rank| libm::pow(rank as f64, -self.skew)).collect();
        Stream::new(Use::Activity.of(Key::new(self.seed))).shuffle(&mut activity);
        activity
    }

    /// Draws the nodes of a view, in ascending order.
    fn draw_present(&self, key: Key) -> Vec<u32> {
        let mut nodes: Vec<u32> = (0..self.nodes as u32).collect();
        if self.present() < self.nodes {
            Stream::new(Use::Presence.of(key)).shuffle(&mut nodes);
            nodes.truncate(self.present());
            nodes.sort_unstable();
        }
        nodes
    }
}

impl PlantedNetwork {
    /// Returns the ids `n0`, `n1`, ... of all nodes, including those without edges.
    pub fn nodes(&self) -> Nodes {
        (0..self.settings.nodes).map(|node| format!("n{node}")).collect()
    }

    /// Converts to a [`Network`], on all cores.
    ///
    /// # Errors
    /// [`Error::Network`] when a view has no edges.
    pub fn network(&self) -> Result<Network> {
        let nodes = self.nodes();
        let mut builder = NetworkBuilder::with_nodes(nodes.iter())?;
        for made in &self.views {
            let view = builder.add_view(&made.name, false, Duplicates::Sum)?;
            for (at, &(source, target)) in made.edges.iter().enumerate() {
                let weight = made.weights.as_ref().map_or(1.0, |weights| f64::from(weights[at]));
                builder.add_edge(view, source, target, weight)?;
            }
        }
        builder.build()
    }
}

fn view_name(view: usize) -> String {
    format!("view{}", view + 1)
}

/// Returns the value for a view from a list with one value for all views or one per view.
fn per_view(values: &[f64], view: usize) -> f64 {
    if values.len() == 1 { values[0] } else { values[view] }
}

/// Draws weights as a function of the two nodes, so that the order of drawing does not matter.
fn draw_weights(edges: &[(u32, u32)], key: Key) -> Vec<f32> {
    edges
        .par_iter()
        .map(|&(a, b)| {
            let exponential = -libm::log(open_unit_f64(key.at(a as usize, b as usize)));
            // Rounded up, so that no weight is zero.
            ((exponential * 1000.0).ceil().max(1.0) / 1000.0) as f32
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn degrees(settings: &Planted, view: &PlantedView) -> Vec<usize> {
        let mut degrees = vec![0; settings.nodes];
        for &(a, b) in &view.edges {
            degrees[a as usize] += 1;
            degrees[b as usize] += 1;
        }
        degrees
    }

    fn share_inside(edges: &[(u32, u32)], labels: &[u32]) -> f64 {
        let inside = edges.iter().filter(|(a, b)| labels[*a as usize] == labels[*b as usize]).count();
        inside as f64 / edges.len() as f64
    }

    fn assert_simple(view: &PlantedView, nodes: usize) {
        assert!(view.edges.iter().all(|&(a, b)| a < b && (b as usize) < nodes), "no loops, lower node first");
        assert!(view.edges.windows(2).all(|pair| pair[0] < pair[1]), "ascending, so distinct");
    }

    #[test]
    fn every_view_has_its_edges_and_no_others() {
        let settings =
            Planted { degree: vec![4.0, 7.3, 20.0], absent: 0.25, weighted: true, ..Planted::default() };
        let network = settings.generate().unwrap();
        let counts: Vec<usize> = network.views.iter().map(|view| view.edges.len()).collect();
        assert_eq!(counts, [1500, 2738, 7500]);
        for view in &network.views {
            assert_simple(view, 1000);
            let touched = degrees(&settings, view).iter().filter(|&&degree| degree > 0).count();
            assert!(touched <= 750, "{touched} nodes have edges, 750 are present");
            let weights = view.weights.as_ref().unwrap();
            assert_eq!(weights.len(), view.edges.len());
            assert!(weights.iter().all(|weight| (0.001..100.0).contains(weight)));
            let mean: f32 = weights.iter().sum::<f32>() / weights.len() as f32;
            assert!((mean - 1.0).abs() < 0.15, "{mean}");
        }
        let absent = |view: usize| degrees(&settings, &network.views[view]).iter().map(|&d| d == 0).collect();
        let (first, last): (Vec<bool>, Vec<bool>) = (absent(0), absent(2));
        assert_ne!(first, last, "the absent nodes are drawn separately for each view");
    }

    #[test]
    fn communities_are_even_and_scattered() {
        let network = Planted { nodes: 103, ..Planted::default() }.generate().unwrap();
        for labels in network.views.iter().map(|view| &view.labels).chain([&network.labels]) {
            let mut sizes = [0; 10];
            labels.iter().for_each(|&label| sizes[label as usize] += 1);
            assert!(sizes.iter().all(|size| (10..=11).contains(size)), "{sizes:?}");
            assert!(labels.windows(2).any(|pair| pair[0] > pair[1]), "not in order");
        }
        assert_ne!(network.views[0].labels, network.views[1].labels);
        assert_ne!(network.views[0].labels, network.labels);
    }

    #[test]
    fn edges_follow_the_communities_in_their_shares() {
        let settings = Planted { nodes: 4000, noise: vec![0.2], consensus: 0.75, ..Planted::default() };
        let network = settings.generate().unwrap();
        for view in &network.views {
            // One tenth of the other edges are within a community by chance.
            let common = share_inside(&view.edges, &network.labels);
            assert!((common - (0.6 + 0.4 * 0.1)).abs() < 0.01, "{common}");
            let own = share_inside(&view.edges, &view.labels);
            assert!((own - (0.2 + 0.8 * 0.1)).abs() < 0.01, "{own}");
        }
        let pure = Planted { noise: vec![0.0], consensus: 1.0, ..Planted::default() }.generate().unwrap();
        assert!(pure.views.iter().all(|view| share_inside(&view.edges, &pure.labels) == 1.0));
        let noise = Planted { noise: vec![1.0], ..Planted::default() }.generate().unwrap();
        assert!(noise.views.iter().all(|view| share_inside(&view.edges, &noise.labels) < 0.15));
    }

    #[test]
    fn skew_makes_the_same_nodes_busy_in_all_views() {
        let settings = Planted { nodes: 2000, skew: 0.8, ..Planted::default() };
        let network = settings.generate().unwrap();
        let all: Vec<Vec<usize>> = network.views.iter().map(|view| degrees(&settings, view)).collect();
        let busiest = |degrees: &[usize]| (0..2000).max_by_key(|&node| degrees[node]).unwrap();
        assert!(all[0][busiest(&all[1])] > 100, "{}", all[0][busiest(&all[1])]);
        let even = Planted { nodes: 2000, ..Planted::default() };
        let even = degrees(&even, &even.generate().unwrap().views[0]);
        assert!(*even.iter().max().unwrap() < 30);
    }

    #[test]
    fn a_view_may_be_complete() {
        for (nodes, skew) in [(2, 0.0), (3, 2.0), (40, 0.0), (40, 10.0)] {
            let settings = Planted {
                nodes,
                communities: 2,
                degree: vec![nodes as f64 - 1.0],
                skew,
                ..Planted::default()
            };
            for view in settings.generate().unwrap().views {
                assert_eq!(view.edges.len(), nodes * (nodes - 1) / 2);
                assert_simple(&view, nodes);
            }
        }
    }

    #[test]
    fn random_pairs_stand_in_when_communities_are_too_small() {
        // Ten communities of four nodes have 60 pairs in each partition, and 400 edges are wanted.
        let settings = Planted { nodes: 40, degree: vec![20.0], noise: vec![0.0], ..Planted::default() };
        let network = settings.generate().unwrap();
        for view in &network.views {
            assert_eq!(view.edges.len(), 400);
            assert_simple(view, 40);
            assert!(
                share_inside(&view.edges, &network.labels) > 55.0 / 400.0,
                "the communities are filled first"
            );
        }
        // Communities of one node have no pairs.
        let alone = Planted { nodes: 50, communities: 50, ..Planted::default() }.generate().unwrap();
        assert!(alone.views.iter().all(|view| view.edges.len() == 250));
    }

    #[test]
    fn threads_do_not_change_the_network() {
        // More edges than a chunk of candidates, so that several threads work.
        let settings = Planted {
            nodes: 20_000,
            views: 2,
            degree: vec![20.0],
            skew: 0.5,
            absent: 0.1,
            ..Planted::default()
        };
        let with = |threads: usize| settings.generate_on(&Pool::new(Some(threads)).unwrap()).unwrap();
        let one = with(1);
        assert!(one == with(2));
        assert!(one == with(3));
    }

    #[test]
    fn views_do_not_depend_on_each_other() {
        let few = Planted { views: 1, ..Planted::default() }.generate().unwrap();
        let more = Planted { views: 3, ..Planted::default() }.generate().unwrap();
        assert_eq!(few.views[0], more.views[0]);
        assert_ne!(more.views[0].edges, more.views[1].edges);
        let other = Planted { seed: 1, ..Planted::default() }.generate().unwrap();
        assert_ne!(other.views[0].edges, more.views[0].edges);
        assert_ne!(other.labels, more.labels);
    }

    #[test]
    fn settings_that_cannot_work_are_told() {
        let told = |settings: Planted| settings.check().unwrap_err().to_string();
        let base = Planted::default;
        assert_eq!(
            told(Planted { nodes: 50, degree: vec![5.0, 60.0, 5.0], absent: 0.2, ..base() }),
            "degree = 60 is too high for view2: its 40 nodes have 780 pairs; use at most 39"
        );
        assert!(Planted { nodes: 50, degree: vec![39.0], absent: 0.2, ..base() }.generate().is_ok());
        assert_eq!(
            told(Planted { degree: vec![5.0, 6.0], ..base() }),
            "degree has 2 values for 3 views; give one value for all views or one per view"
        );
        assert!(told(Planted { nodes: 0, ..base() }).starts_with("nodes = 0 must be between 1 and"));
        assert!(told(Planted { views: 0, ..base() }).starts_with("views = 0"));
        assert!(
            told(Planted { communities: 1001, ..base() })
                .contains("must be between 1 and 1000, the number of nodes")
        );
        assert!(told(Planted { degree: vec![f64::NAN], ..base() }).contains("degree = NaN"));
        assert!(told(Planted { degree: vec![1e300], ..base() }).contains("use at most 999"));
        assert!(
            told(Planted { noise: vec![1.5], ..base() }).starts_with("noise = 1.5 must be between 0 and 1")
        );
        assert!(told(Planted { noise: vec![], ..base() }).starts_with("noise has 0 values"));
        assert!(told(Planted { consensus: -0.1, ..base() }).starts_with("consensus = -0.1"));
        assert!(told(Planted { absent: 1.0, ..base() }).starts_with("absent = 1"));
        assert!(told(Planted { skew: f64::NAN, ..base() }).starts_with("skew = NaN"));
    }
}
