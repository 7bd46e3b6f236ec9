//! Exact nearest neighbors by cosine similarity.
//!
//! All pairs are compared; the time is proportional to `queries x nodes x dim`. Nodes with a zero vector have no
//! neighbors and are not neighbors of others. If no value of the embedding is negative, a cosine of 0 means that two
//! nodes have nothing in common, and they do not count as neighbors. If values have both signs, a cosine of 0 has no
//! special meaning.
//!
//! Invariant: the same neighbors in the same order for any number of threads; ties in row order.

mod search;

use std::io::{self, Write};
use std::ops::ControlFlow;

use manyview_base::error::Result;
use manyview_base::linalg::vector::scale_to_unit_length;
use manyview_base::parallel::Pool;
use manyview_data::embedding::Embedding;
use manyview_data::network::Nodes;
pub(crate) use search::{Rows, Scored, search};

/// A neighbor of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Neighbor {
    /// Its row.
    pub node: u32,
    /// The cosine of the two vectors: above 0 if no value of the embedding is negative, otherwise from -1; up to 1.
    pub similarity: f32,
}

/// Finds the `count` nearest neighbors of each of the given nodes, nearest first; fewer if fewer nodes have anything in
/// common with it.
///
/// # Panics
/// If a node is not a row of the embedding.
pub fn neighbors(embedding: &Embedding, nodes: &[u32], count: usize, pool: &Pool) -> Vec<Vec<Neighbor>> {
    neighbors_watched(embedding, nodes, count, pool, &mut |_| ControlFlow::Continue(()))
        .expect("never interrupted")
}

/// Like [`neighbors()`], and calls `watch` with the number of nodes done.
///
/// # Errors
/// [`manyview_base::error::Error::Interrupted`] if `watch` breaks.
///
/// # Panics
/// If a node is not a row of the embedding.
pub fn neighbors_watched(
    embedding: &Embedding,
    nodes: &[u32],
    count: usize,
    pool: &Pool,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Vec<Vec<Neighbor>>> {
    let units = unit_rows(embedding);
    let somewhere = |row: usize| embedding.row(row).iter().any(|&x| x != 0.0);
    let bias: Vec<f32> =
        (0..embedding.rows()).map(|row| if somewhere(row) { 0.0 } else { f32::NEG_INFINITY }).collect();
    let found =
        search(&Rows { dim: embedding.dim(), values: &units, bias: &bias }, nodes, count, pool, watch)?;
    let signed = embedding.values().iter().any(|&x| x < 0.0);
    let counts = |score: f32| if signed { score > f32::NEG_INFINITY } else { score > 0.0 };
    let near = |(found, &node): (Vec<Scored>, &u32)| {
        let found = found.into_iter().take_while(|scored| somewhere(node as usize) && counts(scored.score));
        // The cosine of equal directions may exceed 1 by rounding.
        found.map(|scored| Neighbor { node: scored.row, similarity: scored.score.clamp(-1.0, 1.0) }).collect()
    };
    Ok(found.into_iter().zip(nodes).map(near).collect())
}

/// Writes the neighbors of some nodes as tab-separated text with the columns node, neighbor and similarity, with quotes
/// around ids that need them.
///
/// # Errors
/// If writing fails.
pub fn write_neighbors(
    writer: &mut impl Write,
    nodes: &Nodes,
    rows: &[u32],
    found: &[Vec<Neighbor>],
) -> io::Result<()> {
    let mut table = csv::WriterBuilder::new().delimiter(b'\t').from_writer(writer);
    table.write_record(["node", "neighbor", "similarity"])?;
    for (&row, found) in rows.iter().zip(found) {
        for Neighbor { node, similarity } in found {
            let cells = [nodes.id(row as usize), nodes.id(*node as usize), &format!("{similarity:.4}")];
            table.write_record(cells)?;
        }
    }
    table.flush()
}

/// All vectors scaled to length 1; zero vectors are unchanged.
pub(crate) fn unit_rows(embedding: &Embedding) -> Vec<f32> {
    let mut values = embedding.values().to_vec();
    values.chunks_exact_mut(embedding.dim().max(1)).for_each(scale_to_unit_length);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embedding(rows: &[[f32; 3]]) -> Embedding {
        let mut nodes = Nodes::default();
        (0..rows.len()).for_each(|row| nodes.push(&row.to_string()));
        Embedding::new(nodes, 3, rows.concat(), Vec::new())
    }

    fn near(rows: &[[f32; 3]], node: u32, count: usize) -> Vec<Neighbor> {
        let pool = Pool::new(Some(1)).unwrap();
        neighbors(&embedding(rows), &[node], count, &pool).remove(0)
    }

    #[test]
    fn length_does_not_matter_and_direction_does() {
        let rows = [[1.0, 0.0, 0.0], [5.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0; 3]];
        let found = near(&rows, 0, 10);
        assert_eq!(found.iter().map(|near| near.node).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(found[0].similarity, 1.0);
        assert!((found[1].similarity - 0.5f32.sqrt()).abs() < 1e-6);
    }

    #[test]
    fn signed_vectors_have_neighbors_on_the_other_side() {
        let rows = [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0; 3]];
        let found: Vec<(u32, f32)> =
            near(&rows, 0, 9).iter().map(|near| (near.node, near.similarity)).collect();
        assert_eq!(found, [(2, 0.0), (1, -1.0)]);
        assert!(near(&rows, 3, 9).is_empty());
    }

    #[test]
    fn nodes_without_direction_are_alone() {
        let rows = [[1.0, 0.0, 0.0], [0.0; 3], [0.0; 3]];
        assert!(near(&rows, 0, 2).is_empty() && near(&rows, 1, 2).is_empty());
    }
}
