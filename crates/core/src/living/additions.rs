//! New nodes and their edges, and which of them are linked with each other.

use std::collections::BTreeMap;

use super::KeptModel;
use crate::proximity::Arc;
use manyview_base::error::{Error, Result};
use manyview_data::network::{Interner, Network, Nodes};

/// Edges of an example in a message.
const SHOWN: usize = 3;

/// New nodes, and the arcs that they bring to each view of a model; an undirected edge is two arcs. The new nodes are numbered after those
/// of the model.
#[derive(Clone, Debug)]
pub struct Additions {
    pub(super) nodes: Nodes,
    pub(super) arcs: Vec<Vec<Arc>>,
    numbers: Vec<u32>,
}

/// New nodes that are linked with each other, directly or through others, and their arcs in each view.
pub(super) struct Component {
    /// Their numbers among the new nodes.
    pub(super) members: Vec<usize>,
    /// The arcs, with these nodes numbered after those of the model, in the order of `members`.
    pub(super) arcs: Vec<Vec<Arc>>,
}

impl Additions {
    /// Takes the new nodes from a network with nodes and views of the model: each edge has a new node at one end or both.
    ///
    /// # Errors
    /// [`Error::Config`] for a view that the model does not have or whose edges have directions there and not here, and for edges between
    /// nodes of the model; [`Error::Network`] when there is no new node.
    pub fn new(model: &KeptModel, given: &Network) -> Result<Self> {
        let known = model.network.nodes();
        let mut ids = Interner::default();
        let mut intern = |id: &str| {
            ids.intern(id.as_bytes()).map_err(|error| Error::network(format!("node {id:?}: {error}")))
        };
        known.iter().try_for_each(|id| intern(id).map(drop))?;
        let numbers = given.nodes().iter().map(intern).collect::<Result<Vec<u32>>>()?;
        let mut arcs = vec![Vec::new(); model.network.views().len()];
        for view in given.views() {
            let at = model.network.view_index(&view.name)?;
            check_direction(&view.name, model.network.views()[at].directed, view.directed)?;
            for row in 0..view.adjacency.rows() {
                let (cols, weights) = view.adjacency.row(row);
                let arc = |(&col, &weight): (&u32, &f64)| Arc {
                    from: numbers[row],
                    to: numbers[col as usize],
                    weight,
                };
                arcs[at].extend(cols.iter().zip(weights).map(arc));
            }
        }
        check_ends(&arcs, model)?;
        let nodes: Nodes = (known.len()..ids.len()).map(|node| ids.nodes().id(node).to_owned()).collect();
        if nodes.is_empty() {
            return Err(Error::network(
                "the model knows all nodes of these edges, so there is nothing to fold in",
            ));
        }
        Ok(Additions { nodes, arcs, numbers })
    }

    /// The ids of the new nodes.
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// The number of each node of the given network: its row in the model, or from the number of those rows on its place among the new nodes.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// The new nodes in groups that are linked with each other, by their first member.
    pub(super) fn components(&self, known: usize) -> Vec<Component> {
        let mut parents: Vec<usize> = (0..self.nodes.len()).collect();
        for arc in self.arcs.iter().flatten() {
            let ends = [arc.from as usize, arc.to as usize];
            if ends.iter().all(|&end| end >= known) {
                let [a, b] = ends.map(|end| root(&mut parents, end - known));
                // The first member is the root.
                parents[a.max(b)] = a.min(b);
            }
        }
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut places = vec![(0, 0); self.nodes.len()];
        for node in 0..self.nodes.len() {
            members.entry(root(&mut parents, node)).or_default().push(node);
        }
        let mut components: Vec<Component> = Vec::new();
        for members in members.into_values() {
            for (slot, &node) in members.iter().enumerate() {
                places[node] = (components.len(), slot);
            }
            components.push(Component { members, arcs: vec![Vec::new(); self.arcs.len()] });
        }
        for (view, arcs) in self.arcs.iter().enumerate() {
            for arc in arcs {
                let place = |end: u32| (end as usize).checked_sub(known).map(|node| places[node]);
                let local = |end: u32| place(end).map_or(end, |(_, slot)| (known + slot) as u32);
                let Some((component, _)) = place(arc.from).or(place(arc.to)) else {
                    unreachable!("each arc has a new node at one end")
                };
                let arc = Arc { from: local(arc.from), to: local(arc.to), weight: arc.weight };
                components[component].arcs[view].push(arc);
            }
        }
        // The order of the input changes no bit.
        for arcs in components.iter_mut().flat_map(|component| &mut component.arcs) {
            arcs.sort_by_key(|arc| (arc.from, arc.to));
        }
        components
    }
}

/// The first member of the group of a node; what is passed on the way leads there directly from now on.
fn root(parents: &mut [usize], node: usize) -> usize {
    let mut root = node;
    while parents[root] != root {
        root = parents[root];
    }
    let mut at = node;
    while parents[at] != root {
        at = std::mem::replace(&mut parents[at], root);
    }
    root
}

pub(super) fn check_direction(name: &str, model: bool, given: bool) -> Result<()> {
    let how = |directed| if directed { "directed" } else { "undirected" };
    if model == given {
        return Ok(());
    }
    Err(Error::config(format!(
        "view {name:?} is {} in the model and {} here; read it as in the fit",
        how(model),
        how(given)
    )))
}

/// Refuses edges between nodes of the model.
fn check_ends(arcs: &[Vec<Arc>], model: &KeptModel) -> Result<()> {
    let nodes = model.network.nodes();
    let known = |end: u32| (end as usize) < nodes.len();
    let mut pairs: Vec<[u32; 2]> = Vec::new();
    for arc in arcs.iter().flatten().filter(|arc| known(arc.from) && known(arc.to)) {
        let pair = [arc.from.min(arc.to), arc.from.max(arc.to)];
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
        if pairs.len() > SHOWN {
            break;
        }
    }
    if pairs.is_empty() {
        return Ok(());
    }
    let more = if pairs.len() > SHOWN { ", and others" } else { "" };
    let pair = |&[a, b]: &[u32; 2]| format!("{:?} and {:?}", nodes.id(a as usize), nodes.id(b as usize));
    let shown: Vec<String> = pairs.iter().take(SHOWN).map(pair).collect();
    Err(Error::config(format!(
        "the model already has both ends of some edges: {}{more}; fold-in is for new nodes, and update for these edges",
        shown.join(", ")
    )))
}
