//! The eye on long work: it lets Ctrl-C through and tells a callback how far things are.
//!
//! Invariant: the interpreter's lock is held for a moment only, and not more often than [`EVERY`]; what the callback or
//! a signal raises ends the work and is what the caller gets.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use manyview::Error;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::to_python;

const EVERY: Duration = Duration::from_millis(50);

/// Looks at signals, and calls somebody.
pub(crate) struct Watch {
    callback: Option<Py<PyAny>>,
    looked: Instant,
    raised: Option<PyErr>,
}

/// One thing that a callback is told.
pub(crate) enum Fact<'a> {
    Text(&'a str),
    Whole(usize),
    Number(f64),
}

impl Watch {
    pub(crate) fn new(callback: Option<Py<PyAny>>) -> Self {
        Watch { callback, looked: Instant::now(), raised: None }
    }

    /// Looks, if the last look was some time ago.
    pub(crate) fn look(&mut self, facts: &[(&str, Fact<'_>)]) -> ControlFlow<()> {
        if self.looked.elapsed() < EVERY { ControlFlow::Continue(()) } else { self.look_now(facts) }
    }

    /// Looks in any case.
    pub(crate) fn look_now(&mut self, facts: &[(&str, Fact<'_>)]) -> ControlFlow<()> {
        let looked = Python::attach(|py| {
            py.check_signals()?;
            match &self.callback {
                Some(callback) if !facts.is_empty() => callback.call1(py, (told(py, facts)?,)).map(drop),
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

    /// The result of the work, with what was raised in the place of "interrupted".
    pub(crate) fn outcome<T>(self, result: Result<T, Error>) -> PyResult<T> {
        match (result, self.raised) {
            (_, Some(raised)) => Err(raised),
            (result, None) => result.map_err(to_python),
        }
    }
}

fn told<'py>(py: Python<'py>, facts: &[(&str, Fact<'_>)]) -> PyResult<Bound<'py, PyDict>> {
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
