//! Networks from arrays and from files.

use std::path::PathBuf;

use manyview::doubts::doubts;
use manyview::io::{
    self, Checksums, Directed, Disk, InputFile, ReadNetwork, ReadOptions, Source, TableColumns, ViewSource,
};
use manyview::linalg::{Csr, Real};
use manyview::memory::{Limit, resident_bytes};
use manyview::message::{Message, Notation, Warning, option};
use manyview::network::{Duplicates, NetworkBuilder, View};
use manyview::parallel::Pool;
use manyview::proximity::{self, Proximity, proximity_watched};
use manyview::summary::summarize_watched;
use manyview::{Error, Network};
use numpy::Element;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{CsrArrays, Places, PlacesSlice, Weights, WeightsSlice, csr_arrays};
use crate::error::{detached, to_python};
use crate::fit::{Warnings, warnings};
use crate::settings::{named, set_all};
use crate::watch::Watch;

/// The number of edges between two checks for Ctrl-C.
const EDGES_PER_LOOK: usize = 1 << 16;

/// A network with several kinds of edges over one set of nodes.
#[pyclass(frozen, name = "Network", module = "manyview._native")]
pub(crate) struct PyNetwork {
    pub(crate) network: Network,
    pub(crate) notes: Vec<Message>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) skipped: u64,
    /// The files that it was read from.
    pub(crate) inputs: Vec<InputFile>,
}

/// A view: name, whether it is directed, rows, columns, and weights.
type GivenView<'py> = (String, bool, Bound<'py, PyAny>, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

#[pymethods]
impl PyNetwork {
    /// Creates a network. Without `ids`, the nodes are numbered. Rows are the sources of all edges, or (`by_rows`) the
    /// `indptr` of a CSR matrix.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "plain values are what Python passes")]
    fn build(
        py: Python<'_>,
        nodes: usize,
        ids: Option<Vec<String>>,
        views: Vec<GivenView<'_>>,
        by_rows: bool,
        duplicates: &str,
        notes: Vec<String>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let duplicates: Duplicates = named("duplicates", duplicates)?;
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
        let result = detached(py, || {
            let pool = Pool::new(threads)?;
            // Ids that are the same as text, or have line breaks, are replaced by numbers too.
            let mut builder = match ids.and_then(|ids| NetworkBuilder::with_nodes(ids).ok()) {
                Some(builder) => builder,
                None => NetworkBuilder::with_nodes((0..nodes).map(|node| node.to_string()))?,
            };
            for (name, directed, edges) in &given {
                let view = builder.add_view(name, *directed, duplicates)?;
                edges.for_each(&mut |at, row, col, weight| {
                    if at % EDGES_PER_LOOK == 0 {
                        if watch.look(&[]).is_break() {
                            return Err(Error::Interrupted);
                        }
                        let place =
                            || format!("view {name:?}: the network with the first {at} edges of this view");
                        check_memory(&builder, builder.growth(EDGES_PER_LOOK), place)?;
                    }
                    // The builder refuses numbers beyond the nodes.
                    let number = |node: usize| u32::try_from(node).unwrap_or(u32::MAX);
                    builder.add_edge(view, number(row), number(col), weight)
                })?;
            }
            let whole = || format!("the network of {} edges", builder.edges());
            check_memory(&builder, builder.build_growth(), whole)?;
            let network = builder.build_on(&pool)?;
            let warnings = doubts(&network);
            Ok((network, warnings))
        });
        let (network, warnings) = watch.outcome(result)?;
        let notes = notes.into_iter().map(Message::from).collect();
        Ok(PyNetwork { network, notes, warnings, skipped: 0, inputs: Vec::new() })
    }

    /// Returns the ids in row order.
    fn ids(&self) -> Vec<&str> {
        self.network.nodes().iter().collect()
    }

    /// Returns notes about how it was read.
    fn notes(&self) -> Vec<String> {
        self.notes.iter().map(|note| note.in_notation(Notation::Python)).collect()
    }

    /// Returns doubts about what was read: whether each is about convergence, and its text.
    fn warnings(&self) -> Warnings {
        warnings(&self.warnings)
    }

    /// Returns the number of lines that were left out because they could not be read.
    fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Returns the names of the views.
    fn names(&self) -> Vec<&str> {
        self.network.views().iter().map(|view| view.name.as_str()).collect()
    }

    /// Returns the same nodes with one of the views.
    fn only(&self, view: &str) -> PyResult<Self> {
        let refused = |error: Error| Error::config(format!("{}: {error}", option("view_only")));
        let at = self.network.view_index(view).map_err(|error| to_python(refused(error)))?;
        let (notes, warnings, inputs) = (self.notes.clone(), self.warnings.clone(), self.inputs.clone());
        Ok(PyNetwork { network: self.network.only(at), notes, warnings, skipped: self.skipped, inputs })
    }

    /// Returns for each view whether it is directed, its number of distinct edges, and its number of isolated nodes.
    fn facts(&self) -> Vec<(bool, usize, usize)> {
        self.network.views().iter().map(|view| (view.directed, view.edges(), view.isolated())).collect()
    }

    /// Returns a hash of nodes, views and weights, as in `run.json`.
    fn fingerprint(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || Ok(format!("{:016x}", self.network.fingerprint()))).map_err(to_python)
    }

    /// Returns the weights of a view in CSR format.
    fn adjacency<'py>(&self, py: Python<'py>, view: &str) -> PyResult<CsrArrays<'py, f64>> {
        Ok(csr_arrays(py, &self.view(view)?.adjacency))
    }

    /// Returns the properties and the agreement of the views as JSON. `settings`, a JSON object, are those of the
    /// proximity; without them, it is not computed.
    fn summary(&self, py: Python<'_>, settings: Option<&str>, threads: Option<usize>) -> PyResult<String> {
        let settings = settings.map(proximity_settings).transpose()?;
        let mut watch = Watch::new(None);
        let result = detached(py, || {
            let pool = Pool::new(threads)?;
            summarize_watched(&self.network, settings, &pool, &mut |_, _| watch.look(&[]))
        });
        let summary = watch.outcome(result)?;
        serde_json::to_string(&summary).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Returns the proximity matrix of a view in CSR format, with 64 bits if `double`, else 32. `settings` is a JSON object.
    fn proximity<'py>(
        &self,
        py: Python<'py>,
        view: &str,
        settings: &str,
        double: bool,
        seed: u64,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let view = self.view(view)?;
        let settings = proximity_settings(settings)?;
        if double {
            proximity_arrays::<f64>(py, view, settings, seed, threads)?.into_bound_py_any(py)
        } else {
            proximity_arrays::<f32>(py, view, settings, seed, threads)?.into_bound_py_any(py)
        }
    }
}

impl PyNetwork {
    fn view(&self, name: &str) -> PyResult<&View> {
        self.network.view_named(name).map_err(|error| PyKeyError::new_err(error.to_string()))
    }
}

/// Checks what the process holds, and what the next edges or the matrices need in addition.
fn check_memory(builder: &NetworkBuilder, growth: u64, what: impl FnOnce() -> String) -> Result<(), Error> {
    let held = resident_bytes().unwrap_or(0).max(builder.bytes());
    // Asked for each time: threads and other arrays reserve addresses too, and the limit may be one of those.
    Limit::new(None).check(held + growth).map_err(|exceeded| {
        Error::too_large(format!(
            "{} needs {exceeded}; use fewer edges, or a machine with more memory",
            what()
        ))
    })
}

fn proximity_settings(given: &str) -> PyResult<proximity::Settings> {
    let mut settings = proximity::Settings::default();
    set_all(&mut settings, given)?;
    Ok(settings)
}

fn proximity_arrays<'py, T: Real + Element>(
    py: Python<'py>,
    view: &View,
    settings: proximity::Settings,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<CsrArrays<'py, T>> {
    let mut watch = Watch::new(None);
    let result = detached(py, || {
        let pool = Pool::new(threads)?;
        let proximity = Proximity::decide(settings, &[view], seed, &pool)?;
        proximity_watched::<T>(view, proximity, &pool, &mut |_| watch.look(&[]))
    });
    let matrix: Csr<T> = watch.outcome(result)?;
    Ok(csr_arrays(py, &matrix))
}

/// The edges of a view, as pairs or as a CSR matrix.
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
            return Err("sources, targets and weights differ in length");
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

/// Reads a network from named files (`views`), or from `paths` as on the command line.
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
    let result = detached(py, || {
        let pool = Pool::new(threads)?;
        let files = Checksums::of(&Disk);
        let read = io::read_network_from(&files, &source, &options, &pool, &mut |_| watch.look(&[]))?;
        Ok((read, files.inputs()))
    });
    let (ReadNetwork { network, notes, warnings, skipped }, inputs) = watch.outcome(result)?;
    Ok(PyNetwork { network, notes, warnings, skipped, inputs })
}

/// Source, target, weight and relation by number from 0, and a note.
type FoundColumns = (usize, usize, Option<usize>, Option<usize>, String);

/// Determines the columns of a table from their names, its first rows as text, and options, by the rules for files.
#[pyfunction]
pub(crate) fn table_columns(
    names: Vec<String>,
    rows: Vec<Vec<String>>,
    options: &Bound<'_, PyDict>,
    lone: bool,
) -> PyResult<FoundColumns> {
    let found = io::table_columns(&names, &rows, &read_options(options)?, lone).map_err(to_python)?;
    let TableColumns { source, target, weight, relation, note } = found;
    Ok((source, target, weight, relation, note.in_notation(Notation::Python)))
}

fn read_options(given: &Bound<'_, PyDict>) -> PyResult<ReadOptions> {
    let mut options = ReadOptions::default();
    for (name, value) in given {
        let name: String = name.extract()?;
        if value.is_none() {
            continue;
        }
        match name.as_str() {
            "source" => options.source = Some(value.extract()?),
            "target" => options.target = Some(value.extract()?),
            "weight" => options.weight = Some(value.extract()?),
            "relation" => options.relation = Some(value.extract()?),
            "max_memory" => options.max_memory = Some(value.extract()?),
            "nodes" => options.nodes = Some(value.extract()?),
            "unweighted" => options.unweighted = value.extract()?,
            "duplicates" => options.duplicates = named("duplicates", &value.extract::<String>()?)?,
            "directed" => {
                options.directed = match value.extract::<bool>() {
                    Ok(true) => Directed::All,
                    Ok(false) => Directed::No,
                    Err(_) => Directed::Views(value.extract()?),
                }
            }
            "header" => options.header = named("header", &value.extract::<String>()?)?,
            "decimal" => options.decimal = named("decimal", &value.extract::<String>()?)?,
            "on_error" => options.on_error = named("on_error", &value.extract::<String>()?)?,
            "delimiter" => {
                options.delimiter = Some(named("delimiter", &value.extract::<String>()?)?);
            }
            _ => return Err(PyTypeError::new_err(format!("there is no option {name:?}"))),
        }
    }
    Ok(options)
}
