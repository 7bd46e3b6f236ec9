//! Rows of nodes that are attached to a view, as if they were part of it, without building that view.
//!
//! With new arcs in `dA` and the degrees `D'` that follow, a step is
//!
//! ```text
//! z' = D'^-1 (A + dA)ᵀ z = D'^-1 (D (D^-1 Aᵀ z) + dAᵀ z)
//! ```
//!
//! so it is the step of the view, made for sixteen rows together, with a few numbers of each row corrected. Each row has a patch of its
//! own: new nodes that are not linked to each other do not see each other, and their rows do not depend on which of them are computed
//! together. The result is the row of the view with the new nodes and arcs, up to rounding.

use super::Settings;
use super::degrees::{Degrees, Precision};
use super::step::{Lanes, NodeSet, Steps, TOGETHER};
use super::walk::sift;
use manyview_base::error::Result;
use manyview_base::linalg::kernels::vectorized;
use manyview_base::linalg::{Csr, Real};
use manyview_data::network::View;

/// A view that nodes can be attached to. Only for views whose numbers f32 can represent.
pub struct Attachable {
    degrees: Degrees,
    /// The weights that enter each node; absent if they are those that leave it.
    entering: Option<Vec<f64>>,
    steps: Steps<f32>,
    settings: Settings,
}

/// An arc with a new node at one end or both. Numbers from that of the nodes of the view on are new nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arc {
    /// Where it begins.
    pub from: u32,
    /// Where it ends.
    pub to: u32,
    /// Its weight.
    pub weight: f64,
}

/// New nodes that are attached together.
pub struct Patch {
    /// The new degrees of all nodes with new arcs, ascending by node, new nodes included.
    degrees: Vec<(u32, f64)>,
    /// The weights that enter these nodes, if they differ from their degrees.
    entering: Option<Vec<(u32, f64)>>,
    /// What a step corrects, ascending by node.
    touched: Vec<Touched>,
    /// The arcs that enter touched nodes: where they begin, and the share of the degree of the touched node.
    arcs: Vec<(u32, f32)>,
    /// The start of the walks from each new node: `z_1`.
    starts: Vec<Vec<(u32, f32)>>,
}

struct Touched {
    node: u32,
    /// The old degree as a share of the new one.
    kept: f32,
    /// The end of its arcs.
    end: usize,
}

/// The working memory of a thread.
pub struct PatchScratch {
    now: Vec<Lanes<f32>>,
    next: Vec<Lanes<f32>>,
    reached: NodeSet,
    found: Vec<Vec<(u32, f32)>>,
    /// The numbers of new nodes, for each row.
    new_now: Vec<Vec<f32>>,
    new_next: Vec<Vec<f32>>,
}

impl PatchScratch {
    /// For views of so many nodes.
    pub fn new(nodes: usize) -> Self {
        PatchScratch {
            now: vec![Lanes::ZERO; nodes],
            next: vec![Lanes::ZERO; nodes],
            reached: NodeSet::new(nodes),
            found: vec![Vec::new(); TOGETHER],
            new_now: vec![Vec::new(); TOGETHER],
            new_next: vec![Vec::new(); TOGETHER],
        }
    }
}

impl Attachable {
    /// Prepares a view; `None` if f32 cannot represent its numbers.
    ///
    /// # Errors
    /// When f64 cannot either.
    pub fn of(view: &View, settings: Settings) -> Result<Option<Self>> {
        let degrees = Degrees::of(view);
        if degrees.precision(view, settings)? == Precision::Double {
            return Ok(None);
        }
        let entering = view.directed.then(|| degrees.entering(view));
        let steps = Steps::new(view, &degrees);
        Ok(Some(Attachable { degrees, entering, steps, settings }))
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.degrees.of_nodes.len()
    }

    /// The weights of arcs in the union of views: those of this view by the roots of the degrees at their ends, which the patch of the view
    /// has. Arcs that the view has keep their weights in the union; the degrees of their ends grow by the new arcs only.
    pub fn in_union(&self, patch: &Patch, arcs: &[Arc]) -> Vec<Arc> {
        let find = |list: &[(u32, f64)], node: u32| {
            list.binary_search_by_key(&node, |&(node, _)| node).map_or(0.0, |at| list[at].1)
        };
        let entering = patch.entering.as_deref().unwrap_or(&patch.degrees);
        let weight = |arc: &Arc| {
            let ends = find(&patch.degrees, arc.from) * find(entering, arc.to);
            Arc { weight: arc.weight * self.degrees.scale / ends.sqrt(), ..*arc }
        };
        arcs.iter().map(weight).collect()
    }

    /// Prepares so many new nodes with their arcs; `None` if f32 cannot represent the numbers of the walks.
    pub fn patch(&self, new: usize, arcs: &[Arc]) -> Option<Patch> {
        let Degrees { of_nodes, scale, volume, .. } = &self.degrees;
        let nodes = of_nodes.len();
        let mut ends: Vec<u32> = arcs.iter().flat_map(|arc| [arc.from, arc.to]).collect();
        ends.extend((nodes..nodes + new).map(|node| node as u32));
        ends.sort_unstable();
        ends.dedup();
        let at = |node: u32| ends.binary_search(&node).expect("all ends are listed");
        let old = |of: &[f64], node: u32| of.get(node as usize).copied().unwrap_or(0.0);
        let mut leaving: Vec<f64> = ends.iter().map(|&node| old(of_nodes, node)).collect();
        let mut entering: Option<Vec<f64>> =
            self.entering.as_ref().map(|of| ends.iter().map(|&node| old(of, node)).collect());
        let mut added = 0.0;
        for arc in arcs {
            leaving[at(arc.from)] += arc.weight * scale;
            added += arc.weight * scale;
            if let Some(entering) = &mut entering {
                entering[at(arc.to)] += arc.weight * scale;
            }
        }
        let volume = volume + added;
        let shares =
            arcs.iter().map(|arc| arc.weight * scale / leaving[at(arc.from)].max(leaving[at(arc.to)]));
        let smallest_share = shares.fold(1.0, f64::min);
        let least = leaving.iter().copied().filter(|&degree| degree > 0.0).fold(f64::INFINITY, f64::min);
        if !self.degrees.usual_with(volume, least, smallest_share, self.settings) {
            return None;
        }
        let mut by_end: Vec<&Arc> = arcs.iter().collect();
        by_end.sort_by_key(|arc| (arc.to, arc.from));
        let (mut touched, mut sources) = (Vec::new(), Vec::new());
        let mut next = by_end.into_iter().peekable();
        for (&node, &degree) in ends.iter().zip(&leaving) {
            while let Some(arc) = next.next_if(|arc| arc.to == node) {
                // Walks end at nodes that nothing leaves, and X has no column for them.
                if degree > 0.0 {
                    sources.push((arc.from, (arc.weight * scale / degree) as f32));
                }
            }
            let kept = if degree > 0.0 { old(of_nodes, node) / degree } else { 0.0 };
            touched.push(Touched { node, kept: kept as f32, end: sources.len() });
        }
        let mut starts = vec![Vec::new(); new];
        for arc in arcs.iter().filter(|arc| arc.from as usize >= nodes) {
            let (degree, column) = (leaving[at(arc.from)], leaving[at(arc.to)]);
            if column > 0.0 {
                let near = volume * (arc.weight * scale / degree) / column;
                starts[arc.from as usize - nodes].push((arc.to, near as f32));
            }
        }
        let listed = |numbers: Vec<f64>| ends.iter().copied().zip(numbers).collect();
        Some(Patch {
            degrees: listed(leaving),
            entering: entering.map(listed),
            touched,
            arcs: sources,
            starts,
        })
    }

    /// The rows of up to [`TOGETHER`] new nodes, each given by its patch and its number there, without the columns of new nodes.
    pub fn rows(&self, nodes: &[(&Patch, usize)], scratch: &mut PatchScratch) -> Csr<f32> {
        let PatchScratch { now, reached, new_now, .. } = scratch;
        now.fill(Lanes::ZERO);
        reached.clear();
        for (lane, (patch, _)) in nodes.iter().enumerate() {
            new_now[lane].clear();
            new_now[lane].resize(patch.starts.len(), 0.0);
        }
        self.add_starts(nodes, scratch);
        for _ in 1..self.settings.window {
            self.step(nodes, scratch);
            self.add_starts(nodes, scratch);
        }
        let threshold = (self.settings.negative * self.settings.window as f64) as f32;
        let PatchScratch { now, found, .. } = scratch;
        vectorized(
            #[inline(always)]
            || sift(now, 0, threshold, found),
        );
        let entries = found.iter().take(nodes.len()).map(Vec::len).sum();
        let (mut indptr, mut indices, mut values) =
            (vec![0], Vec::with_capacity(entries), Vec::with_capacity(entries));
        for row in found.iter().take(nodes.len()) {
            for &(col, sum) in row {
                let log = Real::ln(sum / threshold);
                if log > 0.0 {
                    indices.push(col);
                    values.push(log);
                }
            }
            indptr.push(indices.len());
        }
        found.iter_mut().for_each(Vec::clear);
        Csr::new(self.nodes(), indptr, indices, values)
    }

    fn add_starts(&self, nodes: &[(&Patch, usize)], scratch: &mut PatchScratch) {
        let known = self.nodes();
        for (lane, &(patch, new)) in nodes.iter().enumerate() {
            for &(node, near) in &patch.starts[new] {
                match (node as usize).checked_sub(known) {
                    Some(other) => scratch.new_now[lane][other] += near,
                    None => {
                        scratch.now[node as usize].0[lane] += near;
                        scratch.reached.insert(node);
                    }
                }
            }
        }
    }

    fn step(&self, nodes: &[(&Patch, usize)], scratch: &mut PatchScratch) {
        let PatchScratch { now, next, reached, new_now, new_next, .. } = scratch;
        self.steps.make(now, next, 0, reached);
        let known = self.nodes();
        for (lane, (patch, _)) in nodes.iter().enumerate() {
            let (before, after) = (&new_now[lane], &mut new_next[lane]);
            after.clear();
            after.resize(before.len(), 0.0);
            let mut begin = 0;
            for touched in &patch.touched {
                let from = |&(from, share): &(u32, f32)| {
                    let from = from as usize;
                    share * if from < known { now[from].0[lane] } else { before[from - known] }
                };
                let entered: f32 = patch.arcs[begin..touched.end].iter().map(from).sum();
                begin = touched.end;
                match (touched.node as usize).checked_sub(known) {
                    Some(new) => after[new] = entered,
                    None => {
                        let number = &mut next[touched.node as usize].0[lane];
                        *number = *number * touched.kept + entered;
                        reached.insert(touched.node);
                    }
                }
            }
        }
        std::mem::swap(now, next);
        std::mem::swap(new_now, new_next);
    }
}
