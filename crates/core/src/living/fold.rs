//! Folding in: vectors of new nodes.

use std::ops::ControlFlow;

use super::additions::Component;
use super::rows::{for_rows_in, with_component};
use super::solve::Solved;
use super::{Additions, KeptModel};
use crate::proximity::{Patch, PatchScratch, TOGETHER};
use manyview_base::error::{Error, Result};
use manyview_base::parallel::Pool;
use manyview_data::network::Nodes;

/// From this many new nodes that are linked with each other on, the network is built with them: what has to be corrected in every step of a
/// walk grows with their edges, and the network is built once for all of them.
const MANY: usize = 17;

/// The vectors of new nodes.
#[derive(Clone, Debug)]
pub struct Folded {
    /// Their ids, in order of first appearance.
    pub nodes: Nodes,
    /// Their vectors, row after row, in the length of those of the model.
    pub vectors: Vec<f32>,
    /// Those whose vectors are zero: nothing links them to the model.
    pub zero: Vec<usize>,
    /// The share of their proximity that the stages do not explain.
    pub left: f64,
}

impl KeptModel {
    /// Gives vectors to new nodes. `watch` gets the number of finished ones and may end the work by breaking.
    ///
    /// # Errors
    /// [`Error::Network`] for weights whose numbers f64 cannot represent; [`Error::Interrupted`] if `watch` breaks.
    pub fn fold_in(
        &self,
        additions: &Additions,
        pool: &Pool,
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Folded> {
        let components = additions.components(self.network.nodes().len());
        let (many, few): (Vec<_>, Vec<_>) =
            components.iter().partition(|component| component.members.len() >= MANY);
        let mut solved: Vec<Option<Solved>> = vec![None; additions.nodes.len()];
        let mut done = 0;
        let mut in_network = many;
        for (component, found) in few.iter().zip(self.attached(&few, pool, watch)?) {
            match found {
                Some(found) => {
                    done += found.len();
                    component.members.iter().zip(found).for_each(|(&member, row)| solved[member] = Some(row));
                }
                None => in_network.push(component),
            }
        }
        let stages = self.stages(pool);
        for component in in_network {
            let network = with_component(self, component);
            let rows: Vec<usize> = (self.network.nodes().len()..network.nodes().len()).collect();
            let watch = &mut |now| watch(done + now);
            let found =
                for_rows_in(self, &network, &rows, pool, watch, |_, rows| stages.solve(self, rows, None))?;
            done += component.members.len();
            component.members.iter().zip(found).for_each(|(&member, row)| solved[member] = Some(row));
        }
        let solved: Vec<Solved> =
            solved.into_iter().map(|row| row.expect("each node is in a component")).collect();
        Ok(folded(additions.nodes.clone(), solved))
    }

    /// Computes vectors of nodes of the model from their own rows, row after row: the fitted ones, up to what the solver of the fit left of
    /// the way to its minimum.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if `watch` breaks.
    pub fn solve_again(
        &self,
        nodes: &[usize],
        pool: &Pool,
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Vec<f32>> {
        let stages = self.stages(pool);
        let solve = |node: usize, rows| stages.solve(self, rows, Some(node)).vector;
        Ok(for_rows_in(self, &self.network, nodes, pool, watch, solve)?.concat())
    }

    /// The vectors of components of few nodes; `None` for those that cannot be attached.
    fn attached(
        &self,
        components: &[&Component],
        pool: &Pool,
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Vec<Option<Vec<Solved>>>> {
        if components.is_empty() {
            return Ok(Vec::new());
        }
        let (attachments, stages) = (self.attachments(pool)?, self.stages(pool));
        let groups = together(components);
        let work = |scratch: &mut Option<PatchScratch>, index: usize, _: &_| {
            let group = &components[groups[index].clone()];
            let patches: Vec<Option<Vec<Patch>>> =
                group.iter().map(|component| attachments.patches(component)).collect();
            let slots = |patches: &'_ Option<Vec<Patch>>, component: &Component| {
                let slots = if patches.is_some() { component.members.len() } else { 0 };
                0..slots
            };
            let lanes: Vec<(&[Patch], usize)> = patches
                .iter()
                .zip(group)
                .flat_map(|(patches, component)| {
                    let all = patches.as_deref().unwrap_or_default();
                    slots(patches, component).map(move |slot| (all, slot))
                })
                .collect();
            let rows = if lanes.is_empty() { Vec::new() } else { attachments.rows(&lanes, scratch) };
            let mut solved = rows.into_iter().map(|rows| stages.solve(self, rows, None));
            let of_component = |(patches, component): (&Option<Vec<Patch>>, &&Component)| {
                patches.as_ref().map(|_| solved.by_ref().take(component.members.len()).collect())
            };
            Some(patches.iter().zip(group).map(of_component).collect::<Vec<Option<Vec<Solved>>>>())
        };
        let nodes_in = |groups_done: usize| {
            groups
                .get(groups_done.saturating_sub(1))
                .map_or(0, |group| group.end * usize::from(groups_done > 0))
        };
        let done = &mut |count: usize| watch(nodes_in(count));
        let found = pool.map_watched(groups.len(), || None, work, done).ok_or(Error::Interrupted)?;
        Ok(found.into_iter().flatten().collect())
    }
}

/// Ranges of components that have at most [`TOGETHER`] nodes together.
fn together(components: &[&Component]) -> Vec<std::ops::Range<usize>> {
    let (mut groups, mut begin, mut nodes) = (Vec::new(), 0, 0);
    for (at, component) in components.iter().enumerate() {
        if nodes + component.members.len() > TOGETHER {
            groups.push(begin..at);
            (begin, nodes) = (at, 0);
        }
        nodes += component.members.len();
    }
    groups.push(begin..components.len());
    groups
}

fn folded(nodes: Nodes, solved: Vec<Solved>) -> Folded {
    let is_zero = |solved: &Solved| solved.vector.iter().all(|&x| x == 0.0);
    let zero =
        solved.iter().enumerate().filter(|(_, solved)| is_zero(solved)).map(|(node, _)| node).collect();
    let [whole, left] = [0, 1].map(|at| solved.iter().map(|solved| solved.squared[at]).sum::<f64>());
    let vectors = solved.into_iter().flat_map(|solved| solved.vector).collect();
    Folded { nodes, vectors, zero, left: if whole > 0.0 { left / whole } else { 0.0 } }
}
