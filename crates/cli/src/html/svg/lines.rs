//! Line charts: the name of each line stands at its end, so that no one has to match colors with a legend.

use std::fmt::Write;

use super::axis::{Axis, Scale, shown};
use super::{COLORS, begin, shortened, text_width};
use crate::html::escaped;

const WIDE: f64 = 480.0;
const LEFT: f64 = 52.0;
const ABOVE: f64 = 34.0;
const BELOW: f64 = 48.0;
/// From the base of one name to that of the next.
const LINE: f64 = 14.0;
/// More letters of a name are cut.
const LONGEST: usize = 20;

/// A named row of values, one per tick, as shares of 1 or as numbers.
pub(crate) type Row = (String, Vec<Option<f64>>);

/// A line chart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines<'a> {
    pub(crate) title: &'a str,
    /// What the ticks are.
    pub(crate) x: &'a str,
    /// What the values are, with their unit.
    pub(crate) y: &'a str,
    pub(crate) ticks: &'a [String],
    pub(crate) rows: &'a [Row],
    pub(crate) scale: Scale,
    /// Ticks that belong together, from one up to and including another, with their name.
    pub(crate) bands: &'a [(usize, usize, &'a str)],
}

/// Where things are.
struct Frame {
    axis: Axis,
    right: f64,
    high: f64,
    ticks: usize,
}

impl Frame {
    fn x(&self, at: usize) -> f64 {
        LEFT + (at as f64 + 0.5) / self.ticks as f64 * (self.right - LEFT)
    }

    fn y(&self, value: f64) -> f64 {
        ABOVE + (1.0 - self.axis.place(value)) * (self.high - ABOVE - BELOW)
    }

    fn bottom(&self) -> f64 {
        self.high - BELOW
    }
}

impl Lines<'_> {
    /// The drawing; empty without values.
    pub(crate) fn draw(&self) -> String {
        let values = self.rows.iter().flat_map(|(_, values)| values).flatten().copied();
        let Some(axis) = Axis::of(self.scale, values) else { return String::new() };
        let names = self.rows.iter().map(|(name, _)| text_width(&shortened(name, LONGEST)));
        let right = WIDE - 22.0 - names.fold(0.0, f64::max);
        let high = (ABOVE + BELOW + 190.0).max(ABOVE + BELOW + LINE * self.rows.len() as f64);
        let frame = Frame { axis, right, high, ticks: self.ticks.len() };
        let mut text = begin(self.title, WIDE, high);
        self.write_bands(&mut text, &frame);
        self.write_axes(&mut text, &frame);
        let ends = self.ends(&frame);
        for (color, (row, end)) in self.rows.iter().zip(&ends).enumerate() {
            self.write_row(&mut text, &frame, color % COLORS, row, *end);
        }
        text + "</svg>"
    }

    fn write_bands(&self, text: &mut String, frame: &Frame) {
        let half = (frame.right - LEFT) / frame.ticks as f64 / 2.0;
        for (number, (from, to, name)) in self.bands.iter().enumerate() {
            let (left, right) = (frame.x(*from) - half, frame.x(*to) + half);
            if number % 2 == 1 {
                let (wide, high) = (right - left, frame.bottom() - ABOVE);
                let _ = write!(
                    text,
                    "<rect class=\"band\" x=\"{left:.1}\" y=\"{ABOVE}\" width=\"{wide:.1}\" height=\"{high:.1}\"/>"
                );
            }
            // A name that is wider than its band is left out, except at the end, where it may begin before its band.
            let (x, class) = match text_width(name) < right - left {
                true => ((left + right) / 2.0, "below"),
                false if number + 1 == self.bands.len() => (right - 2.0, "left"),
                false => continue,
            };
            let (y, name) = (ABOVE - 5.0, escaped(name));
            let _ = write!(text, "<text class=\"{class} name\" x=\"{x:.1}\" y=\"{y:.1}\">{name}</text>");
        }
    }

    fn write_axes(&self, text: &mut String, frame: &Frame) {
        for (number, &tick) in frame.axis.ticks.iter().enumerate() {
            let (y, class) = (frame.y(tick), if number == 0 { "grid axis" } else { "grid" });
            let _ = write!(
                text,
                "<path class=\"{class}\" d=\"M{LEFT} {y:.1}H{:.1}\"/><text class=\"left\" x=\"{}\" y=\"{:.1}\">{}</text>",
                frame.right,
                LEFT - 7.0,
                y + 4.0,
                frame.axis.label(tick)
            );
        }
        let room = (frame.right - LEFT) / frame.ticks as f64;
        let widest = self.ticks.iter().map(|tick| text_width(tick)).fold(0.0, f64::max) + 8.0;
        let every = (widest / room).ceil().max(1.0) as usize;
        for (at, name) in self.ticks.iter().enumerate().step_by(every) {
            let (x, y) = (frame.x(at), frame.bottom() + 17.0);
            let _ = write!(text, "<text class=\"below\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(name));
        }
        let (middle, base) = ((LEFT + frame.right) / 2.0, frame.high - 8.0);
        let _ = write!(
            text,
            "<text class=\"below title\" x=\"{middle:.1}\" y=\"{base:.1}\">{}</text><text class=\"title\" x=\"4\" y=\"16\">{}</text>",
            escaped(self.x),
            escaped(self.y)
        );
    }

    /// Where the name of each row stands: at its last value, moved apart where lines end close together.
    fn ends(&self, frame: &Frame) -> Vec<Option<f64>> {
        let last = |(_, values): &Row| values.iter().rev().flatten().next().map(|&value| frame.y(value));
        let wanted: Vec<Option<f64>> = self.rows.iter().map(last).collect();
        let mut order: Vec<usize> = (0..wanted.len()).filter(|&row| wanted[row].is_some()).collect();
        order.sort_by(|&a, &b| wanted[a].partial_cmp(&wanted[b]).expect("places are finite").then(a.cmp(&b)));
        let mut ends = wanted;
        let mut least = ABOVE + 4.0;
        for &row in &order {
            let place = ends[row].map_or(least, |place| place.max(least));
            (ends[row], least) = (Some(place), place + LINE);
        }
        let mut most = frame.bottom();
        for &row in order.iter().rev() {
            let place = ends[row].map_or(most, |place| place.min(most));
            (ends[row], most) = (Some(place), place - LINE);
        }
        ends
    }

    fn write_row(
        &self,
        text: &mut String,
        frame: &Frame,
        color: usize,
        (name, values): &Row,
        end: Option<f64>,
    ) {
        let points = values.iter().enumerate().filter_map(|(at, value)| value.map(|value| (at, value)));
        let points: Vec<(usize, f64)> = points.collect();
        let (Some(&(last, value)), Some(end)) = (points.last(), end) else { return };
        let place = |&(at, value): &(usize, f64)| format!("{:.1} {:.1}", frame.x(at), frame.y(value));
        let path = points.iter().map(place).collect::<Vec<_>>().join("L");
        let _ = write!(
            text,
            "<g class=\"line c{color}\"><path class=\"reach\" d=\"M{path}\"/><path class=\"curve\" d=\"M{path}\"/>"
        );
        for &(at, value) in &points {
            let (x, y) = (frame.x(at), frame.y(value));
            let (tick, value) = (escaped(&self.ticks[at]), shown(self.scale, value));
            let _ = write!(
                text,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.8\"><title>{}, {tick}: {value}</title></circle>",
                escaped(name)
            );
        }
        let (x, y, at) = (frame.x(last) + 4.0, frame.y(value), frame.right + 8.0);
        let _ = write!(
            text,
            "<path class=\"leader\" d=\"M{x:.1} {y:.1}L{:.1} {end:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
            at - 2.0,
            at + 2.0,
            end + 4.0,
            escaped(&shortened(name, LONGEST))
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines<'a>(ticks: &'a [String], rows: &'a [Row]) -> Lines<'a> {
        Lines { title: "a & b", x: "ticks", y: "percent", ticks, rows, scale: Scale::Percent, bands: &[] }
    }

    #[test]
    fn a_point_per_value_names_are_text_and_ticks_do_not_overlap() {
        let ticks: Vec<String> = (0..60).map(|at| at.to_string()).collect();
        let rows = [("<b>".to_owned(), (0..60).map(|at| Some(f64::from(at) / 60.0)).collect())];
        let text = lines(&ticks, &rows).draw();
        assert_eq!(text.matches("<circle").count(), 60);
        let named = text.matches("class=\"below\"").count();
        assert!((10..=30).contains(&named), "{named}");
        assert!(text.contains(">&lt;b&gt;</text></g>") && text.contains("<title>a &amp; b</title>"));
        assert!(text.contains(">percent</text>") && text.contains(">ticks</text>"), "axes have titles");
        assert_eq!(lines(&[], &[]).draw(), "");
    }

    #[test]
    fn names_of_lines_that_end_together_are_apart() {
        let ticks = ["1".to_owned(), "2".to_owned()];
        let rows: Vec<Row> = (0..7).map(|row| (format!("row{row}"), vec![Some(0.5), Some(0.5)])).collect();
        let text = lines(&ticks, &rows).draw();
        let places: Vec<f64> = text
            .split("</text></g>")
            .filter_map(|part| part.rsplit_once("<text x=\"")?.1.split(['"']).nth(2)?.parse().ok())
            .collect();
        assert_eq!(places.len(), 7, "{text}");
        for pair in places.windows(2) {
            assert!(pair[1] - pair[0] >= LINE - 0.11, "{places:?}");
        }
    }

    #[test]
    fn a_missing_value_is_no_point() {
        let ticks = ["1".to_owned(), "2".to_owned()];
        let text =
            lines(&ticks, &[("a".into(), vec![Some(0.5), None]), ("b".into(), vec![None, None])]).draw();
        assert_eq!((text.matches("<circle").count(), text.matches("class=\"line").count()), (1, 1));
    }
}
