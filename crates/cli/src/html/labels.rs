//! The labels of a page, in natural order. A page may have several sets of labels, and colors its nodes by one of them.

use manyview::evaluate;
use serde::Serialize;

/// A set of labels of the nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct LabelSet {
    /// What the labels are.
    pub(crate) title: String,
    /// All labels, each once.
    pub(crate) names: Vec<String>,
    /// The labels of each node of the page.
    pub(crate) of: Vec<Vec<u32>>,
}

impl LabelSet {
    /// The labels of some rows.
    pub(crate) fn of_rows(title: &str, labels: &evaluate::Labels, rows: &[u32]) -> Self {
        let order = in_order(labels.names());
        let mut place = vec![0; order.len()];
        for (at, &label) in order.iter().enumerate() {
            place[label] = at as u32;
        }
        let of_row =
            |&row: &u32| labels.of(row as usize).iter().map(|&label| place[label as usize]).collect();
        LabelSet {
            title: title.to_owned(),
            names: order.iter().map(|&label| labels.names()[label].clone()).collect(),
            of: rows.iter().map(of_row).collect(),
        }
    }
}

/// The order of the names: by value if all are numbers, otherwise alphabetical.
fn in_order(names: &[String]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    let numbers: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
    match numbers {
        Some(numbers) => order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b])),
        None => order.sort_by_key(|&label| &names[label]),
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ordered_by_size_and_words_by_letters() {
        let labels = |sets: [&[&str]; 3]| {
            let sets = sets.map(|set| set.to_vec());
            LabelSet::of_rows(
                "label",
                &evaluate::Labels::from_sets(["ann", "bob", "cat"], sets).unwrap(),
                &[0, 1, 2],
            )
        };
        let numbers = labels([&["10", "9"], &[], &["9"]]);
        assert_eq!(numbers.names, ["9", "10"]);
        assert_eq!((numbers.of[1].len(), &numbers.of[2][..]), (0, &[0][..]));
        assert_eq!(labels([&["b"], &["a"], &["10"]]).names, ["10", "a", "b"]);
    }
}
