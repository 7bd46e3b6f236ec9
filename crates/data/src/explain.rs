//! The shares of stages and views in the vector of a node or in the similarity of two nodes.
//!
//! Every column belongs to a part (a consensus stage, or one view or the union of all views in a unique stage), so an inner product is the sum
//! over the parts: `<x, y> = sum over parts p of <x_p, y_p>`. With x = y it is the squared norm. The share of a part
//! is `<x_p, y_p> / sum over parts q of |<x_q, y_q>|`. The vectors of MNMF are non-negative, so the shares are
//! non-negative and sum to 1. Other methods have numbers of both signs: a negative share makes two nodes less
//! similar, and the absolute values of the shares sum to 1.
//!
//! Shares compare columns with each other, so they depend on the scale of the columns. They are meaningful for
//! `balanced` columns.

use serde::Serialize;

use crate::embedding::Kind;
use crate::embedding::{Embedding, Part};

/// The composition of an inner product.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Origin {
    /// The squared norm of a node, or the cosine similarity of two.
    pub total: f64,
    /// The share of the consensus stages.
    pub consensus: f64,
    /// The share of the columns for paths through several views.
    pub joint: f64,
    /// The share of the unique stages of each view, in descending order.
    pub views: Vec<ViewShare>,
    /// The share of each part, in descending order.
    pub parts: Vec<PartShare>,
}

/// The contribution of the unique stages of a view.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ViewShare {
    /// The view.
    pub view: String,
    /// Its share.
    pub share: f64,
}

/// The contribution of a part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartShare {
    /// The number of the stage, from 1.
    pub stage: usize,
    /// The kind of the stage.
    pub kind: Kind,
    /// The view of a unique stage.
    pub view: Option<String>,
    /// The first column, and the one after the last.
    pub columns: [usize; 2],
    /// Its share.
    pub share: f64,
}

impl PartShare {
    /// Returns what the columns come from: consensus, joint, or the name of a view.
    pub fn source(&self) -> &str {
        self.view.as_deref().unwrap_or(self.kind.name())
    }
}

impl Embedding {
    /// Returns the share of each part in the inner product of two nodes, in the order of [`Embedding::parts`]. All
    /// shares are 0 if nothing contributes.
    ///
    /// # Panics
    /// When a node is out of range.
    pub fn part_shares(&self, a: usize, b: usize) -> Vec<f64> {
        let (a, b) = (self.row(a), self.row(b));
        let own = |part: &Part| product(&a[part.columns.clone()], &b[part.columns.clone()]);
        let products: Vec<f64> = self.parts().iter().map(own).collect();
        let whole: f64 = products.iter().map(|product| product.abs()).sum();
        products.iter().map(|product| if whole > 0.0 { product / whole } else { 0.0 }).collect()
    }

    /// Returns the shares of the parts in the squared norm of a vector. All shares are 0 for a zero vector.
    ///
    /// # Panics
    /// When the node is out of range.
    pub fn explain(&self, node: usize) -> Origin {
        let row = self.row(node);
        self.origin(product(row, row), &self.part_shares(node, node))
    }

    /// Returns the shares of the parts in the cosine similarity of two nodes. All shares are 0 if the similarity is.
    ///
    /// # Panics
    /// When a node is out of range.
    pub fn explain_pair(&self, a: usize, b: usize) -> Origin {
        let [x, y] = [a, b].map(|node| self.row(node));
        let whole = product(x, y);
        let cosine = if whole == 0.0 { 0.0 } else { whole / (product(x, x) * product(y, y)).sqrt() };
        self.origin(cosine.clamp(-1.0, 1.0), &self.part_shares(a, b))
    }

    fn origin(&self, total: f64, shares: &[f64]) -> Origin {
        let mut views: Vec<ViewShare> = Vec::new();
        let (mut consensus, mut joint) = (0.0, 0.0);
        for (part, share) in self.parts().iter().zip(shares) {
            match &part.view {
                None if part.kind == Kind::Joint => joint += share,
                None => consensus += share,
                Some(name) => match views.iter_mut().find(|view| view.view == *name) {
                    Some(view) => view.share += share,
                    None => views.push(ViewShare { view: name.clone(), share: *share }),
                },
            }
        }
        let part_share = |(part, &share): (&Part, &f64)| PartShare {
            stage: part.stage,
            kind: part.kind,
            view: part.view.clone(),
            columns: [part.columns.start, part.columns.end],
            share,
        };
        let mut parts: Vec<PartShare> = self.parts().iter().zip(shares).map(part_share).collect();
        // Both sorts are stable: equal shares stay in column order.
        views.sort_by(|a, b| b.share.total_cmp(&a.share));
        parts.sort_by(|a, b| b.share.total_cmp(&a.share));
        Origin { total, consensus, joint, views, parts }
    }
}

/// Returns the inner product in f64.
fn product(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Nodes;

    fn sample() -> Embedding {
        let part = |stage, kind, view: Option<&str>, columns| Part {
            stage,
            kind,
            view: view.map(str::to_owned),
            columns,
        };
        let parts = vec![
            part(1, Kind::Consensus, None, 0..2),
            part(2, Kind::Unique, Some("calls"), 2..3),
            part(2, Kind::Unique, Some("mail"), 3..4),
            part(3, Kind::Unique, Some("calls"), 4..5),
        ];
        let values = [[1., 1., 2., 1., 3.], [0., 2., 1., 0., 1.], [0.; 5]].concat();
        Embedding::new(Nodes::from_iter(["a", "b", "c"]), 5, values, parts)
    }

    #[test]
    fn a_norm_falls_apart_without_a_rest() {
        let origin = sample().explain(0);
        assert_eq!((origin.total, origin.consensus), (16.0, 2.0 / 16.0));
        let views: Vec<(&str, f64)> =
            origin.views.iter().map(|view| (view.view.as_str(), view.share)).collect();
        assert_eq!(views, [("calls", 13.0 / 16.0), ("mail", 1.0 / 16.0)]);
        let parts: Vec<(usize, f64)> = origin.parts.iter().map(|part| (part.stage, part.share)).collect();
        assert_eq!(parts, [(3, 9.0 / 16.0), (2, 4.0 / 16.0), (1, 2.0 / 16.0), (2, 1.0 / 16.0)]);
    }

    #[test]
    fn a_similarity_falls_apart_likewise() {
        let origin = sample().explain_pair(0, 1);
        assert!((origin.total - 7.0 / (16.0f64 * 6.0).sqrt()).abs() < 1e-12);
        assert_eq!(origin.consensus, 2.0 / 7.0);
        let sum: f64 = origin.parts.iter().map(|part| part.share).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        assert_eq!(sample().explain_pair(0, 1).parts, sample().explain_pair(1, 0).parts);
    }

    #[test]
    fn what_several_views_bring_together_has_a_share_of_its_own() {
        let mut parts = sample().parts().to_vec();
        (parts[3].kind, parts[3].view) = (Kind::Joint, None);
        let (nodes, values) = (sample().nodes().clone(), sample().values().to_vec());
        let origin = Embedding::new(nodes, 5, values, parts).explain(0);
        assert_eq!((origin.consensus, origin.joint), (2.0 / 16.0, 9.0 / 16.0));
        assert_eq!((origin.parts[0].source(), origin.parts[1].source()), ("joint", "calls"));
    }

    /// Parts that increase and decrease a similarity; their sum may be close to or below zero.
    #[test]
    fn shares_of_signed_vectors_have_signs() {
        let part =
            |view: &str, columns| Part { stage: 1, kind: Kind::Unique, view: Some(view.into()), columns };
        let parts = vec![part("calls", 0..2), part("mail", 2..3)];
        let pair = Embedding::new(Nodes::from_iter(["a", "b"]), 3, vec![1., 1., 3., 1., 1., -2.], parts);
        let origin = pair.explain_pair(0, 1);
        assert!((origin.total + 4.0 / 66f64.sqrt()).abs() < 1e-12);
        let shares: Vec<(&str, f64)> =
            origin.views.iter().map(|view| (view.view.as_str(), view.share)).collect();
        assert_eq!(shares, [("calls", 0.25), ("mail", -0.75)]);
    }

    #[test]
    fn zero_vectors_have_no_shares() {
        let origin = sample().explain_pair(0, 2);
        assert_eq!((origin.total, origin.consensus), (0.0, 0.0));
        assert!(origin.parts.iter().all(|part| part.share == 0.0));
    }
}
