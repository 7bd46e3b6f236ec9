//! Checks for Ctrl-C during long computations, and calls back with progress.
//!
//! Invariant: the global interpreter lock is held briefly and at most once per [`EVERY`]. An exception from the callback or
//! a signal handler ends the computation and is raised to the caller.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use manyview::Error;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::to_python;

const EVERY: Duration = Duration::from_millis(50);

/// Checks for signals and calls the callback.
pub(crate) struct Watch {
    callback: Option<Py<PyAny>>,
    looked: Instant,
    raised: Option<PyErr>,
}

/// A value in the dict that a callback receives.
pub(crate) enum Fact<'a> {
    Text(&'a str),
    Whole(usize),
    Number(f64),
}

impl Watch {
    pub(crate) fn new(callback: Option<Py<PyAny>>) -> Self {
        Watch { callback, looked: Instant::now(), raised: None }
    }

    /// Checks for signals and reports progress, if the last time was at least [`EVERY`] ago.
    pub(crate) fn look(&mut self, facts: &[(&str, Fact<'_>)]) -> ControlFlow<()> {
        if self.looked.elapsed() < EVERY { ControlFlow::Continue(()) } else { self.look_now(facts) }
    }

    /// Checks for signals and reports progress.
    pub(crate) fn look_now(&mut self, facts: &[(&str, Fact<'_>)]) -> ControlFlow<()> {
        let looked = Python::attach(|py| {
            py.check_signals()?;
            match &self.callback {
                Some(callback) if !facts.is_empty() => callback.call1(py, (dict(py, facts)?,)).map(drop),
                _ => Ok(()),
            }
        });
        self.looked = Instant::now();
        match looked {
            Ok(()) => ControlFlow::Continue(()),
            Err(raised) => {
                self.raised = Some(raised);
                ControlFlow::Break(())
            }
        }
    }

    /// Returns the result, or the exception that ended the computation.
    pub(crate) fn outcome<T>(self, result: Result<T, Error>) -> PyResult<T> {
        match (result, self.raised) {
            (_, Some(raised)) => Err(raised),
            (result, None) => result.map_err(to_python),
        }
    }
}

fn dict<'py>(py: Python<'py>, facts: &[(&str, Fact<'_>)]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, fact) in facts {
        match fact {
            Fact::Text(text) => dict.set_item(name, text)?,
            Fact::Whole(number) => dict.set_item(name, number)?,
            Fact::Number(number) => dict.set_item(name, number)?,
        }
    }
    Ok(dict)
}
