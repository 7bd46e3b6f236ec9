//! The memory that reading may take.

use std::cell::OnceCell;

use crate::network::NetworkBuilder;
use manyview_base::error::{Error, Result};
use manyview_base::memory::{Limit, resident_bytes};

/// The number of lines between two checks.
pub(super) const LINES_PER_CHECK: usize = 1 << 16;

/// Refuses to collect more nodes and edges than the memory can hold.
pub(super) struct Budget {
    max_memory: Option<u64>,
    /// Only found out when it is needed: asking the system takes longer than reading a small file.
    limit: OnceCell<Limit>,
}

impl Budget {
    pub(super) fn new(max_memory: Option<u64>) -> Self {
        Budget { max_memory, limit: OnceCell::new() }
    }

    fn limit(&self) -> &Limit {
        self.limit.get_or_init(|| Limit::new(self.max_memory))
    }

    /// Checks what the process holds and what the next `edges` may need.
    ///
    /// # Errors
    /// [`Error::TooLarge`], with the place in the file.
    pub(super) fn check(
        &self,
        builder: &NetworkBuilder,
        edges: usize,
        place: impl FnOnce() -> String,
    ) -> Result<()> {
        let needed = held(builder) + builder.growth(edges);
        self.limit().check(needed).map_err(|exceeded| {
            Error::too_large(format!(
                "{}: reading up to here needs {exceeded}; remove lines, or use a machine with more memory",
                place()
            ))
        })
    }

    /// Checks what the matrices of the views will need. A small network is left to the estimate of the whole run, which can
    /// give better advice.
    ///
    /// # Errors
    /// [`Error::TooLarge`].
    pub(super) fn check_matrices(&self, builder: &NetworkBuilder) -> Result<()> {
        if builder.edges() < LINES_PER_CHECK {
            return Ok(());
        }
        self.limit().check(held(builder) + builder.build_growth()).map_err(|exceeded| {
            Error::too_large(format!("the network of {} edges needs {exceeded}", builder.edges()))
        })
    }
}

/// What the process holds, or at least the edges where the system does not report it.
fn held(builder: &NetworkBuilder) -> u64 {
    resident_bytes().unwrap_or(0).max(builder.bytes())
}
