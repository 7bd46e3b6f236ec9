//! The part of the Python package that is compiled. It takes arrays and gives arrays; names, defaults, ids and all that
//! a person sees are Python, in `package/manyview/`.
//!
//! Invariant: the interpreter's lock is released while work is done, every loop that may take long looks for Ctrl-C
//! through `watch::Watch`, and all threads belong to a pool that ends with the call. So a fork between two calls
//! inherits nothing that is half alive.

mod arrays;
mod config;
mod error;
mod evaluate;
mod factorize;
mod fit;
mod generate;
mod ids;
mod methods;
mod network;
mod watch;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<network::PyNetwork>()?;
    module.add_function(wrap_pyfunction!(config::preset, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::classify, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::cluster, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::links, module)?)?;
    module.add_function(wrap_pyfunction!(factorize::factorize, module)?)?;
    module.add_function(wrap_pyfunction!(fit::fit, module)?)?;
    module.add_function(wrap_pyfunction!(generate::generate, module)?)?;
    module.add_function(wrap_pyfunction!(ids::index_objects, module)?)?;
    module.add_function(wrap_pyfunction!(methods::embed, module)?)?;
    module.add_function(wrap_pyfunction!(methods::methods, module)?)?;
    module.add_function(wrap_pyfunction!(network::read_network, module)?)?;
    Ok(())
}
