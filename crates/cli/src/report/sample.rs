//! The nodes of a page: all of them, or a sample of a large result.
//!
//! A page with every node of a large network would have hundreds of megabytes, and the search for the neighbors of all
//! nodes takes time that grows with the square of their number. The neighbors of sampled nodes are searched among all nodes, so what the
//! page says about a node does not depend on the sample.
//!
//! Invariant: the sample depends only on the number of nodes and the seed.

use std::borrow::Cow;

use anyhow::Result;
use manyview::evaluate::Labels;
use manyview::layout::draw_rows;
use manyview::{Embedding, Error};

use crate::ui::thousands;

/// How many nodes a page shows.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Results of up to this many nodes are shown completely.
    whole: usize,
    /// The number of nodes that are drawn of larger ones.
    drawn: usize,
}

/// At these sizes a page has about 12 MB or less, and takes a minute or two on two cores for up to a million nodes.
const LIMITS: Limits = Limits { whole: 50_000, drawn: 20_000 };

/// The nodes that a page shows.
#[derive(Debug)]
pub(crate) struct Sample<'a> {
    /// Their rows, in ascending order.
    pub(crate) rows: Vec<u32>,
    /// Their vectors.
    pub(crate) embedding: Cow<'a, Embedding>,
    /// The number of all nodes.
    pub(crate) total: usize,
}

impl<'a> Sample<'a> {
    /// Takes all nodes, or draws some of them: `size` if given.
    pub(crate) fn of(embedding: &'a Embedding, size: Option<usize>, seed: u64) -> Self {
        let limits = size.map_or(LIMITS, |size| Limits { whole: size, drawn: size });
        Self::within(limits, embedding, seed)
    }

    fn within(limits: Limits, embedding: &'a Embedding, seed: u64) -> Self {
        let total = embedding.rows();
        if total <= limits.whole {
            return Sample { rows: (0..total as u32).collect(), embedding: Cow::Borrowed(embedding), total };
        }
        let rows = draw_rows(total, limits.drawn, seed);
        let embedding = Cow::Owned(embedding.select(&rows));
        Sample { rows, embedding, total }
    }

    /// Whether some nodes were not drawn.
    pub(crate) fn is_part(&self) -> bool {
        self.rows.len() < self.total
    }

    /// `20,000 of 1,000,000 nodes`, if some were not drawn.
    pub(crate) fn words(&self) -> Option<String> {
        self.is_part().then(|| format!("{} of {} nodes", thousands(self.rows.len()), thousands(self.total)))
    }

    /// The labels of these nodes.
    ///
    /// # Errors
    /// [`Error::Network`] when none of them has a label.
    pub(crate) fn labels<'l>(&self, labels: &'l Labels) -> Result<Cow<'l, Labels>, Error> {
        if !self.is_part() {
            return Ok(Cow::Borrowed(labels));
        }
        let names = |&row: &u32| labels.of(row as usize).iter().map(|&label| &labels.names()[label as usize]);
        Labels::from_sets(self.embedding.nodes().iter(), self.rows.iter().map(names)).map(Cow::Owned)
    }
}

#[cfg(test)]
mod tests {
    use manyview::network::Nodes;

    use super::*;

    fn embedding(rows: usize) -> Embedding {
        let nodes: Nodes = (0..rows).map(|row| format!("n{row}")).collect();
        Embedding::new(nodes, 1, (0..rows).map(|row| row as f32).collect(), Vec::new())
    }

    #[test]
    fn small_results_are_whole_and_large_ones_are_drawn() {
        let limits = Limits { whole: 9, drawn: 4 };
        let small = embedding(9);
        let all = Sample::within(limits, &small, 0);
        assert_eq!((all.rows.len(), all.is_part(), all.words()), (9, false, None));
        let large = embedding(10);
        let some = Sample::within(limits, &large, 0);
        assert_eq!(some.words().as_deref(), Some("4 of 10 nodes"));
        for (at, &row) in some.rows.iter().enumerate() {
            assert_eq!(some.embedding.nodes().id(at), format!("n{row}"));
            assert_eq!(some.embedding.row(at), [row as f32]);
        }
        let labels = Labels::from_sets(large.nodes().iter(), (0..10).map(|row| [format!("l{row}")])).unwrap();
        let labels = some.labels(&labels).unwrap();
        let expected: Vec<String> = some.rows.iter().map(|row| format!("l{row}")).collect();
        assert_eq!(labels.names(), expected);
        assert!(
            Labels::from_pairs(large.nodes().iter(), [("n0", "x")])
                .is_ok_and(|first| some.labels(&first).is_ok() == (some.rows[0] == 0))
        );
    }
}
