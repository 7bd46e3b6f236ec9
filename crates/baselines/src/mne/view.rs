//! What MNE learns for one view: an extra vector per node, and one matrix that maps extras to vectors.
//!
//! ```text
//! v_i = b_i + X' u_i,   X <- X + u_i e',   u_i <- u_i + X e with the new X
//! ```
//!
//! where e is what a step of skip-gram would add to v_i. The norm of X is bounded, as in the released code.
//!
//! Such a step moves v_i by about `(|u|^2 + |X|^2) e`. Both norms grow, and the steps with them: on Flickr the released
//! rule diverges within an epoch. So where that factor is above 1, the e of the extras is divided by it: v_i moves no
//! further than in plain skip-gram. Below 1 the rule is the released one.
//!
//! Invariant: rows of X and vectors of nodes have the padding of [`Table`], which stays zero.

use crate::sgd::{Pair, Table, Target, product, update_outputs};
use manyview_base::linalg::kernels::vectorized;
use manyview_base::linalg::vector::add_multiple;
use manyview_base::random::{Key, Stream};
use manyview_base::sampling::Alias;

/// The maximum norm of X, which is scaled down when it exceeds this.
const MOST_NORM: f64 = 1000.0;

/// The maximum number of draws for a negative sample that is not the positive one. There may be no other node.
const MOST_DRAWS: usize = 16;

/// Extra vectors, and the matrix that maps them to vectors.
#[derive(Clone, Debug)]
pub(super) struct Extras {
    pub(super) extra: usize,
    /// Row after row, `extra` numbers each.
    pub(super) vectors: Vec<f32>,
    /// `extra` padded rows.
    pub(super) matrix: Vec<f32>,
    /// The squared norm of the matrix, updated with every step.
    pub(super) square: f64,
}

impl Extras {
    /// Returns a zero matrix and random vectors. If both were zero, neither would ever change.
    pub(super) fn new(nodes: usize, extra: usize, stride: usize, key: Key) -> Self {
        let random = |at: usize| {
            let unit = manyview_base::random::unit_f64(key.at(at / extra, at % extra));
            ((unit - 0.5) / extra as f64) as f32
        };
        let vectors = (0..nodes * extra).map(random).collect();
        Extras { extra, vectors, matrix: vec![0.0; extra * stride], square: 0.0 }
    }

    fn of(&self, node: usize) -> &[f32] {
        &self.vectors[node * self.extra..][..self.extra]
    }

    /// Adds `weight X' u` to the vector of a node.
    #[inline(always)]
    pub(super) fn add_to(&self, vector: &mut [f32], node: usize, weight: f32) {
        let stride = self.matrix.len() / self.extra;
        for (row, &u) in self.matrix.chunks_exact(stride).zip(self.of(node)) {
            add_multiple(vector, weight * u, &row[..vector.len()]);
        }
    }

    /// Updates matrix and vector by the step e of skip-gram.
    #[inline(always)]
    pub(super) fn learn(&mut self, node: usize, error: &[f32]) {
        let vector = &mut self.vectors[node * self.extra..][..self.extra];
        let own: f64 = vector.iter().map(|&u| f64::from(u) * f64::from(u)).sum();
        let scale = (1.0 / (own + self.square).max(1.0)) as f32;
        let mut along = 0.0;
        for (row, u) in self.matrix.chunks_exact_mut(error.len()).zip(vector) {
            add_multiple(row, scale * *u, error);
            let step = scale * product(row, error);
            along += f64::from(*u) * f64::from(step);
            *u += step;
        }
        // |X + u e'|^2 = |X|^2 + 2 u (X e) + |u|^2 |e|^2, and the steps are (X + u e') e, all with the scaled e.
        let scale = f64::from(scale);
        self.square += 2.0 * along - own * scale * scale * f64::from(product(error, error));
        if self.square > MOST_NORM * MOST_NORM {
            self.scale_down();
        }
    }

    fn scale_down(&mut self) {
        let square: f64 = self.matrix.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
        let factor = (MOST_NORM / square.sqrt()).min(1.0);
        self.matrix.iter_mut().for_each(|x| *x = (f64::from(*x) * factor) as f32);
        self.square = square * factor * factor;
    }
}

/// Trains the pairs of one view, one after the other.
pub(super) struct Steps<'a> {
    pub(super) noise: &'a Alias,
    pub(super) negative: usize,
    vector: Vec<f32>,
    error: Vec<f32>,
    targets: Vec<Target>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(noise: &'a Alias, negative: usize, stride: usize) -> Self {
        let (vector, error) = (vec![0.0; stride], vec![0.0; stride]);
        Steps { noise, negative, vector, error, targets: Vec::with_capacity(negative + 1) }
    }

    /// Trains extras and outputs, and the base if it is not fixed.
    pub(super) fn run(
        &mut self,
        base: &mut Base<'_>,
        extras: &mut Extras,
        outputs: &mut Table,
        pairs: &[Pair],
        rate: f32,
        stream: &mut Stream,
    ) {
        vectorized(
            #[inline(always)]
            || {
                for pair in pairs {
                    self.choose(pair.output, stream);
                    let node = pair.input as usize;
                    self.vector[..base.get().dim()].copy_from_slice(base.get().row(node));
                    extras.add_to(&mut self.vector, node, 1.0);
                    let Steps { vector, error, targets, .. } = self;
                    update_outputs(vector, outputs.padded_mut(), targets, rate, error);
                    extras.learn(node, error);
                    if let Base::Learns(base) = base {
                        add_multiple(base.row_mut(node), 1.0, error);
                    }
                }
            },
        );
    }

    /// Chooses the targets: the positive, and negatives. A negative that is the positive is drawn again.
    fn choose(&mut self, positive: u32, stream: &mut Stream) {
        self.targets.clear();
        self.targets.push(Target { row: positive, label: 1.0 });
        for _ in 0..self.negative {
            let mut draws = (0..MOST_DRAWS).map(|_| self.noise.draw(stream) as u32);
            if let Some(row) = draws.find(|&row| row != positive) {
                self.targets.push(Target { row, label: 0.0 });
            }
        }
    }
}

/// The vectors that all views share.
pub(super) enum Base<'a> {
    /// Already learned.
    Fixed(&'a Table),
    /// Learned together with the extras.
    Learns(&'a mut Table),
}

impl Base<'_> {
    fn get(&self) -> &Table {
        match self {
            Base::Fixed(table) => table,
            Base::Learns(table) => table,
        }
    }
}
