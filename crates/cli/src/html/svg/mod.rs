//! Drawings as SVG: lines, bars and maps. They get their colors from the style sheet of the page, or of the file.
//!
//! Invariant: names come from the data, so they are written through [`escaped`] only.

mod axis;
mod bars;
mod lines;

use std::fmt::Write;

use super::{SVG_STYLE, escaped};
pub(crate) use axis::Scale;
pub(crate) use bars::bars;
pub(crate) use lines::{Lines, Row};

/// The number of colors of lines; further ones share them.
pub(crate) const COLORS: usize = 8;

/// The number of colors of labels; further ones share them.
pub(crate) const LABEL_COLORS: usize = 10;

fn begin(title: &str, wide: f64, high: f64) -> String {
    format!(
        "<svg viewBox=\"0 0 {wide} {high}\" role=\"img\" aria-label=\"{0}\"><title>{0}</title>\n",
        escaped(title)
    )
}

/// About the width of a text in pixels; letters differ, so this is on the safe side.
fn text_width(text: &str) -> f64 {
    6.7 * text.chars().count() as f64
}

fn shortened(name: &str, longest: usize) -> String {
    if name.chars().count() <= longest {
        return name.to_owned();
    }
    name.chars().take(longest - 1).chain(['…']).collect()
}

/// A point per node. One path per color: a node is a line of length zero with a round cap.
pub(crate) fn map(title: &str, places: &[Option<[f32; 2]>], label_of: &[Option<u32>]) -> String {
    const SIDE: f32 = 1000.0;
    let bounds = |axis: usize| {
        let values = places.iter().flatten().map(|place| place[axis]);
        values.fold((f32::INFINITY, f32::NEG_INFINITY), |(least, most), x| (least.min(x), most.max(x)))
    };
    let ((left, right), (low, high)) = (bounds(0), bounds(1));
    let scale = (SIDE - 40.0) / (right - left).max(high - low).max(f32::MIN_POSITIVE);
    let mut paths = vec![String::new(); LABEL_COLORS + 1];
    for (place, label) in places.iter().zip(label_of) {
        let Some(place) = place else { continue };
        let path = &mut paths[label.map_or(LABEL_COLORS, |label| label as usize % LABEL_COLORS)];
        let (x, y) = (20.0 + (place[0] - left) * scale, 20.0 + (high - place[1]) * scale);
        let _ = write!(path, "M{x:.0} {y:.0}h0");
    }
    let width = if places.len() > 3000 { 7 } else { 11 };
    let mut text = format!(
        "<svg viewBox=\"0 0 1000 1000\" role=\"img\" aria-label=\"{}\" stroke-width=\"{width}\">",
        escaped(title)
    );
    for (color, path) in paths.iter().enumerate().rev().filter(|(_, path)| !path.is_empty()) {
        let _ = write!(text, "<path class=\"nodes p{color}\" d=\"{path}\"/>");
    }
    text + "</svg>"
}

/// A drawing as a file of its own: on white, with its title and the names of its colors below it.
pub(crate) fn file(svg: &str, title: &str, names: &[&str]) -> String {
    const WIDE: f64 = 480.0;
    const LINE: f64 = 17.0;
    let inner = svg.split_once("viewBox=\"0 0 ").and_then(|(_, rest)| rest.split_once('"'));
    let size = inner.and_then(|(size, _)| size.split_once(' ')).expect("every drawing has a size");
    let [wide, high] = [size.0, size.1].map(|number| number.parse::<f64>().expect("a number"));
    let high = WIDE * high / wide;
    let whole = high + LINE * (names.len() as f64 + 1.0) + 8.0;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDE} {whole:.0}\" width=\"{}\" height=\"{:.0}\">\n\
         <style>{SVG_STYLE}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        2.0 * WIDE,
        2.0 * whole
    );
    text += &svg.replacen("<svg ", &format!("<svg width=\"{WIDE}\" height=\"{high:.1}\" "), 1);
    let _ = write!(text, "\n<text x=\"8\" y=\"{:.1}\">{}</text>", high + LINE, escaped(title));
    for (color, name) in names.iter().enumerate() {
        let y = high + LINE * (color as f64 + 2.0);
        let _ = write!(
            text,
            "<text class=\"key c{}\" x=\"8\" y=\"{y:.1}\">■ {}</text>",
            color % COLORS,
            escaped(name)
        );
    }
    text + "\n</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_stands_alone() {
        let svg = map("m", &[Some([0.0, 1.0]), None, Some([1.0, 0.0])], &[Some(0), None, None]);
        let text = file(&svg, "a < b", &["x", "y"]);
        assert!(text.starts_with("<svg xmlns=") && text.contains("<style>") && text.contains("a &lt; b"));
        assert_eq!((text.matches("<svg").count(), text.matches("</svg>").count()), (2, 2));
        assert!(text.contains("nodes p0") && text.contains("nodes p10"));
        assert_eq!(text.matches("class=\"key").count(), 2);
    }

    #[test]
    fn long_names_are_cut_between_letters() {
        assert_eq!(shortened("Straße", 4), "Str…");
        assert_eq!(shortened("Straße", 6), "Straße");
    }
}
