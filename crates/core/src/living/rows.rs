//! Rows of the proximity matrices for new nodes.
//!
//! They are those of the network of the model with the new nodes that are linked with each other and all their edges: degrees and volume are
//! those of that network, and walks may return to the new nodes. Few nodes are attached to the network as it is (`proximity::Attachable`);
//! for many that are linked with each other, the network is built.

use std::ops::ControlFlow;

use super::KeptModel;
use super::additions::Component;
use super::solve::{MOST_ROWS, Rows};
use crate::proximity::{Arc, Attachable, Patch, PatchScratch, TOGETHER, for_chosen_rows};
use manyview_base::error::Result;
use manyview_base::linalg::Csr;
use manyview_base::parallel::Pool;
use manyview_data::network::{EdgeCounts, Network, Nodes, View};

/// Tasks for each thread, at least, so that none waits long for another one at the end.
const TASKS: usize = 4;

/// The views of a model, and their union, prepared for nodes to be attached; none if f32 cannot represent the numbers of one of them.
pub(super) struct Attachments {
    all: Option<Vec<Attachable>>,
    /// The number of views in the union.
    fitted_views: usize,
}

impl Attachments {
    pub(super) fn new(model: &KeptModel, pool: &Pool) -> Result<Self> {
        let settings = model.settings.proximity;
        let mut all = Some(Vec::new());
        for view in model.network.views().iter().chain(model.union(pool)) {
            let attachable = pool.run(|| Attachable::of(view, settings))?;
            all = all.zip(attachable).map(|(mut all, attachable)| {
                all.push(attachable);
                all
            });
        }
        Ok(Attachments { all, fitted_views: model.fitted_views })
    }

    /// The patches of a component, one for each matrix; `None` if the network has to be built.
    pub(super) fn patches(&self, component: &Component) -> Option<Vec<Patch>> {
        let all = self.all.as_ref()?;
        let new = component.members.len();
        let mut patches = Vec::new();
        let mut in_union = Vec::new();
        for (at, (attachable, arcs)) in all.iter().zip(&component.arcs).enumerate() {
            let patch = attachable.patch(new, arcs)?;
            if at < self.fitted_views {
                in_union.extend(attachable.in_union(&patch, arcs));
            }
            patches.push(patch);
        }
        if let Some(union) = all.get(component.arcs.len()) {
            in_union.sort_by_key(|arc: &Arc| (arc.from, arc.to));
            patches.push(union.patch(new, &in_union)?);
        }
        Some(patches)
    }

    /// The rows of some new nodes. Each is given by the patches of its component and its number there.
    pub(super) fn rows(&self, nodes: &[(&[Patch], usize)], scratch: &mut Option<PatchScratch>) -> Rows {
        let all = self.all.as_ref().expect("there are patches");
        let scratch = scratch.get_or_insert_with(|| PatchScratch::new(all[0].nodes()));
        let of_matrix = |(at, attachable): (usize, &Attachable)| {
            let lanes: Vec<(&Patch, usize)> =
                nodes.iter().map(|&(patches, slot)| (&patches[at], slot)).collect();
            let groups = lanes.chunks(TOGETHER).map(|lanes| attachable.rows(lanes, scratch)).collect();
            Csr::stack(attachable.nodes(), groups)
        };
        all.iter().enumerate().map(of_matrix).collect()
    }
}

/// Calls `task` for some nodes of a network that begins with the nodes of the model: with the numbers of a few of them, at most
/// [`MOST_ROWS`], and their rows; the columns of other nodes are left out. `union` is that of the views of this network, if it took part.
pub(super) fn for_rows_in<R: Send>(
    model: &KeptModel,
    network: &Network,
    union: Option<&View>,
    rows: &[usize],
    pool: &Pool,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    task: impl Fn(&[usize], Rows) -> Vec<R> + Sync,
) -> Result<Vec<R>> {
    let known = model.network.nodes().len();
    let views: Vec<&View> = network.views().iter().chain(union).collect();
    let (settings, together) = (model.settings.proximity, rows_in_task(rows.len(), pool));
    let groups = for_chosen_rows(&views, settings, rows, together, pool, watch, |group, found| {
        task(group, found.into_iter().map(|matrix| first_columns(matrix, known)).collect())
    })?;
    Ok(groups.into_iter().flatten().collect())
}

/// How many of some rows are computed and solved in one task, so that all threads have some.
pub(super) fn rows_in_task(rows: usize, pool: &Pool) -> usize {
    let share = rows.div_ceil(TASKS * pool.threads());
    share.next_multiple_of(TOGETHER).clamp(TOGETHER, MOST_ROWS)
}

/// Only the columns of the nodes of the model, which are the first ones.
fn first_columns(matrix: Csr<f32>, known: usize) -> Csr<f32> {
    if matrix.cols() == known {
        return matrix;
    }
    let kept = |row: usize| {
        let (cols, values) = matrix.row(row);
        let count = cols.partition_point(|&col| (col as usize) < known);
        (&cols[..count], &values[..count])
    };
    joined(known, (0..matrix.rows()).map(kept))
}

/// A matrix of these rows.
fn joined<'a>(cols: usize, rows: impl Iterator<Item = (&'a [u32], &'a [f32])>) -> Csr<f32> {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for (of_row, numbers) in rows {
        indices.extend_from_slice(of_row);
        values.extend_from_slice(numbers);
        indptr.push(indices.len());
    }
    Csr::new(cols, indptr, indices, values)
}

/// The network of a model with a component.
pub(super) fn with_component(model: &KeptModel, component: &Component) -> Network {
    let known = model.network.nodes();
    let mut nodes: Nodes = known.iter().collect();
    // Their ids are not needed.
    component.members.iter().for_each(|member| nodes.push(&format!("new {member}")));
    let view = |(view, arcs): (&View, &Vec<Arc>)| View {
        name: view.name.clone(),
        directed: view.directed,
        adjacency: with_arcs(&view.adjacency, nodes.len(), arcs),
        counts: EdgeCounts::default(),
    };
    let views = model.network.views().iter().zip(&component.arcs).map(view).collect();
    Network::new(nodes, views)
}

/// A matrix with more rows and columns, and arcs there, sorted: all of them have an end among the new.
fn with_arcs(adjacency: &Csr<f64>, nodes: usize, arcs: &[Arc]) -> Csr<f64> {
    let entries = adjacency.entries() + arcs.len();
    let (mut indptr, mut indices, mut values) =
        (vec![0], Vec::with_capacity(entries), Vec::with_capacity(entries));
    let mut next = arcs.iter().peekable();
    for row in 0..nodes {
        if row < adjacency.rows() {
            let (cols, weights) = adjacency.row(row);
            indices.extend_from_slice(cols);
            values.extend_from_slice(weights);
        }
        // Rows of the model get columns of new nodes only, which are after the others.
        while let Some(arc) = next.next_if(|arc| arc.from as usize == row) {
            indices.push(arc.to);
            values.push(arc.weight);
        }
        indptr.push(indices.len());
    }
    Csr::new(nodes, indptr, indices, values)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::living::Additions;
    use crate::method::{self, Options};
    use crate::mnmf::Mnmf;
    use manyview_data::network::{Duplicates, NetworkBuilder};

    /// Two views of 60 nodes, one of them directed and with weights, and new nodes on them.
    fn networks(directed: bool) -> (Network, Network) {
        let mut builders = [NetworkBuilder::new(), NetworkBuilder::new()];
        for (name, directed, step) in [("plain", false, 3), ("weighted", directed, 7)] {
            for (builder, range) in builders.iter_mut().zip([0..60usize, 60..70]) {
                let view = builder.add_view(name, directed, Duplicates::Sum).unwrap();
                for node in range {
                    for (other, weight) in [
                        ((node * step + 1) % 60, 1.0),
                        ((node * node + step) % 60, 0.5),
                        ((node + 11) % 60, 2.0),
                    ] {
                        let weight = if name == "plain" { 1.0 } else { weight };
                        let [from, to] =
                            [node, other].map(|id| builder.node(id.to_string().as_bytes()).unwrap());
                        builder.add_edge(view, from, to, weight).unwrap();
                        if node % 2 == 0 {
                            builder.add_edge(view, to, from, weight).unwrap();
                        }
                    }
                }
            }
            // Two new nodes that are linked with each other.
            let view = builders[1].view_names().count() - 1;
            let [a, b] = ["61", "64"].map(|id| builders[1].node(id.as_bytes()).unwrap());
            builders[1].add_edge(view, a, b, 1.0).unwrap();
        }
        let [model, new] = builders.map(|builder| builder.build().unwrap());
        (model, new)
    }

    fn model(network: &Network) -> KeptModel {
        let settings = Mnmf { dim: 12, stages: 2, max_iter: 3, ..Mnmf::default() };
        let options = Options { keep_factors: true, ..Options::default() };
        let fit =
            method::fit(&settings, "mnmf", network, &options, &mut |_| ControlFlow::Continue(())).unwrap();
        KeptModel::of_fit(&fit, network.clone()).unwrap()
    }

    /// Attached nodes have the rows that they would have in the network; in the union, degrees of others are approximate.
    #[test]
    fn attached_rows_are_those_of_the_network_with_the_new_nodes() {
        let pool = Pool::new(Some(1)).unwrap();
        for directed in [false, true] {
            let (known, new) = networks(directed);
            let model = model(&known);
            let additions = Additions::new(&model, &new).unwrap();
            let attachments = model.attachments(&pool).unwrap();
            let mut compared = 0;
            for component in additions.components(known.nodes().len()) {
                let patches = attachments.patches(&component).unwrap();
                let slots: Vec<(&[Patch], usize)> =
                    (0..component.members.len()).map(|slot| (&patches[..], slot)).collect();
                let attached = attachments.rows(&slots, &mut None);
                let network = with_component(&model, &component);
                let rows: Vec<usize> = (60..network.nodes().len()).collect();
                let go_on = &mut |_| ControlFlow::Continue(());
                let union = model.union_in(&network, &pool);
                let one_task = |_: &[usize], rows| vec![rows];
                let exact =
                    for_rows_in(&model, &network, union.as_ref(), &rows, &pool, go_on, one_task).unwrap();
                assert_eq!(exact.len(), 1, "they are few enough for one task");
                for (at, (attached, exact)) in attached.iter().zip(&exact[0]).enumerate() {
                    for slot in 0..rows.len() {
                        let value = |matrix: &Csr<f32>, col: u32| {
                            let (cols, values) = matrix.row(slot);
                            cols.iter().position(|&other| other == col).map_or(0.0, |at| values[at])
                        };
                        let allowed = if at == 2 { 0.3 } else { 2e-5 };
                        for col in 0..60 {
                            let (ours, theirs) = (value(attached, col), value(exact, col));
                            assert!(
                                (ours - theirs).abs() < allowed,
                                "matrix {at}, column {col}: {ours} and {theirs}"
                            );
                            compared += usize::from(ours > 0.0);
                        }
                    }
                }
            }
            assert!(compared > 200, "{compared}");
        }
    }
}
