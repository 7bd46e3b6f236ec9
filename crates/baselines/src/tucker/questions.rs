//! The training samples: questions "which nodes is this node linked to in this relation?", and the known answers.
//!
//! Invariant: relations are ordered by the names of their views, and the order of questions within an epoch follows
//! from names and nodes alone. So the order in which views are given does not affect the result.

use std::borrow::Cow;

use manyview_base::linalg::Csr;
use manyview_base::random::Key;
use manyview_core::method::Task;
use manyview_data::network::View;

/// A subject and a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) subject: u32,
    pub(super) relation: u32,
}

/// A view in one of its two directions.
#[derive(Debug)]
struct Relation<'a> {
    edges: Cow<'a, Csr<f64>>,
    /// The key of its random numbers.
    key: Key,
}

/// All relations.
#[derive(Debug)]
pub(super) struct Relations<'a> {
    relations: Vec<Relation<'a>>,
}

impl<'a> Relations<'a> {
    /// Returns a relation for each view and, if `reverse`, a second one for its reverse. If `reverse` is not given,
    /// only directed views have a second relation, since others are the same in both directions.
    pub(super) fn new(task: &Task<'a, '_>, reverse: Option<bool>) -> Self {
        let mut views: Vec<&'a View> = task.network.views().iter().collect();
        views.sort_by(|a, b| a.name.cmp(&b.name));
        let key = |view: &View, way: u64| task.view_key("relation", &view.name).with(way);
        let forwards =
            |view: &&'a View| Relation { edges: Cow::Borrowed(&view.adjacency), key: key(view, 0) };
        let backwards = |view: &&'a View| {
            let edges = match view.directed {
                true => Cow::Owned(view.adjacency.transpose()),
                false => Cow::Borrowed(&view.adjacency),
            };
            Relation { edges, key: key(view, 1) }
        };
        let mut relations: Vec<Relation<'a>> = views.iter().map(forwards).collect();
        let reversed = views.iter().filter(|view| reverse.unwrap_or(view.directed));
        relations.extend(reversed.map(backwards));
        Relations { relations }
    }

    pub(super) fn len(&self) -> usize {
        self.relations.len()
    }

    /// Returns the keys of the initial vectors of the relations.
    pub(super) fn start_keys(&self) -> Vec<Key> {
        self.relations.iter().map(|relation| relation.key.with(0)).collect()
    }

    /// Returns the known answers of a question.
    pub(super) fn known(&self, question: Question) -> &[u32] {
        self.relations[question.relation as usize].edges.row(question.subject as usize).0
    }

    /// Returns every question that has an answer, in the random order of an epoch.
    pub(super) fn ordered(&self, epoch: usize) -> Vec<Question> {
        let mut order = Vec::new();
        for (relation, at) in self.relations.iter().zip(0..) {
            let key = relation.key.with(1).with(epoch as u64);
            let asked = (0..relation.edges.rows()).filter(|&node| !relation.edges.row(node).0.is_empty());
            order.extend(asked.map(|node| {
                let question = Question { subject: node as u32, relation: at };
                (key.with(node as u64).bits(), question)
            }));
        }
        order.sort_unstable_by_key(|&(random, question)| (random, question.relation, question.subject));
        order.into_iter().map(|(_, question)| question).collect()
    }
}

/// Divides questions into batches. A single question left over is added to the batch before: a batch of one has no
/// variance.
pub(super) fn batches(questions: &[Question], batch: usize) -> Vec<&[Question]> {
    let mut batches: Vec<&[Question]> = questions.chunks(batch).collect();
    if batches.len() > 1 && batches.last().is_some_and(|last| last.len() == 1) {
        let from = (batches.len() - 2) * batch;
        batches.truncate(batches.len() - 2);
        batches.push(&questions[from..]);
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_left_over_joins_the_batch_before() {
        let questions: Vec<Question> = (0..9).map(|subject| Question { subject, relation: 0 }).collect();
        let lengths = |count: usize, batch| {
            batches(&questions[..count], batch).iter().map(|b| b.len()).collect::<Vec<_>>()
        };
        assert_eq!(lengths(9, 4), [4, 5]);
        assert_eq!(lengths(8, 4), [4, 4]);
        assert_eq!(lengths(7, 4), [4, 3]);
        assert_eq!(lengths(1, 4), [1]);
        assert_eq!(lengths(0, 4), [0usize; 0]);
        assert_eq!(batches(&questions, 4).concat(), questions);
    }
}
