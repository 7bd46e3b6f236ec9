//! What each view contributed to vectors: the table that `manyview embed` ends with, and the same for scripts.

use manyview::Fit;
use manyview::embedding::{Kind, Part};
use manyview::method::ViewRecord;
use serde::Serialize;

use super::{aligned, thousands};

/// What each view contributed.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Contributions {
    /// The views, in order.
    pub(crate) views: Vec<Contribution>,
    /// What only paths through several views contain, if it was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) joint: Option<Contribution>,
    /// The number of columns that belong to all views.
    pub(crate) shared_columns: usize,
}

/// What one view contributed.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Contribution {
    pub(crate) view: String,
    pub(crate) edges: usize,
    /// The number of columns that belong to this view alone.
    pub(crate) columns: usize,
    /// The share of its squared proximities that the vectors explain; `None` for methods without stages.
    pub(crate) explained: Option<f64>,
}

impl Contributions {
    pub(crate) fn of(fit: &Fit) -> Self {
        let parts = fit.embedding.parts();
        let columns = |belongs: &dyn Fn(&Part) -> bool| {
            parts.iter().filter(|part| belongs(part)).map(|part| part.columns.len()).sum()
        };
        let explained = |name: &str| {
            let left = fit.stages.iter().rev().find_map(|record| record.residual.get(name));
            left.map(|left| 1.0 - left)
        };
        let of = |view: &ViewRecord, columns: usize| Contribution {
            view: view.name.clone(),
            edges: view.edges,
            columns,
            explained: explained(&view.name),
        };
        let of_view = |view: &ViewRecord| {
            of(view, columns(&|part| part.view.as_ref() == Some(&view.name) && part.kind != Kind::Joint))
        };
        Contributions {
            views: fit.views.iter().map(of_view).collect(),
            joint: fit.joint.as_ref().map(|joint| of(joint, columns(&|part| part.kind == Kind::Joint))),
            shared_columns: columns(&|part| part.kind == Kind::Consensus),
        }
    }

    /// The table; empty if there is nothing to tell apart.
    pub(crate) fn table(&self) -> String {
        let own: usize = self.views.iter().chain(&self.joint).map(|view| view.columns).sum();
        let explained = self.views.iter().any(|view| view.explained.is_some());
        if !explained && (own == 0 || self.views.len() < 2) {
            return String::new();
        }
        let mut head = vec!["view".to_owned(), "edges".into(), "own columns".into()];
        head.extend(explained.then(|| "explained".into()));
        let mut rows = vec![head];
        rows.extend(self.views.iter().map(|view| row(view, &view.view, explained)));
        rows.extend(self.joint.iter().map(|joint| row(joint, "union of the views", explained)));
        let mut text = aligned(&rows);
        let meaning = "share of squared proximity";
        text += &match (self.shared_columns, explained) {
            (0, true) => format!("(explained: {meaning})\n"),
            (0, false) => String::new(),
            (shared, true) => format!("({} shared by all views; explained: {meaning})\n", columns(shared)),
            (shared, false) => format!("({} shared by all views)\n", columns(shared)),
        };
        text
    }
}

fn columns(number: usize) -> String {
    super::plural(number, "column") + if number == 1 { " is" } else { " are" }
}

fn row(view: &Contribution, name: &str, explained: bool) -> Vec<String> {
    let mut cells = vec![name.to_owned(), thousands(view.edges), thousands(view.columns)];
    if explained {
        // Without the sign of a residual that rounding made larger than the whole.
        let share = view.explained.map(|share| format!("{:.1}%", 100.0 * share.max(0.0)));
        cells.push(share.unwrap_or_default());
    }
    cells
}

#[cfg(test)]
mod tests {
    use manyview::methods::{NetMf, NetMfConcat};
    use manyview::{Mnmf, Model, Network};

    use super::*;

    fn network() -> Network {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
        let ring: Vec<_> = (0..12).map(|at| (names[at], names[(at + 1) % 12], 1.0)).collect();
        let star: Vec<_> = (1..12).map(|at| (names[0], names[at], 1.0)).collect();
        Network::from_edges(&[("ring", &ring[..]), ("star", &star)]).unwrap()
    }

    fn of(model: impl Into<Model>) -> Contributions {
        Contributions::of(&model.into().fit(&network()).unwrap())
    }

    #[test]
    fn own_and_shared_columns_are_all_columns() {
        let found = of(Mnmf { dim: 16, stages: 2, consensus_stages: Some(1), ..Mnmf::default() });
        let own: usize = found.views.iter().chain(&found.joint).map(|view| view.columns).sum();
        assert_eq!((own, found.shared_columns), (8, 8), "{found:?}");
        assert!(found.views.iter().all(|view| (0.0..=1.0).contains(&view.explained.unwrap())), "{found:?}");
        let table = found.table();
        let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0], ["view", "edges", "own", "columns", "explained"]);
        assert_eq!(lines[1][..2], ["ring", "12"]);
        assert!(
            table.ends_with("(8 columns are shared by all views; explained: share of squared proximity)\n")
        );
        assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    }

    #[test]
    fn methods_without_stages_have_columns_or_nothing() {
        let found = of(NetMfConcat { dim: 8, ..NetMfConcat::default() });
        let table = found.table();
        assert!(table.contains("own columns") && !table.contains("explained"), "{table}");
        let one = network().only(0);
        let fit = Model::from(NetMf { dim: 4, ..NetMf::default() }).fit(&one).unwrap();
        assert_eq!(Contributions::of(&fit).table(), "");
    }
}
