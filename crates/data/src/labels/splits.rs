//! Splits labeled nodes into training and test nodes.
//!
//! The nodes are ordered by (seed, repeat, id), and the first ones are for training. So a split does not depend on
//! the vectors or on the order of rows, and a larger share has all training nodes of a smaller one (except for
//! rounding within each class).
//!
//! With one label per node, splits are stratified: in each class, the share of training nodes is as close to the
//! requested one as possible, with at least one training node and at least one test node (a class of one node is for
//! training). With several labels per node, only the order matters.

use manyview_base::error::{Error, Result};
use manyview_base::message::option_value;
use manyview_base::random::Key;

use super::Labels;

/// The training rows and the test rows, both ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The rows of the training nodes.
    pub train: Vec<u32>,
    /// The rows of the test nodes.
    pub test: Vec<u32>,
}

/// Separates the random numbers of splits from others with the same seed.
const SPLITS: u64 = 0x7370_6c69_7473;
const FOLDS: u64 = 0x0066_6f6c_6473;

impl Labels {
    /// Returns the split of one repeat: a share of the labeled nodes is for training, the rest for testing.
    ///
    /// # Errors
    /// When the share is not between 0 and 1, or so small or large that there is no training or test node, or no
    /// training node of some class.
    pub fn split(&self, share: f64, seed: u64, repeat: usize) -> Result<Split> {
        if !(share > 0.0 && share < 1.0) {
            return Err(Error::config(format!(
                "{} must be a fraction between 0 and 1, such as 0.5",
                option_value("train", share)
            )));
        }
        let mut order = self.labeled_rows();
        let nodes = order.len();
        let wanted = (share * nodes as f64).round() as usize;
        if wanted == 0 || wanted == nodes {
            return Err(Error::config(format!(
                "{} of {nodes} labeled nodes leaves no {} nodes; choose another fraction",
                option_value("train", share),
                if wanted == 0 { "training" } else { "test" }
            )));
        }
        let key = Key::new(seed).with(SPLITS).with(repeat as u64);
        self.sort(&mut order, key);
        let mut train = if self.is_multi_label() {
            order[..wanted].to_vec()
        } else {
            self.first_of_each_class(&order, share, wanted)?
        };
        train.sort_unstable();
        order.retain(|row| train.binary_search(row).is_err());
        order.sort_unstable();
        if order.is_empty() {
            return Err(Error::network(
                "every class has a single node, so there are no test nodes; each class needs at least two nodes",
            ));
        }
        Ok(Split { train, test: order })
    }

    /// Returns the fold of each of these rows. Classes are spread evenly over the folds.
    pub fn folds(&self, rows: &[u32], folds: usize, seed: u64, repeat: usize) -> Vec<usize> {
        let mut order = rows.to_vec();
        self.sort(&mut order, Key::new(seed).with(FOLDS).with(repeat as u64));
        if !self.is_multi_label() {
            order.sort_by_key(|&row| self.only(row));
        }
        let mut fold = vec![0; rows.len()];
        for (place, row) in order.iter().enumerate() {
            fold[rows.binary_search(row).expect("rows ascend")] = place % folds;
        }
        fold
    }

    /// Sorts rows in an order determined by their ids and the key.
    fn sort(&self, rows: &mut [u32], key: Key) {
        rows.sort_by_cached_key(|&row| (key.with(self.key(row)).bits(), self.key(row), row));
    }

    fn first_of_each_class(&self, order: &[u32], share: f64, wanted: usize) -> Result<Vec<u32>> {
        let sizes: Vec<usize> = self.counts().iter().map(|count| count.nodes).collect();
        let counts = shares(&sizes, share, wanted).ok_or_else(|| {
            let least = (sizes.len() as f64 / order.len() as f64 * 100.0).ceil() / 100.0;
            let advice = match least {
                least if least < 1.0 => format!("use {least} or more"),
                _ => "remove classes with a single node".into(),
            };
            Error::config(format!(
                "{} of {} labeled nodes is {wanted}, which leaves some of the {} classes without a training node; \
                 {advice}",
                option_value("train", share),
                order.len(),
                sizes.len()
            ))
        })?;
        let mut taken = vec![0; sizes.len()];
        let trains = |row: &&u32| {
            let class = self.only(**row) as usize;
            taken[class] += 1;
            taken[class] <= counts[class]
        };
        Ok(order.iter().filter(trains).copied().collect())
    }
}

/// Returns the number of training nodes of each class, `wanted` in total if the bounds allow, or `None` if a class
/// would have none.
fn shares(sizes: &[usize], share: f64, wanted: usize) -> Option<Vec<usize>> {
    if wanted < sizes.len() {
        return None;
    }
    let most = |class: usize| (sizes[class] - 1).max(1);
    let ideal = |class: usize| share * sizes[class] as f64;
    let mut counts: Vec<usize> =
        (0..sizes.len()).map(|class| (ideal(class) as usize).clamp(1, most(class))).collect();
    // The remaining nodes are taken from the classes that lack most; ties go to the first class by name.
    let lack = |counts: &[usize], class: usize| ideal(class) - counts[class] as f64;
    while counts.iter().sum::<usize>() < wanted {
        let open = (0..sizes.len()).filter(|&class| counts[class] < most(class));
        let next = open.rev().max_by(|&a, &b| lack(&counts, a).total_cmp(&lack(&counts, b)));
        let Some(next) = next else { break };
        counts[next] += 1;
    }
    while counts.iter().sum::<usize>() > wanted {
        let open = (0..sizes.len()).filter(|&class| counts[class] > 1);
        let next = open.min_by(|&a, &b| lack(&counts, a).total_cmp(&lack(&counts, b)))?;
        counts[next] -= 1;
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(sizes: &[usize]) -> Labels {
        let of = sizes.iter().enumerate().flat_map(|(class, &size)| vec![format!("c{class}"); size]);
        let of: Vec<String> = of.collect();
        let ids: Vec<String> = (0..of.len()).map(|node| format!("n{node}")).collect();
        Labels::from_sets(&ids, of.iter().map(|label| [label])).unwrap()
    }

    #[test]
    fn every_class_trains_and_is_tested_in_its_share() {
        let labels = labels(&[100, 31, 2, 1]);
        for (share, repeat) in [(0.3, 0), (0.5, 1), (0.7, 2), (0.04, 3), (0.97, 4)] {
            let Split { train, test } = labels.split(share, 7, repeat).unwrap();
            let count = |rows: &[u32], class| rows.iter().filter(|&&row| labels.only(row) == class).count();
            assert_eq!(train.len() + test.len(), 134);
            assert!(train.len().abs_diff((share * 134.0).round() as usize) <= 1, "{share}: {}", train.len());
            assert!((count(&train, 0) as f64 - 100.0 * share).abs() <= 2.0, "{share}: {}", count(&train, 0));
            assert_eq!([count(&train, 2), count(&test, 2)], [1, 1]);
            assert_eq!([count(&train, 3), count(&test, 3)], [1, 0]);
        }
    }

    #[test]
    fn splits_follow_from_ids_and_not_from_rows() {
        let ids: Vec<String> = (0..50).map(|node| format!("n{node}")).collect();
        let pairs: Vec<(&str, &str)> =
            ids.iter().map(|id| (id.as_str(), if id.ends_with('3') { "x" } else { "y" })).collect();
        let forward = Labels::from_pairs(&ids, pairs.iter().copied()).unwrap();
        let backward = Labels::from_pairs(ids.iter().rev(), pairs.iter().copied()).unwrap();
        let here = forward.split(0.4, 3, 1).unwrap();
        let there = backward.split(0.4, 3, 1).unwrap();
        let mut there: Vec<u32> = there.train.iter().map(|row| 49 - row).collect();
        there.sort_unstable();
        assert_eq!(here.train, there);
        assert_ne!(here, forward.split(0.4, 3, 2).unwrap());
        assert_ne!(here, forward.split(0.4, 4, 1).unwrap());
        let larger = forward.split(0.6, 3, 1).unwrap().train;
        assert!(
            here.train.iter().all(|row| larger.contains(row)),
            "a larger share trains on more of the same"
        );
    }

    #[test]
    fn several_labels_split_at_random() {
        let ids: Vec<String> = (0..30).map(|node| format!("n{node}")).collect();
        let labels = Labels::from_sets(&ids, ids.iter().map(|_| ["x", "y"])).unwrap();
        let split = labels.split(0.3, 0, 0).unwrap();
        assert_eq!((split.train.len(), split.test.len()), (9, 21));
    }

    #[test]
    fn shares_that_leave_out_a_class_are_refused() {
        let sentence = |labels: &Labels, share| labels.split(share, 0, 0).unwrap_err().to_string();
        let many = labels(&[10; 10]);
        let text = sentence(&many, 0.05);
        assert!(
            text.contains("leaves some of the 10 classes without a training node; use 0.1 or more"),
            "{text}"
        );
        assert!(sentence(&many, 0.001).contains("leaves no training nodes"));
        assert!(sentence(&many, 0.999).contains("leaves no test nodes"));
        for share in [0.0, 1.0, -0.5, f64::NAN] {
            assert!(sentence(&many, share).contains("between 0 and 1"));
        }
    }

    #[test]
    fn folds_hold_every_class_as_evenly_as_it_goes() {
        let labels = labels(&[50, 10, 3]);
        let rows = labels.labeled_rows();
        let folds = labels.folds(&rows, 5, 1, 0);
        for fold in 0..5 {
            let here = |at: &usize| folds[*at] == fold;
            let of = |class: u32| {
                (0..rows.len()).filter(here).filter(|&at| labels.only(rows[at]) == class).count()
            };
            assert_eq!((of(0), of(1)), (10, 2));
            assert!(of(2) <= 1);
        }
    }
}
