//! Scores of predictions, clusterings and rankings, as defined by scikit-learn; the tests compare with it.
//!
//! A quotient with denominator 0 (the F1 of a label that neither occurs nor is predicted) is 0. Logarithms are natural.
//! In a ranking, ties count one half for the area under the curve, and form one threshold for the average precision.

use std::collections::BTreeMap;

use manyview_base::named;
use serde::Serialize;

/// Micro-F1 and macro-F1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct F1 {
    /// F1 over all decisions; with one label per node, the accuracy.
    pub micro_f1: f64,
    /// The unweighted mean of the labels' F1.
    pub macro_f1: f64,
}

/// Counts of correct and wrong decisions per label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decisions {
    right: Vec<u64>,
    wrongly_given: Vec<u64>,
    missed: Vec<u64>,
}

impl Decisions {
    /// No decisions yet, for this many labels.
    pub fn new(labels: usize) -> Self {
        Decisions { right: vec![0; labels], wrongly_given: vec![0; labels], missed: vec![0; labels] }
    }

    /// Adds a node: its labels and the predicted labels, both in ascending order.
    pub fn add(&mut self, truth: &[u32], predicted: &[u32]) {
        for label in predicted {
            match truth.binary_search(label) {
                Ok(_) => self.right[*label as usize] += 1,
                Err(_) => self.wrongly_given[*label as usize] += 1,
            }
        }
        for label in truth.iter().filter(|label| predicted.binary_search(label).is_err()) {
            self.missed[*label as usize] += 1;
        }
    }

    /// Adds the counts of other decisions.
    pub fn merge(&mut self, other: &Decisions) {
        let add =
            |sums: &mut Vec<u64>, new: &[u64]| sums.iter_mut().zip(new).for_each(|(sum, new)| *sum += new);
        add(&mut self.right, &other.right);
        add(&mut self.wrongly_given, &other.wrongly_given);
        add(&mut self.missed, &other.missed);
    }

    /// Computes the scores. The macro average is over all labels or, with one label per node (`only_seen`), over the
    /// labels that occur or are predicted.
    pub fn f1(&self, only_seen: bool) -> F1 {
        let labels = 0..self.right.len();
        let wrong = |label: usize| self.wrongly_given[label] + self.missed[label];
        let of = |right: u64, wrong: u64| {
            let all = 2 * right + wrong;
            if all == 0 { 0.0 } else { (2 * right) as f64 / all as f64 }
        };
        let micro_f1 = of(self.right.iter().sum(), labels.clone().map(wrong).sum());
        let seen = |label: &usize| !only_seen || self.right[*label] + wrong(*label) > 0;
        let each: Vec<f64> = labels.filter(seen).map(|label| of(self.right[label], wrong(label))).collect();
        let macro_f1 = if each.is_empty() { 0.0 } else { each.iter().sum::<f64>() / each.len() as f64 };
        F1 { micro_f1, macro_f1 }
    }
}

named! {
    /// The mean of the entropies of two partitions that normalizes their mutual information.
    pub enum Average {
        Arithmetic = "arithmetic", "arithmetic mean, as in scikit-learn";
        /// Usual in older papers.
        Geometric = "geometric", "geometric mean";
        Min = "min", "minimum";
        Max = "max", "maximum";
    }
}

impl Average {
    fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Average::Arithmetic => (a + b) / 2.0,
            Average::Geometric => (a * b).sqrt(),
            Average::Min => a.min(b),
            Average::Max => a.max(b),
        }
    }
}

/// The contingency table of two partitions of the same items.
#[derive(Clone, Debug)]
pub struct Contingency {
    /// The sizes of the parts of each partition, without empty parts.
    sizes: [Vec<u64>; 2],
    /// Pairs of parts (indices into `sizes`) and the number of items in both, in order.
    cells: Vec<(usize, usize, u64)>,
    total: u64,
}

impl Contingency {
    /// Counts the pairs; the two lists give the part of each item.
    ///
    /// # Panics
    /// If the lists differ in length.
    pub fn new(first: &[u32], second: &[u32]) -> Self {
        assert_eq!(first.len(), second.len(), "both partitions must be of the same items");
        let places = |parts: &[u32]| {
            let mut sizes = BTreeMap::new();
            parts.iter().for_each(|&part| *sizes.entry(part).or_insert(0u64) += 1);
            let places: BTreeMap<u32, usize> = sizes.keys().copied().zip(0..).collect();
            (sizes.into_values().collect::<Vec<u64>>(), places)
        };
        let ((rows, row_of), (columns, column_of)) = (places(first), places(second));
        let mut cells = BTreeMap::new();
        for (row, column) in first.iter().zip(second) {
            *cells.entry((row_of[row], column_of[column])).or_insert(0u64) += 1;
        }
        let cells = cells.into_iter().map(|((row, column), count)| (row, column, count)).collect();
        Contingency { sizes: [rows, columns], cells, total: first.len() as u64 }
    }

    /// Normalized mutual information: 1 for equal partitions (up to renaming), 0 for independent ones.
    pub fn nmi(&self, average: Average) -> f64 {
        if self.is_trivial() {
            return 1.0;
        }
        let shared = self.mutual_information();
        if shared == 0.0 {
            return 0.0;
        }
        shared / average.of(self.entropy(0), self.entropy(1))
    }

    /// Adjusted mutual information: 1 for equal partitions, 0 on average for random ones with parts of these sizes.
    ///
    /// The expectation is exact. Its time is proportional to the sum of the smaller sizes over all pairs of parts.
    pub fn ami(&self, average: Average) -> f64 {
        if self.is_trivial() {
            return 1.0;
        }
        if self.sizes.iter().any(|sizes| sizes.len() == 1) {
            return 0.0;
        }
        let expected = self.expected_mutual_information();
        // If expectation and maximum are equal up to rounding, the result is 1 instead of 0/0.
        let away_from_zero = |x: f64| if x < 0.0 { x.min(-f64::EPSILON) } else { x.max(f64::EPSILON) };
        let gained = away_from_zero(self.mutual_information() - expected);
        gained / away_from_zero(average.of(self.entropy(0), self.entropy(1)) - expected)
    }

    /// Whether each partition has at most one part.
    fn is_trivial(&self) -> bool {
        self.sizes[0].len() == self.sizes[1].len() && self.sizes[0].len() <= 1
    }

    fn mutual_information(&self) -> f64 {
        if self.sizes.iter().any(|sizes| sizes.len() == 1) {
            return 0.0;
        }
        let total = self.total as f64;
        let term = |&(row, column, count): &(usize, usize, u64)| {
            let independent = self.sizes[0][row] as f64 * self.sizes[1][column] as f64;
            count as f64 / total * libm::log(count as f64 * total / independent)
        };
        self.cells.iter().map(term).sum::<f64>().max(0.0)
    }

    fn entropy(&self, partition: usize) -> f64 {
        let total = self.total as f64;
        let term = |&size: &u64| size as f64 / total * (libm::log(total) - libm::log(size as f64));
        self.sizes[partition].iter().map(term).sum()
    }

    /// The mean mutual information over all partitions with parts of these sizes (Vinh, Epps and Bailey, 2010).
    fn expected_mutual_information(&self) -> f64 {
        let total = self.total as usize;
        let log_factorial = log_factorials(total);
        let mut expected = 0.0;
        for &row in &self.sizes[0] {
            for &column in &self.sizes[1] {
                let (row, column) = (row as usize, column as usize);
                // The hypergeometric probability that parts of these sizes have `both` items in common.
                let fixed = log_factorial[row]
                    + log_factorial[column]
                    + log_factorial[total - row]
                    + log_factorial[total - column]
                    - log_factorial[total];
                let independent = libm::log(total as f64) - libm::log(row as f64) - libm::log(column as f64);
                for both in (row + column).saturating_sub(total).max(1)..=row.min(column) {
                    let chance = libm::exp(
                        fixed
                            - log_factorial[both]
                            - log_factorial[row - both]
                            - log_factorial[column - both]
                            - log_factorial[total + both - row - column],
                    );
                    expected += both as f64 / total as f64 * (independent + libm::log(both as f64)) * chance;
                }
            }
        }
        expected
    }
}

/// `ln 0!` to `ln n!`, accurate to the last digit (compensated summation).
fn log_factorials(most: usize) -> Vec<f64> {
    let (mut sum, mut lost) = (0.0f64, 0.0f64);
    let mut found = vec![0.0];
    for number in 1..=most {
        let term = libm::log(number as f64) - lost;
        let next = sum + term;
        lost = (next - sum) - term;
        sum = next;
        found.push(sum);
    }
    found
}

/// The area under the ROC curve: the probability that a positive scores higher than a negative; ties count one half.
///
/// Returns `None` if there are no positives or no negatives.
pub fn auc(positives: &[f64], negatives: &[f64]) -> Option<f64> {
    let ranking = ranked(positives, negatives);
    let (mut below, mut wins) = (0u64, 0u128);
    for tied in ranking.chunk_by(|a, b| a.0 == b.0).rev() {
        let good = tied.iter().filter(|item| item.1).count() as u64;
        let bad = tied.len() as u64 - good;
        // Twice the number of pairs ranked correctly, so that ties are integers.
        wins += u128::from(good) * u128::from(2 * below + bad);
        below += bad;
    }
    let pairs = 2 * positives.len() as u128 * negatives.len() as u128;
    (pairs > 0).then(|| wins as f64 / pairs as f64)
}

/// Average precision: the mean of the precisions at each distinct score, weighted by the increase in recall.
///
/// Returns `None` if there are no positives.
pub fn average_precision(positives: &[f64], negatives: &[f64]) -> Option<f64> {
    let ranking = ranked(positives, negatives);
    let (mut found, mut seen, mut sum) = (0usize, 0usize, 0.0);
    for tied in ranking.chunk_by(|a, b| a.0 == b.0) {
        let good = tied.iter().filter(|item| item.1).count();
        found += good;
        seen += tied.len();
        sum += good as f64 * (found as f64 / seen as f64);
    }
    (!positives.is_empty()).then(|| sum / positives.len() as f64)
}

/// Scores in descending order, each with whether it belongs to a positive.
fn ranked(positives: &[f64], negatives: &[f64]) -> Vec<(f64, bool)> {
    let good = positives.iter().map(|&score| (score, true));
    let mut all: Vec<(f64, bool)> = good.chain(negatives.iter().map(|&score| (score, false))).collect();
    all.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::random::{Key, Stream};

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-13, "{found} is not {expected}");
    }

    #[test]
    fn f1_of_hand_counted_predictions() {
        let mut decisions = Decisions::new(4);
        // Classes 0 1 1 2, predicted as 0 1 2 2; class 3 does not occur.
        for (truth, predicted) in [(0, 0), (1, 1), (1, 2), (2, 2)] {
            decisions.add(&[truth], &[predicted]);
        }
        let seen = decisions.f1(true);
        near(seen.micro_f1, 0.75);
        near(seen.macro_f1, (1.0 + 2.0 / 3.0 + 2.0 / 3.0) / 3.0);
        near(decisions.f1(false).macro_f1, (1.0 + 2.0 / 3.0 + 2.0 / 3.0) / 4.0);
        assert_eq!(Decisions::new(2).f1(true), F1 { micro_f1: 0.0, macro_f1: 0.0 });
    }

    #[test]
    fn f1_of_several_labels_counts_what_was_missed() {
        let mut decisions = Decisions::new(3);
        decisions.add(&[0, 2], &[0, 1]);
        decisions.add(&[1], &[]);
        let mut twice = decisions.clone();
        twice.merge(&decisions);
        for found in [decisions.f1(false), twice.f1(false)] {
            near(found.micro_f1, 2.0 / (2.0 + 1.0 + 2.0));
            near(found.macro_f1, 1.0 / 3.0);
        }
    }

    #[test]
    fn equal_partitions_score_one_whatever_their_names() {
        let table = Contingency::new(&[0, 0, 1, 1, 2], &[7, 7, 1, 1, 0]);
        for average in [Average::Arithmetic, Average::Geometric, Average::Min, Average::Max] {
            near(table.nmi(average), 1.0);
            near(table.ami(average), 1.0);
        }
        near(Contingency::new(&[1, 1], &[0, 0]).ami(Average::Min), 1.0);
        assert_eq!(Contingency::new(&[1, 1], &[0, 1]).nmi(Average::Arithmetic), 0.0);
        assert_eq!(Contingency::new(&[1, 1], &[0, 1]).ami(Average::Arithmetic), 0.0);
        assert_eq!(Contingency::new(&[], &[]).nmi(Average::Arithmetic), 1.0);
    }

    #[test]
    fn independent_partitions_score_zero() {
        near(Contingency::new(&[0, 0, 1, 1], &[0, 1, 0, 1]).nmi(Average::Arithmetic), 0.0);
    }

    #[test]
    fn nmi_of_a_worked_example() {
        // H = ln 3 - 2/3 ln 2 for the first partition and ln 3 for three singletons; their mutual information is the
        // former.
        let table = Contingency::new(&[0, 0, 1], &[0, 1, 2]);
        let (first, second) = (3f64.ln() - 2.0 / 3.0 * 2f64.ln(), 3f64.ln());
        near(table.nmi(Average::Arithmetic), 2.0 * first / (first + second));
        near(table.nmi(Average::Geometric), (first / second).sqrt());
        near(table.nmi(Average::Min), 1.0);
        near(table.nmi(Average::Max), first / second);
    }

    /// The expectation is the mean over all orders, all of which are computed here.
    #[test]
    fn the_expectation_is_the_mean_over_all_orders() {
        let first = [0, 0, 0, 1, 1, 2];
        let mut orders = vec![vec![]];
        for thing in 0..6usize {
            let insert = |order: &Vec<usize>| {
                let order = order.clone();
                (0..=order.len()).map(move |at| {
                    let mut longer = order.clone();
                    longer.insert(at, thing);
                    longer
                })
            };
            orders = orders.iter().flat_map(insert).collect();
        }
        let second = [0, 0, 1, 1, 1, 1];
        let shuffled = |order: &Vec<usize>| order.iter().map(|&at| second[at]).collect::<Vec<u32>>();
        let of = |order: &Vec<usize>| Contingency::new(&first, &shuffled(order)).mutual_information();
        let mean = orders.iter().map(of).sum::<f64>() / orders.len() as f64;
        near(Contingency::new(&first, &second).expected_mutual_information(), mean);
    }

    #[test]
    fn random_partitions_score_zero_on_average_when_adjusted() {
        let mut stream = Stream::new(Key::new(1));
        let (mut adjusted, mut plain) = (0.0, 0.0);
        for _ in 0..50 {
            let mut parts = || (0..200).map(|_| stream.below(8) as u32).collect::<Vec<u32>>();
            let table = Contingency::new(&parts(), &parts());
            adjusted += table.ami(Average::Arithmetic) / 50.0;
            plain += table.nmi(Average::Arithmetic) / 50.0;
        }
        assert!(adjusted.abs() < 0.01 && plain > 0.03, "{adjusted}, {plain}");
    }

    #[test]
    fn areas_are_shares_of_pairs() {
        near(auc(&[3.0, 2.0], &[1.0, 0.0]).unwrap(), 1.0);
        near(auc(&[0.0], &[1.0]).unwrap(), 0.0);
        near(auc(&[1.0, 1.0], &[1.0]).unwrap(), 0.5);
        near(auc(&[0.8, 0.4], &[0.6, 0.4, 0.1]).unwrap(), (3.0 + 1.5) / 6.0);
        assert_eq!((auc(&[], &[1.0]), auc(&[1.0], &[])), (None, None));
    }

    /// The expected numbers were computed by scikit-learn 1.9 from the same scores, many of which are tied.
    #[test]
    fn rankings_agree_with_scikit_learn() {
        let positives: Vec<f64> = (0..40).map(|k| f64::from(7 * k % 23) / 4.0).collect();
        let negatives: Vec<f64> = (0..60).map(|k| f64::from(5 * k % 19) / 4.0 - 0.5).collect();
        near(auc(&positives, &negatives).unwrap(), 0.680625);
        near(average_precision(&positives, &negatives).unwrap(), 0.6544910516259902);
    }

    #[test]
    fn average_precision_weighs_by_recall() {
        // In descending order: hit, miss, hit, so the precisions at the two hits are 1 and 2/3.
        near(average_precision(&[0.9, 0.5], &[0.7, 0.1]).unwrap(), (1.0 + 2.0 / 3.0) / 2.0);
        near(average_precision(&[1.0], &[1.0]).unwrap(), 0.5);
        assert_eq!(average_precision(&[], &[1.0]), None);
    }
}
