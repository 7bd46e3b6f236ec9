//! One step of the walks from sixteen nodes: `next = (D^-1 Aᵀ) now`.
//!
//! While few nodes are reached, a step scatters from those nodes only; later it gathers for every node, in dense views a
//! panel of nodes at a time that fits the first-level cache. All add the same numbers in the same order, except for
//! zeros, so the choice does not affect the result. If all edges of a view have the same weight, the numbers are only added, and
//! the sum of each node is multiplied by its share once. What many rows have in common is added up once (`shared`).

use manyview_base::linalg::kernels::{add_multiple, vectorized};
use manyview_base::linalg::{BLOCK_ROWS, Csr, NARROWEST_PANEL, Real, Tiles};
use manyview_data::network::View;

use super::degrees::Degrees;
use super::shared::{self, Group};

/// Number of rows computed together: one cache line of f32 per node.
pub const TOGETHER: usize = 16;

/// The values of sixteen rows in one column. Aligned, because a load across two cache lines costs twice as much.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Lanes<T>(pub(super) [T; TOGETHER]);

impl<T: Real> Lanes<T> {
    pub(super) const ZERO: Self = Lanes([T::ZERO; TOGETHER]);
}

/// Scattering writes where gathering only reads: it is faster below this fraction of the edges.
const OUTWARD_SHARE: f64 = 0.4;

/// The matrix of the steps.
pub(super) struct Steps<T> {
    /// `D^-1 Aᵀ`; rows of nodes without weight are zero.
    inward: Inward<T>,
    /// `A D^-1`, the same by columns; only if steps from few nodes are expected.
    outward: Option<Csr<T>>,
    /// The one number in each row of `D^-1 Aᵀ`, if the edges of the view have the same weight.
    common: Option<Vec<T>>,
    /// What many rows of `D^-1 Aᵀ` have in common; it is not in `inward`. Then `outward` is `None`, so that all rows are computed in
    /// the same way.
    groups: Vec<Group<T>>,
}

/// A matrix to gather by.
enum Inward<T> {
    Rows(Csr<T>),
    /// For long runs; where they are short, panels are slower (worm_ppi: 0.9 x).
    Panels(Tiles<T>),
}

/// Entries of a row in a panel, on average, from which panels are used.
const ENTRIES_PER_RUN: usize = 8;

impl<T: Real> Inward<T> {
    fn new(matrix: Csr<T>) -> Self {
        if matrix.entries() >= ENTRIES_PER_RUN * matrix.rows() * matrix.cols().div_ceil(NARROWEST_PANEL) {
            Inward::Panels(Tiles::from_csr(&matrix))
        } else {
            Inward::Rows(matrix)
        }
    }
}

/// Whether sixteen rows reach few nodes in a step, estimated from the average degree. Otherwise the matrix by columns
/// would only use memory, and most of it for the largest views.
pub fn goes_out(adjacency: &Csr<f64>) -> bool {
    let (nodes, entries) = (adjacency.rows() as f64, adjacency.entries() as f64);
    TOGETHER as f64 * entries < OUTWARD_SHARE * nodes * nodes
}

impl<T: Real> Steps<T> {
    pub(super) fn new(view: &View, degrees: &Degrees) -> Self {
        let first = view.adjacency.values().first();
        let same = first.filter(|&&first| view.adjacency.values().iter().all(|&weight| weight == first));
        let (groups, rest) = match same {
            None => shared::groups(view, degrees).unzip(),
            Some(_) => (None, None),
        };
        let adjacency = rest.as_ref().unwrap_or(&view.adjacency);
        let share = |(weight, node): (f64, usize)| {
            let degree = degrees.of_nodes[node];
            T::from_f64(if degree > 0.0 { weight * degrees.scale / degree } else { 0.0 })
        };
        let by_target = || {
            let arcs = adjacency.indices().iter().zip(adjacency.values());
            adjacency.with_values(arcs.map(|(&to, &weight)| share((weight, to as usize))).collect())
        };
        let by_source = || {
            let row = |node| adjacency.row(node).1.iter().map(move |&weight| (weight, node));
            adjacency.with_values((0..adjacency.rows()).flat_map(row).map(share).collect())
        };
        // A symmetric matrix is its own transpose, except for the degrees it is divided by.
        let inward = Inward::new(if view.directed { by_target().transpose() } else { by_source() });
        let outward = (groups.is_none() && goes_out(adjacency)).then(by_target);
        let common = same.map(|&weight| (0..adjacency.rows()).map(|node| share((weight, node))).collect());
        Steps { inward, outward, common, groups: groups.unwrap_or_default() }
    }

    /// Writes the numbers after a step to `next`, and the nodes that it may have reached. Only the numbers from `first_col`
    /// on are needed, a multiple of [`BLOCK_ROWS`]; those before it may be anything.
    pub(super) fn make(
        &self,
        now: &[Lanes<T>],
        next: &mut [Lanes<T>],
        first_col: usize,
        reached: &mut NodeSet,
    ) {
        let outward = self.outward.as_ref().filter(|outward| reached.are_few(outward));
        let common = self.common.as_deref();
        vectorized(
            #[inline(always)]
            || match (outward, common) {
                (Some(outward), Some(_)) => go_out::<T, true>(outward, now, next, reached),
                (Some(outward), None) => go_out::<T, false>(outward, now, next, reached),
                (None, Some(_)) => gather::<T, true>(&self.inward, now, next, first_col),
                (None, None) => {
                    gather::<T, false>(&self.inward, now, next, first_col);
                    for group in &self.groups {
                        group.add(now, next, first_col);
                    }
                }
            },
        );
        if outward.is_none() {
            reached.fill();
        }
        if let Some(shares) = common {
            for (Lanes(next), &share) in next.iter_mut().zip(shares).skip(first_col) {
                next.iter_mut().for_each(|next| *next *= share);
            }
        }
    }
}

/// `next = inward x now`, gathered for each node from `first_col` on; without the factors if they are applied later.
#[inline(always)]
fn gather<T: Real, const PLAIN: bool>(
    inward: &Inward<T>,
    now: &[Lanes<T>],
    next: &mut [Lanes<T>],
    first_col: usize,
) {
    match inward {
        Inward::Rows(rows) => {
            for (node, next) in next.iter_mut().enumerate().skip(first_col) {
                let mut total = [T::ZERO; TOGETHER];
                let (from, shares) = rows.row(node);
                for (&from, &share) in from.iter().zip(shares) {
                    add::<T, PLAIN>(&mut total, share, &now[from as usize].0);
                }
                *next = Lanes(total);
            }
        }
        Inward::Panels(tiles) => gather_panels::<T, PLAIN>(tiles, now, next, first_col),
    }
}

#[inline(always)]
fn gather_panels<T: Real, const PLAIN: bool>(
    inward: &Tiles<T>,
    now: &[Lanes<T>],
    next: &mut [Lanes<T>],
    first_col: usize,
) {
    next[first_col..].fill(Lanes::ZERO);
    let blocks = inward.blocks().iter().zip(next.chunks_mut(BLOCK_ROWS));
    for (block, next) in blocks.skip(first_col / BLOCK_ROWS) {
        for (panel, now) in now.chunks(inward.panel()).enumerate() {
            for (pair, next) in next.chunks_mut(2).enumerate() {
                let run = |row: usize| block.run(panel, 2 * pair + row);
                match next {
                    [first, second] => gather_two::<T, PLAIN>([run(0), run(1)], now, first, second),
                    [last] => gather_one::<T, PLAIN>(run(0), now, last),
                    _ => unreachable!("chunks of two have one or two items"),
                }
            }
        }
    }
}

/// The columns and the values of a row in a panel.
type Run<'a, T> = (&'a [u16], &'a [T]);

#[inline(always)]
fn gather_one<T: Real, const PLAIN: bool>((from, shares): Run<'_, T>, now: &[Lanes<T>], next: &mut Lanes<T>) {
    let mut total = next.0;
    for (&from, &share) in from.iter().zip(shares) {
        add::<T, PLAIN>(&mut total, share, &now[usize::from(from)].0);
    }
    next.0 = total;
}

/// Two rows side by side. The additions of a row wait for each other; those of two rows do not.
#[inline(always)]
fn gather_two<T: Real, const PLAIN: bool>(
    runs: [Run<'_, T>; 2],
    now: &[Lanes<T>],
    first: &mut Lanes<T>,
    second: &mut Lanes<T>,
) {
    let common = runs[0].0.len().min(runs[1].0.len());
    let [(heads, rests), (other_heads, other_rests)] = runs.map(|(from, shares)| {
        let ((from, from_rest), (shares, shares_rest)) = (from.split_at(common), shares.split_at(common));
        ((from, shares), (from_rest, shares_rest))
    });
    let (mut total, mut other_total) = (first.0, second.0);
    let pairs = heads.0.iter().zip(heads.1).zip(other_heads.0.iter().zip(other_heads.1));
    for ((&from, &share), (&other_from, &other_share)) in pairs {
        add::<T, PLAIN>(&mut total, share, &now[usize::from(from)].0);
        add::<T, PLAIN>(&mut other_total, other_share, &now[usize::from(other_from)].0);
    }
    (first.0, second.0) = (total, other_total);
    gather_one::<T, PLAIN>(rests, now, first);
    gather_one::<T, PLAIN>(other_rests, now, second);
}

/// The same, scattered from the reached nodes; their neighbors are the nodes reached next. Nodes are processed in
/// ascending order, as in [`gather`], so the sums are bitwise identical.
#[inline(always)]
fn go_out<T: Real, const PLAIN: bool>(
    outward: &Csr<T>,
    now: &[Lanes<T>],
    next: &mut [Lanes<T>],
    reached: &mut NodeSet,
) {
    next.fill(Lanes::ZERO);
    let mut next_reached = NodeSet::new(now.len());
    for node in reached.iter() {
        let (to, shares) = outward.row(node);
        for (&to, &share) in to.iter().zip(shares) {
            add::<T, PLAIN>(&mut next[to as usize].0, share, &now[node].0);
            next_reached.insert(to);
        }
    }
    *reached = next_reached;
}

#[inline(always)]
fn add<T: Real, const PLAIN: bool>(total: &mut [T; TOGETHER], share: T, x: &[T; TOGETHER]) {
    if PLAIN {
        let (mut new, x) = (*total, *x);
        for lane in 0..TOGETHER {
            new[lane] += x[lane];
        }
        *total = new;
    } else {
        add_multiple(total, share, x);
    }
}

/// A set of nodes, one bit each.
#[derive(Clone)]
pub(super) struct NodeSet {
    words: Vec<u64>,
    /// Whether all nodes are members, independent of the bits.
    full: bool,
}

impl NodeSet {
    pub(super) fn new(nodes: usize) -> Self {
        NodeSet { words: vec![0; nodes.div_ceil(64)], full: false }
    }

    pub(super) fn clear(&mut self) {
        self.words.fill(0);
        self.full = false;
    }

    fn fill(&mut self) {
        self.full = true;
    }

    /// Whether the members have few enough edges for a step from them only.
    fn are_few<T: Copy>(&self, outward: &Csr<T>) -> bool {
        let most = OUTWARD_SHARE * outward.entries() as f64;
        !self.full && (self.iter().map(|node| outward.row(node).0.len()).sum::<usize>() as f64) < most
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, node: u32) {
        self.words[node as usize / 64] |= 1 << (node % 64);
    }

    /// The members in ascending order; not for a full set.
    #[inline(always)]
    fn iter(&self) -> impl Iterator<Item = usize> {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let rest = |word: &u64| Some(word & (word - 1)).filter(|&rest| rest != 0);
            std::iter::successors(Some(word).filter(|&word| word != 0), rest)
                .map(move |word| at * 64 + word.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_data::network::EdgeCounts;

    #[test]
    fn members_come_in_ascending_order() {
        let mut set = NodeSet::new(200);
        for node in [199, 0, 64, 63, 5, 64] {
            set.insert(node);
        }
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 5, 63, 64, 199]);
        set.clear();
        assert_eq!(set.iter().count(), 0);
    }

    /// Both kinds of step on the same numbers, from few nodes and from many.
    #[test]
    fn going_out_and_gathering_give_the_same_bits() {
        let nodes = 300;
        let outward = Csr::<f32>::random(nodes, nodes, 0.05, 9);
        let inward = outward.transpose();
        for members in [1, 7, 100, 300] {
            let mut reached = NodeSet::new(nodes);
            let mut now = vec![Lanes::ZERO; nodes];
            for member in 0..members {
                let node = member * 7 % nodes;
                reached.insert(node as u32);
                now[node] = Lanes(std::array::from_fn(|lane| 1.0 / (node * 16 + lane + 1) as f32));
            }
            let bits = |lanes: &Lanes<f32>| lanes.0.map(f32::to_bits);
            let forms = [Inward::Rows(inward.clone()), Inward::Panels(Tiles::from_csr(&inward))];
            for (inward, plain) in forms.iter().flat_map(|form| [(form, false), (form, true)]) {
                let mut gathered = vec![Lanes([7.0f32; TOGETHER]); nodes];
                let (mut sent, mut reached) = (gathered.clone(), reached.clone());
                if plain {
                    gather::<f32, true>(inward, &now, &mut gathered, 0);
                    go_out::<f32, true>(&outward, &now, &mut sent, &mut reached);
                } else {
                    gather::<f32, false>(inward, &now, &mut gathered, 0);
                    go_out::<f32, false>(&outward, &now, &mut sent, &mut reached);
                }
                assert!(sent.iter().map(bits).eq(gathered.iter().map(bits)), "{members} members, {plain}");
                let beyond = (0..nodes).filter(|&node| bits(&sent[node]) != [0; TOGETHER]);
                assert!(beyond.eq(reached.iter()));
            }
        }
    }

    /// Views whose edges have the same weight take another path.
    #[test]
    fn edges_of_equal_weight_give_the_steps_of_any_others() {
        let arcs = Csr::<f64>::random(300, 300, 0.05, 4);
        let adjacency = arcs.with_values(vec![2.5; arcs.entries()]);
        let view = View { name: "v".into(), directed: true, adjacency, counts: EdgeCounts::default() };
        let equal = Steps::<f64>::new(&view, &Degrees::of(&view));
        let mut any = Steps::<f64>::new(&view, &Degrees::of(&view));
        assert!(any.common.take().is_some());
        let now: Vec<_> = (0..300).map(|node| Lanes([1.0 / (1 + node) as f64; TOGETHER])).collect();
        let next = |steps: &Steps<f64>| {
            let (mut next, mut reached) = (vec![Lanes::ZERO; 300], NodeSet::new(300));
            reached.fill();
            steps.make(&now, &mut next, 0, &mut reached);
            next
        };
        for (equal, any) in next(&equal).iter().zip(next(&any)) {
            assert!((equal.0[3] - any.0[3]).abs() <= 1e-12 * any.0[3]);
        }
    }
}
