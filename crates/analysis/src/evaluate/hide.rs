//! Hides edges of a network, and draws pairs of nodes that are not edges.
//!
//! Pairs are sorted by a hash of (seed, repeat, ids), and the first of them are hidden. Each node keeps at least one
//! edge per view, since an isolated node could only be guessed. An edge is hidden in both directions. If edges of all
//! views are hidden, it is hidden in every view that has it, so that no other view reveals it.
//!
//! Invariant: a hidden edge is not in the network that is embedded (if one view is tested: not in that view), and a
//! drawn pair is not an edge of the original network (of that view).

use std::collections::HashSet;

use super::links::LinkSettings;
use manyview_base::error::{Error, Result};
use manyview_base::linalg::Csr;
use manyview_base::message::option_value;
use manyview_base::random::{Key, Stream, text_key};
use manyview_data::network::{Network, Nodes, View};

const EDGES: u64 = 0x0065_6467_6573;
const NON_EDGES: u64 = 0x6e6f_6e65;

/// Two nodes, the one with the smaller number first.
pub type Pair = (u32, u32);

/// A network without some of its edges, and the hidden edges.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Hidden {
    /// The remaining network, with all nodes of the original.
    pub network: Network,
    /// The views whose edges were hidden.
    pub views: Vec<HiddenView>,
}

/// The test pairs of one view.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HiddenView {
    /// The name of the view.
    pub view: String,
    /// The hidden edges.
    pub edges: Vec<Pair>,
    /// The same number of pairs that are not edges, between nodes with edges in the view; fewer if the view is nearly
    /// complete.
    pub non_edges: Vec<Pair>,
}

/// The original network and a hash of each node id.
struct Whole<'a> {
    network: &'a Network,
    keys: Vec<u64>,
}

impl LinkSettings {
    /// Hides the edges of one repeat.
    ///
    /// # Errors
    /// If the settings are invalid, the view does not exist, or no edge can be hidden or no other pair drawn.
    pub fn hide(&self, network: &Network, repeat: usize) -> Result<Hidden> {
        self.check()?;
        let asked = self.views(network)?;
        let whole = Whole { network, keys: keys(network.nodes()) };
        let key = Key::new(self.seed).with(repeat as u64);
        let hidden = whole.choose(&asked, self.hide, key.with(EDGES));
        if hidden.iter().all(Vec::is_empty) {
            let names: Vec<String> =
                asked.iter().map(|&view| format!("{:?}", network.views()[view].name)).collect();
            return Err(Error::network(format!(
                "no edge of {} can be hidden: each is the last edge of a node, or {} of the edges rounds to 0",
                names.join(", "),
                option_value("hide", self.hide)
            )));
        }
        let views = asked.iter().zip(&hidden).map(|(&view, edges)| {
            let of = &network.views()[view];
            let others = if asked.len() > 1 { &asked[..] } else { std::slice::from_ref(&view) };
            let key = key.with(NON_EDGES).with(text_key(&of.name));
            let non_edges = whole.draw(view, others, edges.len(), key);
            if non_edges.is_empty() && !edges.is_empty() {
                return Err(Error::network(format!(
                    "view {:?} links nearly all pairs of its nodes, so too few other pairs are left to compare with; \
                     remove the view",
                    of.name
                )));
            }
            Ok(HiddenView { view: of.name.clone(), edges: edges.clone(), non_edges })
        });
        let views: Vec<HiddenView> = views.collect::<Result<_>>()?;
        Ok(Hidden { network: whole.without(&asked, &hidden), views })
    }

    /// The indices of the views whose edges are hidden.
    fn views(&self, network: &Network) -> Result<Vec<usize>> {
        match &self.view {
            None => Ok((0..network.views().len()).collect()),
            Some(wanted) => Ok(vec![network.view_index(wanted)?]),
        }
    }
}

fn keys(nodes: &Nodes) -> Vec<u64> {
    nodes.iter().map(text_key).collect()
}

/// Whether there is an edge between two nodes, in either direction.
fn linked(view: &View, (a, b): Pair) -> bool {
    let has = |from: u32, to: u32| view.adjacency.row(from as usize).0.binary_search(&to).is_ok();
    has(a, b) || (view.directed && has(b, a))
}

/// The pairs linked in a view, each once.
fn pairs(view: &View) -> Vec<Pair> {
    let arcs = (0..view.adjacency.rows() as u32).flat_map(|row| {
        view.adjacency.row(row as usize).0.iter().map(move |&col| (row.min(col), row.max(col)))
    });
    let mut pairs: Vec<Pair> = arcs.collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

impl Whole<'_> {
    /// The pairs to hide in each of the given views.
    fn choose(&self, asked: &[usize], share: f64, key: Key) -> Vec<Vec<Pair>> {
        let of_view: Vec<Vec<Pair>> = asked.iter().map(|&view| pairs(&self.network.views()[view])).collect();
        let mut left: Vec<usize> =
            of_view.iter().map(|pairs| (share * pairs.len() as f64).round() as usize).collect();
        let mut degrees = vec![vec![0u32; self.keys.len()]; asked.len()];
        for (pairs, degrees) in of_view.iter().zip(&mut degrees) {
            for &(a, b) in pairs {
                degrees[a as usize] += 1;
                degrees[b as usize] += 1;
            }
        }
        let mut order = of_view.concat();
        order.sort_unstable();
        order.dedup();
        order.sort_by_cached_key(|&pair| (self.bits(pair, key), pair));
        let mut hidden = vec![Vec::new(); asked.len()];
        for pair in order {
            let (a, b) = (pair.0 as usize, pair.1 as usize);
            let holds: Vec<usize> =
                (0..asked.len()).filter(|&at| of_view[at].binary_search(&pair).is_ok()).collect();
            if holds.iter().any(|&at| left[at] == 0 || degrees[at][a] < 2 || degrees[at][b] < 2) {
                continue;
            }
            for at in holds {
                left[at] -= 1;
                degrees[at][a] -= 1;
                degrees[at][b] -= 1;
                hidden[at].push(pair);
            }
        }
        hidden
    }

    /// Random bits of a pair, independent of the order of its nodes.
    fn bits(&self, (a, b): Pair, key: Key) -> u64 {
        let (a, b) = (self.keys[a as usize], self.keys[b as usize]);
        key.with(a.min(b)).with(a.max(b)).bits()
    }

    /// Draws pairs of nodes of a view that are not linked in any of `others`.
    fn draw(&self, view: usize, others: &[usize], wanted: usize, key: Key) -> Vec<Pair> {
        let views = self.network.views();
        let mut there = vec![false; self.keys.len()];
        for (a, b) in pairs(&views[view]) {
            there[a as usize] = true;
            there[b as usize] = true;
        }
        let mut nodes: Vec<u32> = (0..there.len() as u32).filter(|&node| there[node as usize]).collect();
        // Sorted by id, so that the result does not depend on the numbering of the nodes.
        nodes.sort_by_key(|&node| (self.keys[node as usize], node));
        let mut stream = Stream::new(key);
        let (mut seen, mut found) = (HashSet::new(), Vec::with_capacity(wanted));
        for _ in 0..200 * wanted + 10_000 {
            if found.len() == wanted {
                break;
            }
            let [a, b] = [(); 2].map(|()| nodes[stream.below(nodes.len() as u64) as usize]);
            let pair = (a.min(b), a.max(b));
            if a != b && !others.iter().any(|&other| linked(&views[other], pair)) && seen.insert(pair) {
                found.push(pair);
            }
        }
        found
    }

    /// The network without the hidden pairs.
    fn without(&self, asked: &[usize], hidden: &[Vec<Pair>]) -> Network {
        let views = self.network.views().iter().enumerate().map(|(number, view)| {
            let Some(at) = asked.iter().position(|&asked| asked == number) else { return view.clone() };
            let hidden: HashSet<Pair> = hidden[at].iter().copied().collect();
            View { adjacency: filtered(&view.adjacency, |pair| !hidden.contains(&pair)), ..view.clone() }
        });
        Network::new(self.network.nodes().clone(), views.collect())
    }
}

fn filtered(matrix: &Csr<f64>, keep: impl Fn(Pair) -> bool) -> Csr<f64> {
    let (mut indptr, mut cols, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..matrix.rows() as u32 {
        let (row_cols, row_values) = matrix.row(row as usize);
        for (&col, &value) in row_cols.iter().zip(row_values) {
            if keep((row.min(col), row.max(col))) {
                cols.push(col);
                values.push(value);
            }
        }
        indptr.push(cols.len());
    }
    Csr::new(matrix.cols(), indptr, cols, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_data::generate::Planted;
    use manyview_data::network::{Duplicates, NetworkBuilder};

    /// Two views with common edges; one view is directed.
    fn network() -> Network {
        let planted =
            Planted { nodes: 120, views: 2, communities: 4, ..Planted::default() }.generate().unwrap();
        let mut builder = NetworkBuilder::with_nodes((0..120).map(|node| format!("n{node}"))).unwrap();
        let views = [false, true].map(|directed| {
            builder.add_view(if directed { "v1" } else { "v0" }, directed, Duplicates::Sum).unwrap()
        });
        for (number, view) in planted.views.iter().enumerate() {
            for &(a, b) in &view.edges {
                builder.add_edge(views[number], a, b, 1.0).unwrap();
                if a % 3 == 0 {
                    builder.add_edge(views[1 - number], b, a, 1.0).unwrap();
                }
            }
        }
        builder.build().unwrap()
    }

    #[test]
    fn hidden_edges_are_gone_everywhere_and_no_node_is_lost() {
        let network = network();
        for view in [None, Some("v1".to_owned())] {
            let settings = LinkSettings { view: view.clone(), hide: 0.3, ..LinkSettings::default() };
            let Hidden { network: rest, views } = settings.hide(&network, 1).unwrap();
            assert_eq!(views.len(), if view.is_some() { 1 } else { 2 });
            for test in &views {
                let hidden = network.view_named(&test.view).unwrap();
                let edges = pairs(hidden).len();
                assert!(test.edges.len() * 10 > edges * 2 && test.edges.len() * 10 <= edges * 3 + 10);
                assert_eq!(test.edges.len(), test.non_edges.len());
                assert!(test.edges.iter().all(|&pair| linked(hidden, pair)));
                for (whole, rest) in network.views().iter().zip(rest.views()) {
                    assert_eq!(whole.isolated(), rest.isolated());
                    if view.is_none() || whole.name == test.view {
                        assert!(test.edges.iter().all(|&pair| !linked(rest, pair)));
                        assert!(test.non_edges.iter().all(|&pair| !linked(whole, pair)));
                    }
                }
            }
            assert_eq!(rest.nodes(), network.nodes());
        }
    }

    #[test]
    fn other_views_stay_whole_when_one_is_asked_about() {
        let network = network();
        let settings = LinkSettings { view: Some("v0".into()), ..LinkSettings::default() };
        let rest = settings.hide(&network, 0).unwrap().network;
        assert_eq!(rest.views()[1].adjacency, network.views()[1].adjacency);
        assert!(rest.views()[0].edges() < network.views()[0].edges());
    }

    #[test]
    fn repeats_and_seeds_differ_and_come_back() {
        let (network, settings) = (network(), LinkSettings::default());
        let hidden = |settings: &LinkSettings, repeat| settings.hide(&network, repeat).unwrap().views;
        assert_eq!(hidden(&settings, 0), hidden(&settings, 0));
        assert_ne!(hidden(&settings, 0), hidden(&settings, 1));
        assert_ne!(hidden(&settings, 0), hidden(&LinkSettings { seed: 1, ..settings.clone() }, 0));
    }

    #[test]
    fn what_cannot_be_hidden_gets_a_sentence() {
        let path: &[_] = &[("a", "b", 1.0), ("c", "d", 1.0)];
        let loose = Network::from_edges(&[("calls", path)]).unwrap();
        let sentence =
            |settings: &LinkSettings, network: &Network| settings.hide(network, 0).unwrap_err().to_string();
        let standard = LinkSettings { hide: 0.5, ..LinkSettings::default() };
        assert!(sentence(&standard, &loose).starts_with("no edge of \"calls\" can be hidden"));
        let all: Vec<(String, String, f64)> =
            (0..6).flat_map(|a| (0..a).map(move |b| (a.to_string(), b.to_string(), 1.0))).collect();
        let all: Vec<(&str, &str, f64)> = all.iter().map(|(a, b, w)| (a.as_str(), b.as_str(), *w)).collect();
        let full = Network::from_edges(&[("calls", &all)]).unwrap();
        assert!(sentence(&standard, &full).contains("links nearly all pairs"));
        let unknown = LinkSettings { view: Some("mails".into()), ..standard };
        assert_eq!(sentence(&unknown, &full), "unknown view \"mails\"; the views are calls");
    }
}
