//! Some rows of the exact matrices of several views, in any order, a few of all views at a time.
//!
//! Invariant: a row is that of the whole matrix, whichever others are computed with it.

use std::ops::ControlFlow;

use super::Settings;
use super::degrees::{Degrees, Precision};
use super::walk::{Rule, Scratch, Walk};
use manyview_base::error::{Error, Result};
use manyview_base::linalg::Csr;
use manyview_base::parallel::Pool;
use manyview_data::network::View;

/// The walks in a view, in the numbers that they need.
enum AnyWalk<'a> {
    Usual(Walk<'a, f32>),
    Double(Walk<'a, f64>),
}

/// Working memory for both.
#[derive(Default)]
struct AnyScratch {
    usual: Option<Scratch<f32>>,
    double: Option<Scratch<f64>>,
}

/// Computes some rows of the matrices of all views, and calls `task` for each `together` of them with the numbers of the nodes and their rows
/// in each view. What it returns comes in the order of `rows`. Sixteen rows share the steps of their walks, so `together` should be a
/// multiple of that.
///
/// # Errors
/// When numbers would be beyond those of f64; [`Error::Interrupted`] if `watch`, which gets the number of finished rows, breaks.
pub fn for_chosen_rows<R: Send>(
    views: &[&View],
    settings: Settings,
    rows: &[usize],
    together: usize,
    pool: &Pool,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    task: impl Fn(&[usize], Vec<Csr<f32>>) -> R + Sync,
) -> Result<Vec<R>> {
    let degrees: Vec<Degrees> = views.iter().map(|view| Degrees::of(view)).collect();
    let mut walks = Vec::new();
    for (view, degrees) in views.iter().zip(&degrees) {
        let rule = Rule::Window(settings);
        walks.push(match degrees.precision(view, settings)? {
            Precision::Usual => AnyWalk::Usual(pool.run(|| Walk::new(view, degrees, rule))),
            Precision::Double => AnyWalk::Double(pool.run(|| Walk::new(view, degrees, rule))),
        });
    }
    let nodes = views.first().map_or(0, |view| view.adjacency.rows());
    let groups: Vec<&[usize]> = rows.chunks(together).collect();
    let work = |scratch: &mut AnyScratch, index: usize, canceled: &_| {
        let group = groups[index];
        let of_view = |walk: &AnyWalk<'_>| match walk {
            AnyWalk::Usual(walk) => {
                let scratch = scratch.usual.get_or_insert_with(|| Scratch::new(nodes));
                walk.block(group, 0, scratch, canceled).map(|(rows, _)| rows)
            }
            AnyWalk::Double(walk) => {
                let scratch = scratch.double.get_or_insert_with(|| Scratch::new(nodes));
                walk.block(group, 0, scratch, canceled).map(|(rows, _)| rows)
            }
        };
        let found = walks.iter().map(of_view).collect::<Option<Vec<Csr<f32>>>>()?;
        Some(task(group, found))
    };
    let done = &mut |groups: usize| watch((groups * together).min(rows.len()));
    pool.map_watched(groups.len(), AnyScratch::default, work, done).ok_or(Error::Interrupted)
}
