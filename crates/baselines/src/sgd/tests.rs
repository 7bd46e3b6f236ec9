//! Tests of whole trainings: the optimum, and bitwise identical results for any number of threads.

use super::*;
use manyview_base::error::{Error, Result};
use manyview_base::parallel::Pool;
use manyview_base::random::{Key, Stream};
use manyview_base::sampling::Alias;

const ITEMS: usize = 16;

/// The probability of each pair, and of each output as noise.
struct Law {
    pairs: Vec<f64>,
    noise: Vec<f64>,
}

impl Law {
    /// Symmetric, with items of different weight and pairs of different strength.
    fn new() -> Self {
        let chance = |at: usize| {
            let (i, j) = (at / ITEMS, at % ITEMS);
            (1.0 + (i % 5) as f64) * (1.0 + (j % 5) as f64) * if i / 4 == j / 4 { 6.0 } else { 1.0 }
        };
        let pairs: Vec<f64> = (0..ITEMS * ITEMS).map(chance).collect();
        let total: f64 = pairs.iter().sum();
        let noise: Vec<f64> = (0..ITEMS).map(|item| 1.0 + (item % 3) as f64).collect();
        let whole: f64 = noise.iter().sum();
        Law {
            pairs: pairs.iter().map(|pair| pair / total).collect(),
            noise: noise.iter().map(|item| item / whole).collect(),
        }
    }

    fn input(&self, i: usize) -> f64 {
        self.pairs[i * ITEMS..][..ITEMS].iter().sum()
    }

    /// The probability that (i, j) is a negative, per pair and negative.
    fn negative(&self, i: usize, j: usize, clash: Clash) -> f64 {
        let pair = |k: usize| self.pairs[i * ITEMS + k];
        match clash {
            Clash::Keep => self.input(i) * self.noise[j],
            Clash::Skip => (self.input(i) - pair(j)) * self.noise[j],
            Clash::Redraw => {
                let others = (0..ITEMS).filter(|&k| k != j);
                self.noise[j] * others.map(|k| pair(k) / (1.0 - self.noise[k])).sum::<f64>()
            }
        }
    }

    /// Pairs drawn from the distribution.
    fn corpus(&self, blocks: usize) -> Corpus<impl Fn(usize, &mut Vec<Pair>) + Sync + use<>> {
        let table = Alias::new(&self.pairs);
        let fill = move |block: usize, pairs: &mut Vec<Pair>| {
            let mut stream = Stream::new(Key::new(9).with(block as u64));
            for _ in 0..100 {
                let at = table.draw(&mut stream);
                pairs.push(Pair { input: (at / ITEMS) as u32, output: (at % ITEMS) as u32 });
            }
        };
        Corpus { blocks, block_pairs: 100.0, fill }
    }
}

struct Case {
    parts: usize,
    threads: usize,
    clash: Clash,
    blocks: usize,
    one_table: bool,
}

/// Input and output vectors after training, and the reported progress.
fn run(case: &Case) -> (Table, Table, Vec<f64>) {
    let law = Law::new();
    let parts = Parts::balanced(&law.noise, case.parts);
    let noise = Noise::new(&parts, &law.noise);
    let mut inputs = Table::random(parts.clone(), 20, Key::new(1));
    let mut outputs = Table::zeros(parts, 20);
    let pool = Pool::new(Some(case.threads)).unwrap();
    let negatives = Negatives { noise: &noise, count: 3, clash: case.clash };
    let training =
        Training { negatives, rate: Rate { first: 0.05, last: 1e-4 }, key: Key::new(2), pool: &pool };
    let corpus = law.corpus(case.blocks);
    let mut told = Vec::new();
    let mut watch = |share: f64| -> Result<()> {
        told.push(share);
        Ok(())
    };
    let mut tables = if case.one_table {
        Tables::One(&mut inputs)
    } else {
        Tables::Two { inputs: &mut inputs, outputs: &mut outputs }
    };
    train(&mut tables, &corpus, 0..case.blocks, &training, &|_, _, _| (), &mut watch).unwrap();
    (inputs, outputs, told)
}

/// The gradient over all pairs is zero at `x_i y_j = log(chance of the pair / (b chance as a negative))`.
#[test]
fn products_go_to_the_optimum_for_any_number_of_parts() {
    let law = Law::new();
    for (parts, clash) in [
        (1, Clash::Keep),
        (1, Clash::Skip),
        (1, Clash::Redraw),
        (4, Clash::Keep),
        (4, Clash::Skip),
        (8, Clash::Skip),
    ] {
        let (inputs, outputs, _) = run(&Case { parts, threads: 2, clash, blocks: 12_000, one_table: false });
        let mut squares = 0.0f64;
        for i in 0..ITEMS {
            for j in 0..ITEMS {
                let found: f32 = inputs.row(i).iter().zip(outputs.row(j)).map(|(x, y)| x * y).sum();
                let optimum = (law.pairs[i * ITEMS + j] / (3.0 * law.negative(i, j, clash))).ln();
                squares += (f64::from(found) - optimum).powi(2);
            }
        }
        let off = (squares / (ITEMS * ITEMS) as f64).sqrt();
        assert!(off < 0.15, "{parts} parts, {clash:?}: off by {off}");
    }
}

#[test]
fn threads_change_no_bit_and_shares_rise() {
    for (parts, one_table) in [(1, false), (4, false), (1, true), (4, true)] {
        let case = |threads| Case { parts, threads, clash: Clash::Skip, blocks: 600, one_table };
        let ((one, one_out, told), (three, three_out, _)) = (run(&case(1)), run(&case(3)));
        let all = |table: &Table| table.to_vec(|_| true);
        assert_eq!(all(&one), all(&three), "{parts} parts");
        assert_eq!(all(&one_out), all(&three_out), "{parts} parts");
        assert!(all(&one).iter().all(|x| x.is_finite()));
        assert_eq!(all(&one_out).iter().all(|&y| y == 0.0), one_table);
        assert!(told.is_sorted() && told[0] == 0.0 && *told.last().unwrap() == 1.0, "{told:?}");
    }
}

/// In one table, items of a group become similar, and no item is trained against itself.
#[test]
fn one_table_finds_the_groups() {
    for parts in [1, 4] {
        let case = Case { parts, threads: 2, clash: Clash::Keep, blocks: 4000, one_table: true };
        let (table, ..) = run(&case);
        let product =
            |i: usize, j: usize| -> f32 { table.row(i).iter().zip(table.row(j)).map(|(x, y)| x * y).sum() };
        for i in 0..ITEMS {
            let mean = |near: bool| -> f32 {
                let others: Vec<usize> = (0..ITEMS).filter(|&j| j != i && (j / 4 == i / 4) == near).collect();
                others.iter().map(|&j| product(i, j)).sum::<f32>() / others.len() as f32
            };
            assert!(mean(true) > mean(false) + 1.0, "item {i}: {} and {}", mean(true), mean(false));
        }
    }
}

#[test]
fn breaking_ends_the_training() {
    let law = Law::new();
    for count in [1, 4] {
        let parts = Parts::balanced(&law.noise, count);
        let noise = Noise::new(&parts, &law.noise);
        let mut table = Table::random(parts, 4, Key::new(1));
        let negatives = Negatives { noise: &noise, count: 1, clash: Clash::Skip };
        let pool = Pool::new(Some(1)).unwrap();
        let training = Training { negatives, rate: Rate::falling_from(0.1), key: Key::new(2), pool: &pool };
        let mut watch = |_: f64| Err(Error::Interrupted);
        let ended =
            train(&mut Tables::One(&mut table), &law.corpus(10), 0..10, &training, &|_, _, _| (), &mut watch);
        assert!(matches!(ended, Err(Error::Interrupted)));
    }
}

/// The hierarchical softmax alone finds the probability of each output given the input.
#[test]
fn the_tree_learns_the_chances_themselves() {
    let law = Law::new();
    let counts: Vec<u64> = (0..ITEMS).map(|item| (1e4 * law.input(item)) as u64).collect();
    let tree = Tree::new(&counts);
    let parts = Parts::one(ITEMS);
    let noise = Noise::new(&parts, &law.noise);
    let mut inputs = Table::random(parts, 20, Key::new(1));
    let mut outputs = Table::zeros(Parts::one(0), 20);
    let mut inner = Table::zeros(Parts::one(tree.inner()), 20);
    let negatives = Negatives { noise: &noise, count: 0, clash: Clash::Skip };
    let pool = Pool::new(Some(1)).unwrap();
    let training =
        Training { negatives, rate: Rate { first: 0.05, last: 1e-4 }, key: Key::new(2), pool: &pool };
    let corpus = law.corpus(12_000);
    let mut tables = Tables::Two { inputs: &mut inputs, outputs: &mut outputs };
    let softmax = Some((&tree, &mut inner));
    train_in_order(&mut tables, softmax, &corpus, 0..12_000, &training, &|_, _, _| (), &mut |_| Ok(()))
        .unwrap();
    for i in 0..ITEMS {
        let chance = |j: usize| -> f64 {
            let of = |target: &Target| {
                let y = inner.row(target.row as usize);
                let z: f32 = inputs.row(i).iter().zip(y).map(|(x, y)| x * y).sum();
                let right = 1.0 / (1.0 + f64::from(-z).exp());
                if target.label == 1.0 { right } else { 1.0 - right }
            };
            tree.way(j).iter().map(of).product()
        };
        assert!(((0..ITEMS).map(chance).sum::<f64>() - 1.0).abs() < 1e-9);
        for j in 0..ITEMS {
            let wanted = law.pairs[i * ITEMS + j] / law.input(i);
            assert!((chance(j) / wanted).ln().abs() < 0.2, "{i} {j}: {} and {wanted}", chance(j));
        }
    }
}
