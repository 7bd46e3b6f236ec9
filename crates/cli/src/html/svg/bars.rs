//! Bar charts: a group of horizontal bars per tick, each with its number.

use std::fmt::Write;

use super::axis::{Scale, shown};
use super::lines::Row;
use super::{COLORS, begin, shortened, text_width};
use crate::html::{bounds, escaped};

const WIDE: f64 = 480.0;
const BAR: f64 = 13.0;
/// Room for the numbers behind the bars.
const NUMBERS: f64 = 52.0;
const LONGEST: usize = 24;

/// A group of bars per tick, one for each row; empty without values.
pub(crate) fn bars(title: &str, ticks: &[String], rows: &[Row], scale: Scale) -> String {
    let (least, most) = bounds(rows.iter().flat_map(|(_, values)| values).flatten().copied());
    if !least.is_finite() {
        return String::new();
    }
    // From zero, whatever the scale: the length of a bar is its value.
    let most = if most > 0.0 { most } else { 1.0 };
    let names = ticks.iter().map(|tick| text_width(&shortened(tick, LONGEST))).fold(0.0, f64::max) + 14.0;
    let group = BAR * rows.len() as f64 + 9.0;
    let mut text = begin(title, WIDE, group * ticks.len() as f64 + 16.0);
    for (at, name) in ticks.iter().enumerate() {
        let top = 8.0 + group * at as f64;
        let (x, middle) = (names - 8.0, top + BAR * rows.len() as f64 / 2.0 + 4.0);
        let name = escaped(&shortened(name, LONGEST));
        let _ = write!(text, "<text class=\"left\" x=\"{x:.1}\" y=\"{middle:.1}\">{name}</text>");
        for (row, (_, values)) in rows.iter().enumerate() {
            let Some(value) = values[at] else { continue };
            let long = value / most * (WIDE - names - NUMBERS);
            let (y, color, high) = (top + BAR * row as f64, row % COLORS, BAR - 2.0);
            let _ = write!(
                text,
                "<path class=\"bar c{color}\" d=\"M{names:.1} {y:.1}h{long:.1}v{high}h-{long:.1}z\"/><text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                names + long + 5.0,
                y + BAR - 2.5,
                shown(scale, value)
            );
        }
    }
    text + "</svg>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_a_bar_per_value_and_names_are_text() {
        let ticks = ["<a>".to_owned(), "b".to_owned()];
        let rows = [("x".to_owned(), vec![Some(0.5), None]), ("y".to_owned(), vec![Some(0.25), Some(0.75)])];
        let text = bars("t", &ticks, &rows, Scale::Percent);
        assert_eq!(text.matches("class=\"bar").count(), 3);
        assert!(text.contains("&lt;a&gt;") && text.contains(">75.0%<"), "{text}");
        assert_eq!(bars("t", &ticks, &[("x".to_owned(), vec![None, None])], Scale::Percent), "");
    }
}
