//! Networks made of arrays or read from files.

use std::path::PathBuf;

use manyview::io::{self, Delimiter, Directed, Header, ReadOptions, Source, ViewSource};
use manyview::linalg::{Csr, Real};
use manyview::network::{Duplicates, NetworkBuilder, View};
use manyview::parallel::Pool;
use manyview::proximity::{self, proximity};
use manyview::summary::summarize;
use manyview::{Config, Error, Network};
use numpy::Element;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{CsrArrays, Places, PlacesSlice, Weights, WeightsSlice, csr_arrays};
use crate::config::isolated;
use crate::error::to_python;
use crate::watch::Watch;

/// Edges after which a building looks for Ctrl-C.
const EDGES_PER_LOOK: usize = 1 << 16;

/// Several kinds of edges over one set of nodes.
#[pyclass(frozen, name = "Network", module = "manyview._native")]
pub(crate) struct PyNetwork {
    pub(crate) network: Network,
    notes: Vec<String>,
}

/// One view as Python gives it: its name, whether directions count, where its rows are, its columns and weights.
type GivenView<'py> = (String, bool, Bound<'py, PyAny>, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

#[pymethods]
impl PyNetwork {
    /// Makes a network of nodes `0..nodes`. Rows are the sources of all edges, or (`by_rows`) the bounds of a matrix by rows.
    #[staticmethod]
    fn build(
        py: Python<'_>,
        nodes: usize,
        views: Vec<GivenView<'_>>,
        by_rows: bool,
        duplicates: &str,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let duplicates = duplicates_named(duplicates)?;
        let arrays = views
            .iter()
            .map(|(_, _, rows, cols, weights)| {
                let weights = weights.as_ref().map(Weights::of).transpose()?;
                Ok((Places::of(rows)?, Places::of(cols)?, weights))
            })
            .collect::<PyResult<Vec<_>>>()?;
        let mut given = Vec::new();
        for ((name, directed, ..), (rows, cols, weights)) in views.iter().zip(&arrays) {
            let weights = weights.as_ref().map(Weights::slice).transpose()?;
            let edges = Edges { rows: rows.slice()?, cols: cols.slice()?, weights, by_rows };
            edges.check().map_err(|sentence| PyValueError::new_err(format!("view {name:?}: {sentence}")))?;
            given.push((name.as_str(), *directed, edges));
        }
        let mut watch = Watch::new(None);
        let result = py.detach(|| {
            let pool = Pool::new(threads)?;
            let mut builder = NetworkBuilder::with_nodes((0..nodes).map(|node| node.to_string()))?;
            for (name, directed, edges) in &given {
                let view = builder.add_view(name, *directed, duplicates)?;
                edges.for_each(&mut |at, row, col, weight| {
                    if at % EDGES_PER_LOOK == 0 && watch.look(&[]).is_break() {
                        return Err(Error::Interrupted);
                    }
                    // Numbers beyond 32 bits are beyond the nodes, and the builder says so.
                    let number = |node: usize| u32::try_from(node).unwrap_or(u32::MAX);
                    builder.add_edge(view, number(row), number(col), weight)
                })?;
            }
            pool.run(|| builder.build())
        });
        Ok(PyNetwork { network: watch.outcome(result)?, notes: Vec::new() })
    }

    /// Ids as text, in row order.
    fn ids(&self) -> Vec<&str> {
        self.network.nodes().iter().collect()
    }

    /// Sentences about how it was read.
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Names of the views.
    fn names(&self) -> Vec<&str> {
        self.network.views().iter().map(|view| view.name.as_str()).collect()
    }

    /// The same nodes with one of the views.
    fn only(&self, view: &str) -> PyResult<Self> {
        let at = self.names().iter().position(|&name| name == view).ok_or_else(|| {
            let names = self.names().join(", ");
            PyValueError::new_err(format!("view_only: there is no view {view:?}; the views are {names}"))
        })?;
        Ok(PyNetwork { network: self.network.only(at), notes: self.notes.clone() })
    }

    /// For each view whether directions count, its distinct edges and its isolated nodes.
    fn facts(&self) -> Vec<(bool, usize, usize)> {
        self.network.views().iter().map(|view| (view.directed, view.edges(), view.isolated())).collect()
    }

    /// A number that other nodes, views or weights would change.
    fn fingerprint(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.network.fingerprint())
    }

    /// A view's weights as a matrix by rows.
    fn adjacency<'py>(&self, py: Python<'py>, view: &str) -> PyResult<CsrArrays<'py, f64>> {
        Ok(csr_arrays(py, &self.view(view)?.adjacency))
    }

    /// What the views are like and how far they agree, as JSON.
    fn summary(
        &self,
        py: Python<'_>,
        with_proximity: bool,
        window: usize,
        negative: f64,
        isolated_nodes: &Bound<'_, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<String> {
        let settings = checked_settings(window, negative, isolated_nodes, threads)?;
        let mut watch = Watch::new(None);
        let result = py.detach(|| {
            let pool = Pool::new(threads)?;
            summarize(&self.network, with_proximity.then_some(settings), &pool, &mut |_, _| watch.look(&[]))
        });
        let summary = watch.outcome(result)?;
        serde_json::to_string(&summary).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// A view's proximity matrix as a matrix by rows, in 64 bits if `double`, else in 32.
    #[expect(clippy::too_many_arguments, reason = "they are the settings, by name")]
    fn proximity<'py>(
        &self,
        py: Python<'py>,
        view: &str,
        window: usize,
        negative: f64,
        isolated_nodes: &Bound<'py, PyAny>,
        double: bool,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let view = self.view(view)?;
        let settings = checked_settings(window, negative, isolated_nodes, threads)?;
        if double {
            near::<f64>(py, view, settings, threads)?.into_bound_py_any(py)
        } else {
            near::<f32>(py, view, settings, threads)?.into_bound_py_any(py)
        }
    }
}

impl PyNetwork {
    fn view(&self, name: &str) -> PyResult<&View> {
        let found = self.network.views().iter().find(|view| view.name == name);
        found.ok_or_else(|| {
            PyKeyError::new_err(format!(
                "there is no view {name:?}; the views are {}",
                self.names().join(", ")
            ))
        })
    }
}

fn near<'py, T: Real + Element>(
    py: Python<'py>,
    view: &View,
    settings: proximity::Settings,
    threads: Option<usize>,
) -> PyResult<CsrArrays<'py, T>> {
    let mut watch = Watch::new(None);
    let result = py.detach(|| {
        let pool = Pool::new(threads)?;
        proximity::<T>(view, settings, &pool, &mut |_| watch.look(&[]))
    });
    let matrix: Csr<T> = watch.outcome(result)?;
    Ok(csr_arrays(py, &matrix))
}

fn checked_settings(
    window: usize,
    negative: f64,
    isolated_nodes: &Bound<'_, PyAny>,
    threads: Option<usize>,
) -> PyResult<proximity::Settings> {
    let isolated = isolated(isolated_nodes)?;
    Config { window, negative, isolated, threads, ..Config::default() }.check().map_err(to_python)?;
    Ok(proximity::Settings { window, negative, isolated })
}

/// The edges of a view, in one of two forms.
struct Edges<'a> {
    rows: PlacesSlice<'a>,
    cols: PlacesSlice<'a>,
    weights: Option<WeightsSlice<'a>>,
    by_rows: bool,
}

impl Edges<'_> {
    fn check(&self) -> Result<(), &'static str> {
        let entries = self.cols.len();
        let bounds_fit = if self.by_rows {
            let bounds = (0..self.rows.len()).map(|at| self.rows.at(at));
            self.rows.len() > 0 && bounds.is_sorted() && self.rows.at(self.rows.len() - 1) == entries
        } else {
            self.rows.len() == entries
        };
        if !bounds_fit || self.weights.is_some_and(|weights| weights.len() != entries) {
            return Err("sources, targets and weights do not belong together");
        }
        Ok(())
    }

    fn for_each(
        &self,
        f: &mut dyn FnMut(usize, usize, usize, f64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let weight = |at: usize| self.weights.map_or(1.0, |weights| weights.at(at));
        if !self.by_rows {
            return (0..self.cols.len())
                .try_for_each(|at| f(at, self.rows.at(at), self.cols.at(at), weight(at)));
        }
        for row in 0..self.rows.len() - 1 {
            for at in self.rows.at(row)..self.rows.at(row + 1) {
                f(at, row, self.cols.at(at), weight(at))?;
            }
        }
        Ok(())
    }
}

fn duplicates_named(name: &str) -> PyResult<Duplicates> {
    match name {
        "sum" => Ok(Duplicates::Sum),
        "max" => Ok(Duplicates::Max),
        _ => Err(PyValueError::new_err(format!("duplicates = {name:?} is not one of sum, max"))),
    }
}

/// Reads a network from files: `views` gives files with names, `paths` what the command line takes.
#[pyfunction]
pub(crate) fn read_network(
    py: Python<'_>,
    views: Option<Vec<(String, PathBuf)>>,
    paths: Vec<PathBuf>,
    options: &Bound<'_, PyDict>,
    threads: Option<usize>,
) -> PyResult<PyNetwork> {
    let source = match views {
        Some(views) => {
            Source::Views(views.into_iter().map(|(name, path)| ViewSource { name, path }).collect())
        }
        None => Source::Paths(paths),
    };
    let options = read_options(options)?;
    let mut watch = Watch::new(None);
    let result = py.detach(|| {
        let pool = Pool::new(threads)?;
        pool.run(|| io::read_network(&source, &options, &mut |_| watch.look(&[])))
    });
    let read = watch.outcome(result)?;
    Ok(PyNetwork { network: read.network, notes: read.notes })
}

fn read_options(given: &Bound<'_, PyDict>) -> PyResult<ReadOptions> {
    let mut options = ReadOptions::default();
    for (name, value) in given {
        let name: String = name.extract()?;
        if value.is_none() {
            continue;
        }
        let choice = |names: &str| PyValueError::new_err(format!("{name} = {value:?} is not one of {names}"));
        match name.as_str() {
            "source" => options.source = Some(value.extract()?),
            "target" => options.target = Some(value.extract()?),
            "weight" => options.weight = Some(value.extract()?),
            "relation" => options.relation = Some(value.extract()?),
            "nodes" => options.nodes = Some(value.extract()?),
            "unweighted" => options.unweighted = value.extract()?,
            "duplicates" => options.duplicates = duplicates_named(&value.extract::<String>()?)?,
            "directed" => {
                options.directed = match value.extract::<bool>() {
                    Ok(true) => Directed::All,
                    Ok(false) => Directed::No,
                    Err(_) => Directed::Views(value.extract()?),
                }
            }
            "header" => {
                options.header = match value.extract::<String>()?.as_str() {
                    "auto" => Header::Auto,
                    "yes" => Header::Yes,
                    "no" => Header::No,
                    _ => return Err(choice("auto, yes, no")),
                }
            }
            "delimiter" => {
                options.delimiter = Some(match value.extract::<String>()?.as_str() {
                    "tab" => Delimiter::Tab,
                    "comma" => Delimiter::Comma,
                    "semicolon" => Delimiter::Semicolon,
                    "space" => Delimiter::Space,
                    _ => return Err(choice("tab, comma, semicolon, space")),
                })
            }
            _ => return Err(PyTypeError::new_err(format!("there is no option {name:?}"))),
        }
    }
    Ok(options)
}
