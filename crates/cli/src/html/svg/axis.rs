//! Axes: what their numbers are, and the round numbers that are written beside them.

use crate::html::bounds;

/// What the numbers of an axis are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// Shares of 1, shown in percent. The axis need not begin at zero.
    Percent,
    /// Shares of 1, shown in percent on a logarithmic axis that ends at 100.
    PercentLog,
    /// Numbers, from zero.
    FromZero,
}

/// The lowest share that a logarithmic axis shows; smaller ones are drawn there.
const LEAST_SHARE: f64 = 1e-4;

/// An axis with its ticks.
pub(super) struct Axis {
    scale: Scale,
    least: f64,
    most: f64,
    pub(super) ticks: Vec<f64>,
}

impl Axis {
    /// The axis of some values; `None` without values.
    pub(super) fn of(scale: Scale, values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = bounds(values);
        if !low.is_finite() {
            return None;
        }
        let (least, most, ticks) = match scale {
            Scale::Percent => linear(low, high, Some(1.0)),
            Scale::PercentLog => logarithmic(low),
            Scale::FromZero => linear(0.0, if high > 0.0 { high } else { 1.0 }, None),
        };
        Some(Axis { scale, least, most, ticks })
    }

    /// Where a value is on the axis, from 0 to 1.
    pub(super) fn place(&self, value: f64) -> f64 {
        let place = match self.scale {
            Scale::PercentLog => (value.max(self.least) / self.least).ln() / (self.most / self.least).ln(),
            _ => (value - self.least) / (self.most - self.least),
        };
        place.clamp(0.0, 1.0)
    }

    /// A tick as it is written.
    pub(super) fn label(&self, tick: f64) -> String {
        match self.scale {
            Scale::FromZero => short(tick),
            _ => plain(100.0 * tick),
        }
    }
}

/// A value with the digits that a reader can use.
pub(super) fn shown(scale: Scale, value: f64) -> String {
    match scale {
        Scale::FromZero if value >= 1000.0 => short(value),
        Scale::FromZero => plain((value * 1000.0).round() / 1000.0),
        _ => format!("{:.1}%", 100.0 * value),
    }
}

/// The ends are ticks, so that every value is between two numbers.
fn linear(low: f64, high: f64, limit: Option<f64>) -> (f64, f64, Vec<f64>) {
    const MOST_TICKS: f64 = 5.0;
    let spread = if high > low { high - low } else { (0.1 * high.abs()).max(0.01) };
    let power = 10f64.powf((spread / MOST_TICKS).log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|digit| digit * power);
    let step = step.into_iter().find(|step| spread / step <= MOST_TICKS).unwrap_or(10.0 * power);
    let (mut first, mut last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
    if first >= last {
        // A single value is at the lower end, unless the axis ends there.
        match limit {
            Some(limit) if first * step >= limit - 1e-9 => first = last - 1.0,
            _ => last = first + 1.0,
        }
    }
    if let Some(limit) = limit {
        last = last.min((limit / step).round()).max(first + 1.0);
    }
    let ticks = (first as i64..=last as i64).map(|at| at as f64 * step).collect();
    (first * step, last * step, ticks)
}

/// Ticks at 1 and 3 times powers of ten.
fn logarithmic(low: f64) -> (f64, f64, Vec<f64>) {
    const TICKS: [f64; 9] = [1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, LEAST_SHARE];
    let bottom = TICKS[1..].iter().copied().find(|tick| *tick <= low * 1.0001).unwrap_or(LEAST_SHARE);
    (bottom, 1.0, TICKS.into_iter().filter(|tick| *tick >= bottom).collect())
}

/// `1.5 M`, `300 k`, `0.25`.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 1e9 => format!("{} G", plain(round(value / 1e9))),
        size if size >= 1e6 => format!("{} M", plain(round(value / 1e6))),
        size if size >= 1e3 => format!("{} k", plain(round(value / 1e3))),
        _ => plain(value),
    }
}

fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Without the digits that multiples of a step get from rounding, such as 0.30000000000000004.
fn plain(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, values: &[f64]) -> Vec<String> {
        let axis = Axis::of(scale, values.iter().copied()).unwrap();
        assert!(values.iter().all(|&value| value < LEAST_SHARE || (0.0..=1.0).contains(&axis.place(value))));
        axis.ticks.iter().map(|&tick| axis.label(tick)).collect()
    }

    #[test]
    fn ticks_are_round_and_enclose_the_values() {
        assert_eq!(labels(Scale::Percent, &[0.813, 0.868]), ["80", "82", "84", "86", "88"]);
        assert_eq!(labels(Scale::Percent, &[0.97, 0.999]), ["97", "98", "99", "100"]);
        assert_eq!(labels(Scale::Percent, &[0.4, 0.4]), ["40", "41"]);
        assert_eq!(labels(Scale::Percent, &[1.0, 1.0]), ["98", "100"]);
        assert_eq!(labels(Scale::FromZero, &[0.0013, 0.004]), ["0", "0.001", "0.002", "0.003", "0.004"]);
        assert_eq!(labels(Scale::FromZero, &[423_964.0]), ["0", "100 k", "200 k", "300 k", "400 k", "500 k"]);
        assert_eq!(labels(Scale::FromZero, &[0.0]), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(labels(Scale::PercentLog, &[1.0, 0.05]), ["100", "30", "10", "3"]);
        assert_eq!(labels(Scale::PercentLog, &[1.0, 0.0]).last().unwrap(), "0.01");
        assert!(Axis::of(Scale::Percent, std::iter::empty()).is_none());
    }
}
