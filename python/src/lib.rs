//! The compiled part of the Python package. It takes and returns arrays and JSON; names, ids and everything that users see
//! are Python code, in `package/manyview/`.
//!
//! Invariant: the global interpreter lock is released during computations, every long loop checks for Ctrl-C through
//! `watch::Watch`, a panic is raised as an exception (`error::detached`), and all threads belong to a pool that ends with the
//! call. So a fork between two calls inherits no running thread.

mod arrays;
mod compare;
mod error;
mod evaluate;
mod factorize;
mod fit;
mod folder;
mod generate;
mod ids;
mod inspect;
mod living;
mod network;
mod settings;
mod tune;
mod watch;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // An extension module has a copy of Rust's library, and hence a panic hook, of its own.
    manyview::panics::record();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<network::PyNetwork>()?;
    module.add_class::<living::PyKept>()?;
    module.add_function(wrap_pyfunction!(compare::compare, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::classify, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::cluster, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::links, module)?)?;
    module.add_function(wrap_pyfunction!(factorize::factorize, module)?)?;
    module.add_function(wrap_pyfunction!(fit::fit, module)?)?;
    module.add_function(wrap_pyfunction!(folder::load, module)?)?;
    module.add_function(wrap_pyfunction!(folder::save, module)?)?;
    module.add_function(wrap_pyfunction!(generate::generate, module)?)?;
    module.add_function(wrap_pyfunction!(ids::index_objects, module)?)?;
    module.add_function(wrap_pyfunction!(inspect::explain, module)?)?;
    module.add_function(wrap_pyfunction!(inspect::neighbors, module)?)?;
    module.add_function(wrap_pyfunction!(living::truncate, module)?)?;
    module.add_function(wrap_pyfunction!(network::read_network, module)?)?;
    module.add_function(wrap_pyfunction!(network::table_columns, module)?)?;
    module.add_function(wrap_pyfunction!(settings::describe, module)?)?;
    module.add_function(wrap_pyfunction!(settings::methods, module)?)?;
    module.add_function(wrap_pyfunction!(settings::override_settings, module)?)?;
    module.add_function(wrap_pyfunction!(settings::reopen, module)?)?;
    module.add_function(wrap_pyfunction!(settings::resolve, module)?)?;
    module.add_function(wrap_pyfunction!(tune::tune, module)?)?;
    Ok(())
}
