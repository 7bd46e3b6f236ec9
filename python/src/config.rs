//! Parameters by name, and the settings they mean.

use manyview::config::{
    Config, Consensus, Init, Isolated, Layout, Normalize, Preset, Scale, Share, Solver, StopRule,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A value of the type that the parameter has; errors name the parameter.
fn value<'py, T: FromPyObjectOwned<'py>>(name: &str, value: &Bound<'py, PyAny>) -> PyResult<T> {
    value
        .extract()
        .map_err(|_| PyTypeError::new_err(format!("{name} = {value:?} is not a value of the right type")))
}

/// The choice with that name.
macro_rules! chosen {
    ($type:ident, $name:expr, $value:expr) => {{
        let given: String = value($name, $value)?;
        $type::from_name(&given).ok_or_else(|| {
            let names = $type::ALL.map(|choice| choice.name()).join(", ");
            PyValueError::new_err(format!("{} = {given:?} is not one of {names}", $name))
        })?
    }};
}

/// A solver by its name.
pub(crate) fn solver(given: &Bound<'_, PyAny>) -> PyResult<Solver> {
    Ok(chosen!(Solver, "solver", given))
}

/// What isolated nodes look like, by its name.
pub(crate) fn isolated(given: &Bound<'_, PyAny>) -> PyResult<Isolated> {
    Ok(chosen!(Isolated, "isolated", given))
}

/// Settings from a dictionary that has them all.
pub(crate) fn config(parameters: &Bound<'_, PyDict>) -> PyResult<Config> {
    let mut config = Config::default();
    for (key, given) in parameters {
        let name: String = key.extract()?;
        let (name, given) = (name.as_str(), &given);
        match name {
            "dim" => config.dim = value(name, given)?,
            "stages" => config.stages = value(name, given)?,
            "consensus_stages" => config.consensus_stages = value(name, given)?,
            "stage_dims" => config.stage_dims = value(name, given)?,
            "layout" => config.layout = chosen!(Layout, name, given),
            "unique_first" => config.unique_first = value(name, given)?,
            "gamma" => config.gamma = value(name, given)?,
            "window" => config.window = value(name, given)?,
            "negative" => config.negative = value(name, given)?,
            "isolated" => config.isolated = chosen!(Isolated, name, given),
            "consensus" => config.consensus = chosen!(Consensus, name, given),
            "share" => config.share = chosen!(Share, name, given),
            "normalize" => config.normalize = chosen!(Normalize, name, given),
            "solver" => config.solver = chosen!(Solver, name, given),
            "unique_solver" if given.is_none() => config.unique_solver = None,
            "unique_solver" => config.unique_solver = Some(chosen!(Solver, name, given)),
            "max_iter" => config.max_iter = value(name, given)?,
            "unique_max_iter" => config.unique_max_iter = value(name, given)?,
            "tol" => config.tol = value(name, given)?,
            "stop" => config.stop = chosen!(StopRule, name, given),
            "init" => config.init = chosen!(Init, name, given),
            "epsilon" => config.epsilon = value(name, given)?,
            "scale" => config.scale = chosen!(Scale, name, given),
            "seed" => config.seed = value(name, given)?,
            "threads" => config.threads = value(name, given)?,
            _ => return Err(PyTypeError::new_err(format!("there is no parameter {name:?}"))),
        }
    }
    Ok(config)
}

/// The settings of a preset, by name.
#[pyfunction]
pub(crate) fn preset<'py>(py: Python<'py>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let config = Config::preset(chosen!(Preset, "preset", name));
    let dict = PyDict::new(py);
    dict.set_item("dim", config.dim)?;
    dict.set_item("stages", config.stages)?;
    dict.set_item("consensus_stages", config.consensus_stages)?;
    dict.set_item("stage_dims", config.stage_dims)?;
    dict.set_item("layout", config.layout.name())?;
    dict.set_item("unique_first", config.unique_first)?;
    dict.set_item("gamma", config.gamma)?;
    dict.set_item("window", config.window)?;
    dict.set_item("negative", config.negative)?;
    dict.set_item("isolated", config.isolated.name())?;
    dict.set_item("consensus", config.consensus.name())?;
    dict.set_item("share", config.share.name())?;
    dict.set_item("normalize", config.normalize.name())?;
    dict.set_item("solver", config.solver.name())?;
    dict.set_item("unique_solver", config.unique_solver.map(Solver::name))?;
    dict.set_item("max_iter", config.max_iter)?;
    dict.set_item("unique_max_iter", config.unique_max_iter)?;
    dict.set_item("tol", config.tol)?;
    dict.set_item("stop", config.stop.name())?;
    dict.set_item("init", config.init.name())?;
    dict.set_item("epsilon", config.epsilon)?;
    dict.set_item("scale", config.scale.name())?;
    dict.set_item("seed", config.seed)?;
    dict.set_item("threads", config.threads)?;
    Ok(dict)
}
