//! The stages of a run with all sizes resolved.
//!
//! Invariant: the columns of all stages are adjacent without gaps, consensus stages first (in whatever order the stages
//! run), and every view of a unique stage can get at least one column.

use std::ops::Range;

use super::{ColumnLayout, Mnmf, Order, Share};
use manyview_base::error::{Error, Result};
use manyview_base::message::{option, option_value};
use manyview_data::embedding::Kind;

/// The stages of a run, in the order in which they run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The stages.
    pub stages: Vec<Stage>,
    /// The number of columns of the embedding. The layout of the published code rounds down, so it may be less than `dim`.
    pub dim: usize,
}

/// One stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// The number of the stage, from 1, in the order in which they run.
    pub number: usize,
    /// The kind of stage.
    pub kind: Kind,
    /// Its columns of the embedding.
    pub columns: Range<usize>,
    /// How its columns are divided among the views; has no effect in consensus stages.
    pub split: Split,
}

/// How the columns of a unique stage are divided among the views.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Split {
    /// When the stage starts, by the residuals at that time, among so many of the views and their union: those with the fewest
    /// columns so far for the norms of their residuals.
    Residual(usize),
    /// This many columns for each view, and for their union if it gets any.
    Given(Vec<usize>),
}

/// A unique stage with at most this many columns for each view has columns for some of them only, in turn: see [`in_turn`].
const NARROW: usize = 4;
/// The columns that each of them gets then.
const ENOUGH: usize = 8;

impl Plan {
    /// The first stages of this plan, with their columns side by side.
    pub fn first(&self, stages: usize) -> Plan {
        let mut stages: Vec<Stage> = self.stages.iter().take(stages).cloned().collect();
        let mut order: Vec<usize> = (0..stages.len()).collect();
        order.sort_by_key(|&at| stages[at].columns.start);
        let mut dim = 0;
        for at in order {
            let columns = dim..dim + stages[at].columns.len();
            dim = columns.end;
            stages[at].columns = columns;
        }
        Plan { stages, dim }
    }
}

impl Mnmf {
    /// Resolves the stages for this number of views. With `auto`, what is not known before the fit: the plan that needs most.
    ///
    /// # Errors
    /// [`Error::Config`] with the setting that cannot work.
    pub fn plan(&self, views: usize) -> Result<Plan> {
        self.check()?;
        if views == 0 {
            return Err(Error::config("the network has no views"));
        }
        if self.auto {
            let stages = (self.dim / views).clamp(1, Mnmf::default().stages);
            return Mnmf {
                auto: false,
                stages,
                order: Order::UniqueFirst,
                layout: ColumnLayout::Halves,
                ..self.clone()
            }
            .plan(views);
        }
        let consensus = self.resolved_consensus_stages();
        let unique = self.stages - consensus;
        let mut kinds = [vec![Kind::Consensus; consensus], vec![Kind::Unique; unique]].concat();
        if self.order == Order::UniqueFirst {
            kinds.reverse();
        }
        let dims = self.dims(self.dim, &kinds, views)?;
        if let Some(at) = too_narrow(&kinds, &dims, views) {
            return Err(self.too_small(&kinds, &dims, at, views));
        }
        let dim = dims.iter().sum();
        let mut next =
            [0, (0..kinds.len()).filter(|&at| kinds[at] == Kind::Consensus).map(|at| dims[at]).sum()];
        let mut turn = 0;
        let stages = kinds.iter().zip(&dims).enumerate().map(|(at, (&kind, &dim))| {
            let from = &mut next[usize::from(kind == Kind::Unique)];
            let columns = *from..*from + dim;
            *from = columns.end;
            // The union of the views gets columns where there are enough for each view and one more.
            let targets = self.targets(views).min(dim.max(views));
            let split = match self.share {
                Share::Residual if kind == Kind::Consensus => Split::Residual(targets),
                Share::Residual => Split::Residual(in_turn(dim, targets, unique)),
                Share::Equal => Split::Given(equal_split(dim, targets, &mut turn, kind)),
            };
            Stage { number: at + 1, kind, columns, split }
        });
        Ok(Plan { stages: stages.collect(), dim })
    }

    /// The number of columns of each stage, for a given total.
    fn dims(&self, dim: usize, kinds: &[Kind], views: usize) -> Result<Vec<usize>> {
        if let Some(dims) = &self.stage_dims {
            if dims.len() != kinds.len() {
                let (found, stages) = (dims.len(), kinds.len());
                return Err(Error::config(format!(
                    "{} has {found} numbers for {stages} stages; give one per stage",
                    option("stage_dims")
                )));
            }
            let sum: usize = dims.iter().sum();
            if sum != dim {
                return Err(Error::config(format!(
                    "the sum of {} is {sum}, which is not {}; leave {} out, or make them agree",
                    option("stage_dims"),
                    option_value("dim", dim),
                    option("dim")
                )));
            }
            return Ok(dims.clone());
        }
        let count = |kind| kinds.iter().filter(|&&other| other == kind).count();
        let (consensus, unique) = (count(Kind::Consensus), count(Kind::Unique));
        Ok(match self.layout {
            ColumnLayout::Halves if consensus > 0 && unique > 0 => {
                // Many unique stages of many views may need more than half.
                let all_unique = (dim - dim / 2).max(unique * views).min(dim);
                let mut of_unique = largest_remainder(all_unique, &vec![1.0; unique], 0).into_iter();
                let all_consensus = dim - all_unique;
                let mut of_consensus = largest_remainder(all_consensus, &vec![1.0; consensus], 0).into_iter();
                let mut next = |kind: &Kind| match kind {
                    Kind::Consensus => of_consensus.next(),
                    Kind::Unique | Kind::Joint => of_unique.next(),
                };
                kinds.iter().map_while(&mut next).collect()
            }
            ColumnLayout::Even | ColumnLayout::Halves => largest_remainder(dim, &vec![1.0; kinds.len()], 0),
            ColumnLayout::Code => {
                let consensus = dim / 4 / consensus.max(1);
                let unique = dim * 3 / 4 / (views * unique.max(1)) * views;
                kinds.iter().map(|kind| if *kind == Kind::Consensus { consensus } else { unique }).collect()
            }
        })
    }

    fn too_small(&self, kinds: &[Kind], dims: &[usize], at: usize, views: usize) -> Error {
        let stages = kinds.len();
        if self.stage_dims.is_some() {
            let (number, found) = (at + 1, dims[at]);
            let needed = if kinds[at] == Kind::Unique { views } else { 1 };
            return Error::config(format!(
                "stage {number} has {found} columns and needs at least {needed}, one per view"
            ));
        }
        let works = |dim: &usize| match self.dims(*dim, kinds, views) {
            Ok(dims) => too_narrow(kinds, &dims, views).is_none(),
            Err(_) => false,
        };
        // Four columns for each stage and view are enough for every layout.
        let smallest = (1..=4 * stages * views.max(1)).find(works).expect("some dim works for every plan");
        let plural =
            |number: usize, word: &str| format!("{number} {word}{}", if number == 1 { "" } else { "s" });
        let (stages, views) = (plural(stages, "stage"), plural(views, "view"));
        Error::config(format!(
            "{} is too small for {stages} and {views}: a consensus stage needs one column, a unique stage one per view; \
             use {} or more, or fewer stages",
            option_value("dim", self.dim),
            option_value("dim", smallest)
        ))
    }
}

/// The first stage that has too few columns for its views.
fn too_narrow(kinds: &[Kind], dims: &[usize], views: usize) -> Option<usize> {
    let needed = |kind: Kind| if kind == Kind::Unique { views } else { 1 };
    (0..kinds.len()).find(|&at| dims[at] < needed(kinds[at]))
}

/// The number of views that get columns in a unique stage of this width, so that each gets one in some of the `unique` stages.
///
/// Two columns cannot tell ten groups of nodes apart: they find which nodes a view has, and their clipped residual hides the groups
/// from the next stage. On planted networks of 30,000 nodes, half of which are missing from each of three views, NMI with 64
/// columns is 17 if every stage has two columns for each view, and 78 if one stage has eight (exact matrices; sampled ones, 6 and
/// 37). On labeled networks the two are level.
fn in_turn(width: usize, views: usize, unique: usize) -> usize {
    if width > NARROW * views { views } else { (width / ENOUGH).max(views.div_ceil(unique.max(1))) }
}

/// The same number for each view; the remainder goes to other views from stage to stage.
fn equal_split(dim: usize, views: usize, turn: &mut usize, kind: Kind) -> Vec<usize> {
    let mut split = vec![dim / views; views];
    if kind == Kind::Unique {
        for _ in 0..dim % views {
            split[*turn % views] += 1;
            *turn += 1;
        }
    }
    split
}

/// Divides `total` in proportion to `sizes`, with at least `least` for every size above zero.
///
/// The integer parts of the shares are assigned first, then one each to the largest remainders (the earlier on a tie).
///
/// # Panics
/// When `total` is not enough for the minimum shares.
pub fn largest_remainder(total: usize, sizes: &[f64], least: usize) -> Vec<usize> {
    let counted = sizes.iter().filter(|&&size| size > 0.0).count();
    assert!(total >= counted * least, "{total} cannot give {least} to each of {counted}");
    let spare = (total - counted * least) as f64;
    let sum: f64 = sizes.iter().sum();
    let exact: Vec<f64> = sizes.iter().map(|size| if sum > 0.0 { spare * size / sum } else { 0.0 }).collect();
    let minimum = |size: f64| if size > 0.0 { least } else { 0 };
    let mut shares: Vec<usize> =
        exact.iter().zip(sizes).map(|(x, &size)| minimum(size) + x.floor() as usize).collect();
    let mut order: Vec<usize> = (0..sizes.len()).filter(|&at| sizes[at] > 0.0).collect();
    order.sort_by(|&a, &b| exact[b].fract().total_cmp(&exact[a].fract()).then(a.cmp(&b)));
    let given: usize = shares.iter().sum();
    for &at in order.iter().cycle().take(if order.is_empty() { 0 } else { total - given }) {
        shares[at] += 1;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mnmf::Joint;
    use crate::preset::Preset;

    #[test]
    fn columns_sum_to_dim_for_all_sizes() {
        for views in 1..=8 {
            for stages in 1..=32 {
                let config = Mnmf { stages, share: Share::Equal, ..Mnmf::default() };
                if 256 / stages < views {
                    continue;
                }
                let plan = config.plan(views).unwrap();
                assert_eq!(plan.dim, 256);
                let mut covered = vec![false; 256];
                for stage in &plan.stages {
                    for col in stage.columns.clone() {
                        assert!(!std::mem::replace(&mut covered[col], true), "no column twice");
                    }
                    let Split::Given(split) = &stage.split else { panic!("equal shares are known") };
                    if stage.kind == Kind::Unique {
                        assert_eq!(split.iter().sum::<usize>(), stage.columns.len());
                        assert!(split.iter().max().unwrap() - split.iter().min().unwrap() <= 1);
                    }
                }
                assert!(covered.into_iter().all(|covered| covered));
            }
        }
    }

    #[test]
    fn half_of_the_columns_are_for_the_consensus_where_that_is_enough() {
        let dims = |config: Mnmf, views: usize| -> Vec<usize> {
            config.plan(views).unwrap().stages.iter().map(|stage| stage.columns.len()).collect()
        };
        assert_eq!(dims(Mnmf::default(), 3), [32, 32, 32, 32, 128]);
        assert_eq!(dims(Mnmf { dim: 21, stages: 4, ..Mnmf::default() }, 2), [4, 4, 3, 10]);
        assert_eq!(dims(Mnmf { dim: 20, stages: 4, ..Mnmf::default() }, 5), [5, 5, 5, 5]);
        for (consensus, expected) in [(0, [5; 4]), (4, [5; 4])] {
            let config = Mnmf { dim: 20, stages: 4, consensus_stages: Some(consensus), ..Mnmf::default() };
            assert_eq!(dims(config, 2), expected);
        }
    }

    #[test]
    fn there_is_a_plan_before_one_is_chosen() {
        for (dim, views) in [(1, 1), (3, 6), (7, 6), (12, 6), (256, 6)] {
            let plan = Mnmf { auto: true, dim, ..Mnmf::default() }.plan(views).unwrap();
            assert_eq!(plan.dim, dim);
        }
    }

    #[test]
    fn the_rest_of_equal_shares_goes_round() {
        let splits = |dim: usize, joint: Joint| -> Vec<Split> {
            let (stages, share, consensus_stages) = (4, Share::Equal, Some(1));
            let (layout, order) = (ColumnLayout::Even, Order::ConsensusFirst);
            let config =
                Mnmf { dim, stages, consensus_stages, share, joint, layout, order, ..Mnmf::default() };
            config.plan(3).unwrap().stages[1..].iter().map(|stage| stage.split.clone()).collect()
        };
        assert_eq!(splits(32, Joint::Off), [vec![3, 3, 2], vec![3, 2, 3], vec![2, 3, 3]].map(Split::Given));
        // The union counts as one more view, and gets no column that a view needs.
        assert_eq!(
            splits(24, Joint::On),
            [vec![2, 2, 1, 1], vec![1, 1, 2, 2], vec![2, 2, 1, 1]].map(Split::Given)
        );
        assert_eq!(splits(12, Joint::On), [const { [1; 3] }; 3].map(|split| Split::Given(split.into())));
    }

    #[test]
    fn narrow_stages_serve_some_views_at_a_time() {
        let served = |dim: usize, stages: usize, views: usize| -> Vec<usize> {
            let plan = Mnmf { dim, stages, ..Mnmf::default() }.plan(views).unwrap();
            let of = |stage: &Stage| match stage.split {
                Split::Residual(views) => views,
                Split::Given(_) => panic!("columns are shared by residual"),
            };
            plan.stages.iter().filter(|stage| stage.kind == Kind::Unique).map(of).collect()
        };
        // Three views and their union: 32, 16 and 8 columns in a stage.
        assert_eq!(served(256, 5, 3), [4; 4]);
        assert_eq!(served(128, 5, 3), [2; 4]);
        assert_eq!(served(64, 5, 3), [1; 4]);
        assert_eq!(served(64, 2, 3), [4]);
        // Every view gets columns in some stage.
        assert_eq!(served(64, 3, 6), [4; 2]);
        assert_eq!(served(256, 5, 20), [6; 4]);
    }

    #[test]
    fn the_published_layouts_come_out() {
        // PPI: 8 layers, 6 views: 8 and 4 columns; AMiner_small: 16, 3: 4 and 4; Flickr: 16, 2: 4 and 6.
        for (layers, views, consensus, unique) in [(8, 6, 8, 4), (16, 3, 4, 4), (8, 3, 8, 8), (16, 2, 4, 6)] {
            let authors = Mnmf::preset(Preset::Authors);
            let config = Mnmf { stages: 2 * layers, consensus_stages: Some(layers), ..authors };
            let plan = config.plan(views).unwrap();
            assert_eq!(plan.dim, 256);
            assert_eq!(plan.stages[0].columns.len(), consensus);
            assert_eq!(plan.stages[layers].split, Split::Given(vec![unique; views]));
        }
    }

    #[test]
    fn too_small_a_dim_names_the_smallest_that_works() {
        for (stages, views, layout) in
            [(4, 3, ColumnLayout::Even), (8, 6, ColumnLayout::Even), (3, 2, ColumnLayout::Code)]
        {
            let config = Mnmf { dim: 2, stages, layout, ..Mnmf::default() };
            let message = config.plan(views).unwrap_err().to_string();
            let (_, after) = message.rsplit_once("dim = ").unwrap();
            let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
            let smallest: usize = digits.parse().unwrap();
            assert!(Mnmf { dim: smallest, ..config.clone() }.plan(views).is_ok(), "{message}");
            assert!(Mnmf { dim: smallest - 1, ..config }.plan(views).is_err(), "{message}");
        }
    }

    #[test]
    fn unique_first_runs_first_and_stands_last() {
        let layout = ColumnLayout::Even;
        let one = Mnmf { dim: 16, stages: 4, consensus_stages: Some(1), layout, ..Mnmf::default() };
        let config = Mnmf { order: Order::UniqueFirst, ..one };
        let plan = config.plan(2).unwrap();
        assert_eq!(plan.stages[0].kind, Kind::Unique);
        assert_eq!(plan.stages[3].kind, Kind::Consensus);
        assert_eq!(plan.stages[3].columns, 0..4);
        assert_eq!(plan.stages[0].columns, 4..8);
    }

    #[test]
    fn the_first_stages_have_columns_without_gaps() {
        let order = Order::ConsensusFirst;
        let one = Mnmf { dim: 16, stages: 4, consensus_stages: Some(2), order, ..Mnmf::default() };
        let first = |config: &Mnmf, stages| config.plan(2).unwrap().first(stages);
        let columns =
            |plan: Plan| -> Vec<_> { plan.stages.iter().map(|stage| stage.columns.clone()).collect() };
        assert_eq!(first(&one, 3).dim, 12);
        assert_eq!(columns(first(&one, 3)), [0..4, 4..8, 8..12]);
        let swapped = Mnmf { order: Order::UniqueFirst, ..one };
        assert_eq!(columns(first(&swapped, 3)), [4..8, 8..12, 0..4]);
        assert_eq!(first(&swapped, 9), swapped.plan(2).unwrap());
    }

    #[test]
    fn dims_by_hand_must_fit() {
        let order = Order::ConsensusFirst;
        let config = Mnmf { dim: 10, stages: 2, stage_dims: Some(vec![4, 6]), order, ..Mnmf::default() };
        assert_eq!(config.plan(2).unwrap().stages[1].columns, 4..10);
        let fails = |config: Mnmf| config.plan(2).unwrap_err().to_string();
        assert!(fails(Mnmf { dim: 11, ..config.clone() }).contains("sum of stage_dims is 10"));
        assert!(fails(Mnmf { stages: 3, ..config.clone() }).contains("2 numbers for 3 stages"));
        assert!(fails(Mnmf { stage_dims: Some(vec![9, 1]), ..config }).contains("stage 2 has 1 columns"));
    }

    #[test]
    fn shares_follow_sizes_and_keep_a_least() {
        assert_eq!(largest_remainder(10, &[1.0, 1.0, 1.0], 0), [4, 3, 3]);
        assert_eq!(largest_remainder(10, &[1000.0, 1.0, 0.0], 1), [9, 1, 0]);
        assert_eq!(largest_remainder(7, &[0.0, 0.0], 1), [0, 0]);
        assert_eq!(largest_remainder(2, &[0.3, 0.7], 1), [1, 1]);
    }
}
