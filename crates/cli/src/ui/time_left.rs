//! The time that is left of a phase, from the share that is done.
//!
//! Shares do not grow evenly: a stage costs more than the next one, and its number of iterations is not known. Invariant: what
//! is shown follows a smoothed estimate of the whole time, so it does not jump when a single step is fast or slow.

/// Seconds and share before which an estimate would be a guess.
const EARLIEST: (f64, f64) = (1.5, 0.02);

/// The estimate follows new ones within this share of the elapsed time, and no faster than within two seconds.
const MEMORY: f64 = 0.05;

/// The estimate of a phase.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TimeLeft {
    /// The smoothed whole time of the phase, and when it was estimated, in seconds.
    estimate: Option<(f64, f64)>,
}

impl TimeLeft {
    /// The seconds that are left when a share is done after so many seconds; `None` if too little is known.
    pub(super) fn after(&mut self, elapsed: f64, done: f64) -> Option<f64> {
        if elapsed < EARLIEST.0 || done < EARLIEST.1 {
            return None;
        }
        let now = elapsed / done.min(1.0);
        let whole = match self.estimate {
            Some((before, at)) => {
                let memory = (MEMORY * elapsed).max(2.0);
                before + (now - before) * (1.0 - (-(elapsed - at) / memory).exp())
            }
            None => now,
        };
        self.estimate = Some((whole, elapsed));
        Some((whole - elapsed).max(0.0))
    }
}

/// Seconds in steps that one can read while they pass: `45 s`, `5 min`, `1:20 h`.
pub(super) fn words(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..10 => format!("{whole} s"),
        10..60 => format!("{} s", (whole + 2) / 5 * 5),
        60..3600 => format!("{} min", (whole + 30) / 60),
        _ => format!("{}:{:02} h", (whole + 30) / 3600, (whole + 30) / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is shown ten times a second while shares are done at these times.
    fn shown(done: impl Fn(f64) -> f64, whole: f64) -> Vec<(f64, f64)> {
        let mut left = TimeLeft::default();
        let times = (1..(whole * 10.0) as usize).map(|step| step as f64 / 10.0);
        times.filter_map(|time| Some((time, left.after(time, done(time))?))).collect()
    }

    #[test]
    fn even_work_is_estimated_exactly() {
        for (time, left) in shown(|time| time / 60.0, 60.0) {
            assert!((left - (60.0 - time)).abs() < 1e-9, "{left} after {time}");
        }
    }

    /// Stages of equal share, each a third cheaper than the one before.
    #[test]
    fn stages_that_get_cheaper_do_not_make_it_jump() {
        let mut ends = vec![0.0];
        (0..8).for_each(|stage| ends.push(ends[stage] + 20.0 * (2.0f64 / 3.0).powi(stage as i32)));
        let whole = ends[8];
        let done = |time: f64| {
            let stage = ends[1..].iter().filter(|&&end| end <= time).count();
            (stage as f64 + (time - ends[stage]) / (ends[stage + 1] - ends[stage])) / 8.0
        };
        let shown = shown(done, whole);
        for pair in shown.windows(2) {
            let change = pair[1].1 - pair[0].1;
            assert!(change < 0.0 && change > -0.05 * whole, "it falls in small steps: {pair:?}");
        }
        assert!(shown.len() > 100 && shown.last().unwrap().1 < 0.25 * whole, "{:?}", shown.last());
    }

    #[test]
    fn nothing_is_shown_before_something_is_known() {
        let mut left = TimeLeft::default();
        assert_eq!((left.after(1.0, 0.5), left.after(60.0, 0.0)), (None, None));
        assert_eq!(left.after(60.0, 0.5), Some(60.0));
        assert_eq!(
            [0.2, 9.4, 13.0, 58.0, 61.0, 3599.0, 4800.0].map(words),
            ["0 s", "9 s", "15 s", "60 s", "1 min", "60 min", "1:20 h"]
        );
    }
}
