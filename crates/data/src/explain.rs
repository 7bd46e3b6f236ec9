//! Which stages and views a node's vector, or the similarity of two nodes, comes from.
//!
//! Every column belongs to a part (a consensus stage, or one view of a unique stage), so an inner product falls apart
//! without a rest: `<x, y> = sum over parts p of <x_p, y_p>`. With x = y it is the squared norm. The share of a part is
//! `<x_p, y_p> / sum over parts q of |<x_q, y_q>|`. Numbers of MNMF are at least 0, so the shares are, too, and sum to 1.
//! Other methods have numbers of both signs: a negative share drives two nodes apart, and the shares without their signs sum
//! to 1.
//!
//! Shares compare columns with each other and so depend on their scale; they mean what they say for `balanced` ones.

use serde::Serialize;

use crate::embedding::Kind;
use crate::embedding::{Embedding, Part};

/// Where an inner product comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Origin {
    /// The squared norm of a node, or the cosine of two.
    pub total: f64,
    /// The share of the consensus stages.
    pub consensus: f64,
    /// The share of each view's unique stages, largest first.
    pub views: Vec<ViewShare>,
    /// The share of each part, largest first.
    pub parts: Vec<PartShare>,
}

/// What a view alone contributes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ViewShare {
    /// The view.
    pub view: String,
    /// Its share.
    pub share: f64,
}

/// What a part contributes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartShare {
    /// The stage, from 1.
    pub stage: usize,
    /// What it looked for.
    pub kind: Kind,
    /// The view, in a unique stage.
    pub view: Option<String>,
    /// The columns: from, and up to but not including.
    pub columns: [usize; 2],
    /// Its share.
    pub share: f64,
}

impl Embedding {
    /// What each part contributes to the inner product of two nodes, as shares, in the order of [`Embedding::parts`]. All
    /// are 0 when nothing contributes.
    ///
    /// # Panics
    /// When there are no such nodes.
    pub fn part_shares(&self, a: usize, b: usize) -> Vec<f64> {
        let (a, b) = (self.row(a), self.row(b));
        let own = |part: &Part| product(&a[part.columns.clone()], &b[part.columns.clone()]);
        let products: Vec<f64> = self.parts().iter().map(own).collect();
        let whole: f64 = products.iter().map(|product| product.abs()).sum();
        products.iter().map(|product| if whole > 0.0 { product / whole } else { 0.0 }).collect()
    }

    /// Which parts a node's vector lies in: shares of its squared norm. All are 0 for a zero vector.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn explain(&self, node: usize) -> Origin {
        let row = self.row(node);
        self.origin(product(row, row), &self.part_shares(node, node))
    }

    /// Which parts make two nodes similar: shares of their cosine. All are 0 when that is.
    ///
    /// # Panics
    /// When there are no such nodes.
    pub fn explain_pair(&self, a: usize, b: usize) -> Origin {
        let [x, y] = [a, b].map(|node| self.row(node));
        let whole = product(x, y);
        let cosine = if whole == 0.0 { 0.0 } else { whole / (product(x, x) * product(y, y)).sqrt() };
        self.origin(cosine.clamp(-1.0, 1.0), &self.part_shares(a, b))
    }

    fn origin(&self, total: f64, shares: &[f64]) -> Origin {
        let mut views: Vec<ViewShare> = Vec::new();
        let mut consensus = 0.0;
        for (part, share) in self.parts().iter().zip(shares) {
            match &part.view {
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
        // Both sorts are stable: what is equal stays in the order of the columns.
        views.sort_by(|a, b| b.share.total_cmp(&a.share));
        parts.sort_by(|a, b| b.share.total_cmp(&a.share));
        Origin { total, consensus, views, parts }
    }
}

/// The inner product, in f64.
pub fn product(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Nodes;

    fn sample() -> Embedding {
        let mut nodes = Nodes::default();
        ["a", "b", "c"].into_iter().for_each(|id| nodes.push(id));
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
        Embedding::new(nodes, 5, values, parts)
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

    /// Parts that speak for and against a similarity, whose sum may be near or below zero.
    #[test]
    fn shares_of_signed_vectors_have_signs() {
        let mut nodes = Nodes::default();
        ["a", "b"].into_iter().for_each(|id| nodes.push(id));
        let part =
            |view: &str, columns| Part { stage: 1, kind: Kind::Unique, view: Some(view.into()), columns };
        let parts = vec![part("calls", 0..2), part("mail", 2..3)];
        let pair = Embedding::new(nodes, 3, vec![1., 1., 3., 1., 1., -2.], parts);
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
