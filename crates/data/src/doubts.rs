//! Doubts about a network that was read without an error: signs that it is not the one that was meant.
//!
//! Wrong columns and ids that differ between files give a network too, from which something is computed. Each doubt is a sentence with
//! its figures. Invariant: doubts follow from the network alone, so they are the same for files and for tables in Python.

use manyview_base::message::{Warning, WarningKind, switch};
use manyview_base::random::text_key;

use crate::network::{Network, View};

/// Views share few nodes if it is less than this share of the smaller side.
const FEW: f64 = 0.1;
/// A view touches few nodes if it leaves out more than this share.
const MOST_ISOLATED: f64 = 0.95;
/// A node has most of the weight if its edges have more than this share.
const MOST_WEIGHT: f64 = 0.6;
/// Views with fewer edges or nodes than this have properties by chance.
const ENOUGH: usize = 20;

/// Whether all weights of a view differ is found out only for views with at most this many edges.
const MOST_COMPARED: usize = 1_000_000;

/// Returns the doubts about a network.
pub fn doubts(network: &Network) -> Vec<Warning> {
    let touched: Vec<Touched<'_>> = network.views().iter().map(Touched::new).collect();
    let mut found = shared(network, &touched);
    for (view, touched) in network.views().iter().zip(&touched) {
        found.extend(isolated(network, view, touched));
        found.extend(hub(network, view));
        found.extend(odd_weights(view));
    }
    found.into_iter().map(|sentence| Warning::new(WarningKind::Data, sentence)).collect()
}

/// The nodes with an edge in a view.
struct Touched<'a> {
    view: &'a View,
    /// A bit per node that is the target of an arc; none if the view is undirected, where rows tell.
    targets: Vec<u64>,
}

impl<'a> Touched<'a> {
    fn new(view: &'a View) -> Self {
        let words = if view.directed { view.adjacency.rows().div_ceil(64) } else { 0 };
        let mut targets = vec![0; words];
        if view.directed {
            view.adjacency.indices().iter().for_each(|&col| targets[col as usize / 64] |= 1 << (col % 64));
        }
        Touched { view, targets }
    }

    fn has(&self, node: usize) -> bool {
        let is_target = || self.targets.get(node / 64).is_some_and(|word| word >> (node % 64) & 1 == 1);
        !self.view.adjacency.row(node).0.is_empty() || is_target()
    }
}

/// Views with few nodes in common with the others, and ids that may be the same node.
fn shared(network: &Network, touched: &[Touched<'_>]) -> Vec<String> {
    if touched.len() < 2 {
        return Vec::new();
    }
    let nodes = network.nodes().len();
    let views_of = |node: usize| touched.iter().filter(|view| view.has(node)).count();
    let counts: Vec<usize> = (0..nodes).map(views_of).collect();
    let mut found = Vec::new();
    for (at, own) in touched.iter().enumerate() {
        let (mut size, mut others, mut common) = (0, 0, 0);
        for (node, &count) in counts.iter().enumerate() {
            let has = own.has(node);
            size += usize::from(has);
            others += usize::from(count > usize::from(has));
            common += usize::from(has && count > 1);
        }
        let few = (common as f64) < FEW * size.min(others) as f64 || common == 0;
        // Of two views, both would say the same.
        if few && (touched.len() > 2 || at == 0) {
            let with = match network.views() {
                [_, other] => format!("view {}", other.name),
                _ => "the other views".into(),
            };
            found.push(format!(
                "view {}: shares {common} of its {size} nodes ({}) with {with}; check that all files use the same ids and that the \
                 columns are the right ones",
                own.view.name,
                percent(common, size)
            ));
        }
    }
    found.extend(twins(network, touched));
    found
}

/// Ids that differ only in the way they are written, and are never used in the same view.
fn twins(network: &Network, touched: &[Touched<'_>]) -> Option<String> {
    let nodes = network.nodes();
    let used = |node: usize| touched.iter().map(move |view| view.has(node));
    // Nodes of every view have no twin.
    let candidates =
        (0..nodes.len()).filter(|&node| used(node).any(|used| used) && !used(node).all(|used| used));
    let mut keys: Vec<(u64, usize)> =
        candidates.map(|node| (text_key(&spelling(nodes.id(node))), node)).collect();
    keys.sort_unstable();
    let apart = |one: usize, other: usize| !used(one).zip(used(other)).any(|(one, other)| one && other);
    let same = |group: &&[(u64, usize)]| {
        let [(key, one), (other_key, other)] = **group else { return false };
        key == other_key && apart(one, other) && spelling(nodes.id(one)) == spelling(nodes.id(other))
    };
    let pairs: Vec<&[(u64, usize)]> = keys.windows(2).filter(same).collect();
    // The first in the order of the nodes is the example.
    let [(_, one), (_, other)] = **pairs.iter().min_by_key(|pair| pair[0].1)? else { return None };
    let count = pairs.len();
    let noun = if count == 1 { "id of one view seems" } else { "ids of one view seem" };
    Some(format!(
        "{count} {noun} to be written differently in another, such as {:?} and {:?}; write the same node in the same way",
        nodes.id(one),
        nodes.id(other)
    ))
}

/// An id without what often differs between files: case, blanks, leading zeros, and the `.0` of numbers that were read as fractions.
fn spelling(id: &str) -> String {
    let words: Vec<&str> = id.split_whitespace().collect();
    let text = words.join(" ").to_lowercase();
    let text = text.trim_matches(['"', '\'']);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let whole = text.strip_suffix(".0").filter(|whole| digits(whole)).unwrap_or(text);
    let short = if digits(whole) { whole.trim_start_matches('0') } else { whole };
    // An id of zeros is 0.
    if short.is_empty() && !whole.is_empty() { "0".into() } else { short.to_owned() }
}

fn isolated(network: &Network, view: &View, touched: &Touched<'_>) -> Option<String> {
    let nodes = network.nodes().len();
    let alone = (0..nodes).filter(|&node| !touched.has(node)).count();
    (nodes >= ENOUGH && alone as f64 > MOST_ISOLATED * nodes as f64).then(|| {
        format!(
            "view {}: {alone} of {nodes} nodes ({}) have no edge in it; check that it has all its lines and the ids of the other views",
            view.name,
            percent(alone, nodes)
        )
    })
}

/// A node whose edges have most of the weight: often a word for a missing value.
fn hub(network: &Network, view: &View) -> Option<String> {
    if view.edges() < ENOUGH {
        return None;
    }
    let adjacency = &view.adjacency;
    let mut at_node = vec![0.0; adjacency.rows()];
    let mut total = 0.0;
    for row in 0..adjacency.rows() {
        let (cols, weights) = adjacency.row(row);
        for (&col, weight) in cols.iter().zip(weights) {
            total += weight;
            at_node[row] += weight;
            if view.directed {
                at_node[col as usize] += weight;
            }
        }
    }
    // An undirected edge has two entries, of which the row of a node has one.
    let share = |weight: f64| weight / if view.directed { total } else { total / 2.0 };
    let largest =
        at_node.iter().enumerate().max_by(|one, other| one.1.total_cmp(other.1).then(other.0.cmp(&one.0)));
    let (node, &weight) = largest?;
    (share(weight) > MOST_WEIGHT).then(|| {
        format!(
            "view {}: the edges of node {:?} have {:.0} % of the weight; if it stands for a missing value, remove its lines",
            view.name,
            network.nodes().id(node),
            100.0 * share(weight)
        )
    })
}

/// Weights that look like dates or ids.
fn odd_weights(view: &View) -> Option<String> {
    let values = view.adjacency.values();
    let all = |test: &dyn Fn(f64) -> bool| values.iter().all(|&weight| test(weight));
    if view.edges() < ENOUGH || !all(&|weight| weight.fract() == 0.0) {
        return None;
    }
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = values.iter().copied().fold(0.0, f64::max);
    if smallest == largest {
        return None;
    }
    let what = if all(&is_year) {
        "years"
    } else if all(&is_day) {
        "dates"
    } else if all(&is_second) || all(&|weight| is_second(weight / 1000.0)) {
        "times in seconds or milliseconds"
    } else if largest - smallest + 1.0 >= view.edges() as f64 && all_differ(view) {
        "ids or line numbers, because no two are the same"
    } else {
        return None;
    };
    Some(format!(
        "view {}: the weights, from {smallest} to {largest}, look like {what}; choose another column, or use {}",
        view.name,
        switch("unweighted")
    ))
}

/// Returns whether no two edges have the same weight.
fn all_differ(view: &View) -> bool {
    if view.edges() > MOST_COMPARED {
        return false;
    }
    let mut weights = Vec::with_capacity(view.edges());
    for row in 0..view.adjacency.rows() {
        let (cols, values) = view.adjacency.row(row);
        let once = |col: u32| view.directed || row < col as usize;
        weights.extend(cols.iter().zip(values).filter(|(col, _)| once(**col)).map(|(_, value)| *value));
    }
    weights.sort_unstable_by(f64::total_cmp);
    weights.windows(2).all(|pair| pair[0] < pair[1])
}

fn is_year(weight: f64) -> bool {
    (1900.0..=2100.0).contains(&weight)
}

/// A number such as 20240131.
fn is_day(weight: f64) -> bool {
    let (year, month, day) = ((weight / 1e4).floor(), (weight / 100.0).floor() % 100.0, weight % 100.0);
    is_year(year) && (1.0..=12.0).contains(&month) && (1.0..=31.0).contains(&day)
}

/// A time after 1990 and before 2100, in seconds since 1970.
fn is_second(weight: f64) -> bool {
    (6.3e8..4.1e9).contains(&weight)
}

fn percent(part: usize, of: usize) -> String {
    let share = 100.0 * part as f64 / of.max(1) as f64;
    if part > 0 && share < 1.0 { format!("{share:.2} %") } else { format!("{share:.0} %") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Duplicates, NetworkBuilder};

    type Edges = Vec<(String, String, f64)>;

    /// The doubts about views of weighted edges.
    fn told(views: &[(&str, bool, Edges)]) -> Vec<String> {
        let mut builder = NetworkBuilder::new();
        for (name, directed, edges) in views {
            let view = builder.add_view(name, *directed, Duplicates::Sum).unwrap();
            for (source, target, weight) in edges {
                let ends = [source, target].map(|id| builder.node(id.as_bytes()).unwrap());
                builder.add_edge(view, ends[0], ends[1], *weight).unwrap();
            }
        }
        doubts(&builder.build().unwrap()).iter().map(ToString::to_string).collect()
    }

    /// A ring of nodes.
    fn ring(count: usize, id: impl Fn(usize) -> String, weight: impl Fn(usize) -> f64) -> Edges {
        (0..count).map(|at| (id(at), id((at + 1) % count), weight(at))).collect()
    }

    fn one(_: usize) -> f64 {
        1.0
    }

    #[test]
    fn sound_networks_raise_no_doubts() {
        let id = |at: usize| format!("n{at}");
        assert!(
            told(&[("a", false, ring(40, id, one)), ("b", true, ring(25, id, |at| (at % 5 + 1) as f64))])
                .is_empty()
        );
        assert!(told(&[("a", false, ring(40, id, |at| 1.0 / (at + 1) as f64))]).is_empty());
        // One view alone has no twins, and few edges have no statistics.
        assert!(
            told(&[("a", false, vec![("a".into(), "A".into(), 2020.0), ("a".into(), "b".into(), 2021.0)])])
                .is_empty()
        );
    }

    #[test]
    fn views_without_common_nodes_are_told_with_their_twins() {
        let padded = ring(30, |at| format!("{at:05}"), one);
        let plain = ring(30, |at| at.to_string(), one);
        let found = told(&[("calls", false, padded.clone()), ("mails", false, plain)]);
        assert_eq!(
            found,
            [
                "view calls: shares 0 of its 30 nodes (0 %) with view mails; check that all files use the same ids and that the columns \
                 are the right ones",
                "30 ids of one view seem to be written differently in another, such as \"00000\" and \"0\"; write the same node in the \
                 same way",
            ]
        );
        let mut third = ring(30, |at| format!("{at:05}"), one);
        third.push(("Anna".into(), "00001".into(), 1.0));
        let other = vec![("anna ".into(), "x".into(), 1.0), ("x".into(), "00002".into(), 1.0)];
        let found = told(&[("calls", false, padded), ("mails", false, third), ("visits", true, other)]);
        assert_eq!(
            found,
            [
                "1 id of one view seems to be written differently in another, such as \"Anna\" and \"anna \"; write the same node in \
              the same way"
            ]
        );
    }

    #[test]
    fn spellings_leave_out_what_differs_between_files() {
        for (one, other) in
            [("00102", "102"), ("102.0", "102"), ("Anna", "anna "), ("'a  b'", "A b"), ("000", "0")]
        {
            assert_eq!(spelling(one), spelling(other), "{one} {other}");
        }
        for (one, other) in [("a1", "a01"), ("1.5", "15"), ("10", "100"), ("0", "")] {
            assert_ne!(spelling(one), spelling(other), "{one} {other}");
        }
    }

    #[test]
    fn views_with_few_nodes_and_hubs_are_told() {
        let id = |at: usize| format!("n{at}");
        let small = vec![(id(0), id(1), 1.0)];
        let found = told(&[("calls", false, ring(100, id, one)), ("mails", false, small)]);
        assert_eq!(
            found,
            [
                "view mails: 98 of 100 nodes (98 %) have no edge in it; check that it has all its lines and the ids of the other views"
            ]
        );
        for directed in [false, true] {
            let mut edges = ring(20, id, one);
            edges.extend((0..40).map(|at| ("NA".into(), id(at), 1.0)));
            let found = told(&[("calls", directed, edges)]);
            assert_eq!(
                found,
                [
                    "view calls: the edges of node \"NA\" have 67 % of the weight; if it stands for a missing value, remove its lines"
                ]
            );
        }
    }

    #[test]
    fn weights_like_dates_and_ids_are_told() {
        let id = |at: usize| format!("n{at}");
        type Weight = fn(usize) -> f64;
        let cases: [(Weight, &str); 5] = [
            (|at| (1990 + at % 20) as f64, "from 1990 to 2009, look like years; "),
            (|at| (20_240_101 + at % 28) as f64, "from 20240101 to 20240128, look like dates; "),
            (
                |at| 1.7e9 + (at % 9) as f64,
                "from 1700000000 to 1700000008, look like times in seconds or milliseconds; ",
            ),
            (
                |at| (at + 1) as f64,
                "from 1 to 40, look like ids or line numbers, because no two are the same; ",
            ),
            (|at| (7919 * at + 12) as f64, "look like ids or line numbers, because no two are the same; "),
        ];
        for (weight, words) in cases {
            let found = told(&[("calls", false, ring(40, id, weight))]);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(
                found[0].starts_with("view calls: the weights, ") && found[0].contains(words),
                "{found:?}"
            );
            assert!(found[0].ends_with("choose another column, or use unweighted"), "{found:?}");
        }
        assert!(told(&[("calls", false, ring(40, id, |_| 2020.0))]).is_empty());
    }
}
