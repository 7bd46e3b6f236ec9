//! Folding in: vectors of new nodes.

use std::ops::{ControlFlow, Range};

use super::additions::Component;
use super::rows::{for_rows_in, rows_in_task, with_component};
use super::solve::{MEASURED, Solved};
use super::{Additions, KeptModel};
use crate::proximity::{Patch, PatchScratch};
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
    /// The share of their proximity that the stages do not explain, in at most 64 of them.
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
        let sample = Sample::of_all(additions.nodes.len());
        let mut solved: Vec<Option<Solved>> = vec![None; additions.nodes.len()];
        let mut done = 0;
        let mut in_network = many;
        for (component, found) in few.iter().zip(self.attached(&few, sample, pool, watch)?) {
            match found {
                Some(found) => {
                    done += found.len();
                    component.members.iter().zip(found).for_each(|(&member, row)| solved[member] = Some(row));
                }
                None => in_network.push(component),
            }
        }
        let stages = self.stages(pool);
        let known = self.network.nodes().len();
        for component in in_network {
            let network = with_component(self, component);
            let rows: Vec<usize> = (known..network.nodes().len()).collect();
            let watch = &mut |now| watch(done + now);
            let solve = |nodes: &[usize], rows| {
                let members = nodes.iter().map(|node| component.members[node - known]);
                stages.solve(self, rows, None, &sample.of(members))
            };
            let union = self.union_in(&network, pool);
            let found = for_rows_in(self, &network, union.as_ref(), &rows, pool, watch, solve)?;
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
        let solve = |nodes: &[usize], rows| stages.solve(self, rows, Some(nodes), &[]);
        let solved = for_rows_in(self, &self.network, self.union(pool), nodes, pool, watch, solve)?;
        Ok(solved.into_iter().flat_map(|row| row.vector).collect())
    }

    /// The vectors of components of few nodes; `None` for those that cannot be attached.
    fn attached(
        &self,
        components: &[&Component],
        sample: Sample,
        pool: &Pool,
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Vec<Option<Vec<Solved>>>> {
        let (attachments, stages) = (self.attachments(pool)?, self.stages(pool));
        let nodes = components.iter().map(|component| component.members.len()).sum();
        let groups = together(components, rows_in_task(nodes, pool));
        let work = |scratch: &mut Option<PatchScratch>, index: usize, _: &_| {
            let group = &components[groups[index].clone()];
            let patches: Vec<Option<Vec<Patch>>> =
                group.iter().map(|component| attachments.patches(component)).collect();
            let mut slots: Vec<(&[Patch], usize)> = Vec::new();
            let mut members = Vec::new();
            for (component, patches) in group.iter().zip(&patches) {
                let Some(patches) = patches else { continue };
                slots.extend((0..component.members.len()).map(|slot| (&patches[..], slot)));
                members.extend_from_slice(&component.members);
            }
            let mut solved = Vec::new();
            if !slots.is_empty() {
                let rows = attachments.rows(&slots, scratch);
                solved = stages.solve(self, rows, None, &sample.of(members.into_iter()));
            }
            let mut solved = solved.into_iter();
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

/// Which of some nodes are measured: at most [`MEASURED`], evenly spaced.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    every: usize,
}

impl Sample {
    pub(super) fn of_all(nodes: usize) -> Self {
        Sample { every: nodes.div_ceil(MEASURED).max(1) }
    }

    pub(super) fn has(self, node: usize) -> bool {
        node.is_multiple_of(self.every)
    }

    /// The places of those nodes of a list.
    fn of(self, nodes: impl Iterator<Item = usize>) -> Vec<usize> {
        nodes.enumerate().filter(|&(_, node)| self.has(node)).map(|(place, _)| place).collect()
    }
}

/// Consecutive components in groups of at most `most` nodes; a larger component is a group of its own.
fn together(components: &[&Component], most: usize) -> Vec<Range<usize>> {
    if components.is_empty() {
        return Vec::new();
    }
    let (mut groups, mut begin, mut nodes) = (Vec::new(), 0, 0);
    for (at, component) in components.iter().enumerate() {
        if nodes + component.members.len() > most {
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
    let left = share_left(solved.iter().filter_map(|solved| solved.squared));
    let vectors = solved.into_iter().flat_map(|solved| solved.vector).collect();
    Folded { nodes, vectors, zero, left }
}

/// What is left as a share of what was there, given both of some rows.
pub(super) fn share_left(rows: impl Iterator<Item = [f64; 2]>) -> f64 {
    let [whole, left] = rows.fold([0.0; 2], |sums, row| [sums[0] + row[0], sums[1] + row[1]]);
    if whole > 0.0 { left / whole } else { 0.0 }
}
