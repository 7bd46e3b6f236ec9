//! The values of figures as text.

use manyview::compare::percent;
use manyview::evaluate::Summary;
use manyview::figures::{Figures, Panel, Shape, Unit};

use crate::ui::aligned;

/// A value as it is shown: `81.2 ± 0.4`, or seconds.
pub(super) fn shown(value: &Summary, unit: Unit) -> String {
    match unit {
        Unit::Seconds => format!("{:.3}", value.mean),
        _ => percent(value.mean) + &value.std.map(|std| format!(" ± {}", percent(std))).unwrap_or_default(),
    }
}

/// What the numbers of a panel are.
pub(super) fn unit(panel: &Panel) -> &'static str {
    if panel.unit == Unit::Seconds { "seconds" } else { "percent" }
}

/// The values of all panels but maps.
pub(crate) fn tables(found: &Figures) -> String {
    let panels = found.drawings.iter().flat_map(|drawing| &drawing.panels);
    panels.filter(|panel| panel.shape != Shape::Map).map(table).collect()
}

fn table(panel: &Panel) -> String {
    let head =
        std::iter::once(panel.axis.to_owned()).chain(panel.curves.iter().map(|curve| curve.name.clone()));
    let mut rows: Vec<Vec<String>> = vec![head.collect()];
    for (at, tick) in panel.ticks.iter().enumerate() {
        let values = panel.curves.iter().map(|curve| shown(&curve.values[at], panel.unit));
        rows.push(std::iter::once(tick.clone()).chain(values).collect());
    }
    format!("{}, {}\n{}\n", panel.title, unit(panel), aligned(&rows))
}
