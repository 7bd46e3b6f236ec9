//! One vector per node from a network whose nodes are linked in several ways.
//!
//! The method is MNMF, the multi-stage non-negative matrix factorization of Huang et al., "Multi-Stage Network
//! Embedding for Exploring Heterogeneous Edges". (Another method, modularized NMF, is also written M-NMF.)
//!
//! Each view k, one kind of edge, has an adjacency matrix `A_k` over the same n nodes. Its proximity matrix is
//! DeepWalk's, with `P = D^-1 A`, a window of T steps and b negative samples:
//!
//! ```text
//! M_k = log(max(X_k, 1)),   X_k = vol / (b T) * (P + P^2 + ... + P^T) D^-1
//! ```
//!
//! Pairs that co-occur less than b times as often as expected by chance are dropped, so `M_k` is sparse. It is then explained in stages,
//! each of which works on the residual of the previous ones:
//!
//! ```text
//! R_k = M_k
//! for each stage:
//!     consensus:  find U, V_k >= 0 with R_k ~ U V_k for all views together
//!     unique:     find U_k, V_k >= 0 with R_k ~ U_k V_k for each view separately
//!     R_k = max(R_k - U V_k, 0)
//! embedding = all U side by side
//! ```
//!
//! The first stages are consensus stages, which find what the views have in common; the others are unique stages, which find
//! what is specific to a view. [`Embedding::parts`] shows which columns belong to which stage and view. A clipped residual
//! has no entry where `M_k` has none, so no dense `n x n` matrix is ever formed. The result has the same bits for any number
//! of threads. `docs/method.md` in the repository describes every detail.
//!
//! ```
//! use manyview::embedding::Kind;
//! use manyview::{Mnmf, digits};
//!
//! let network = digits::network()?; // 2,000 handwritten digits, six views
//! let fit = Mnmf { dim: 16, stages: 2, max_iter: 5, ..Mnmf::default() }.fit(&network)?;
//! assert_eq!((fit.embedding.rows(), fit.embedding.dim()), (2000, 16));
//!
//! let first = &fit.embedding.parts()[0];
//! assert_eq!((first.stage, first.kind, first.columns.clone()), (1, Kind::Unique, 8..9));
//! println!("node {}: {:?}", fit.embedding.nodes().id(0), fit.embedding.row(0));
//! # Ok::<(), manyview::Error>(())
//! ```
//!
//! [`Model`] runs any method with a seed, a number of threads, labels, ranks, checkpoints and an observer of its progress.
//! The modules, from input to output:
//!
//! - [`network`]: node ids and one adjacency matrix per view; [`io`]: reading and writing files; `digits` (with the feature
//!   of that name): a built-in network; [`generate`]: networks with planted communities; [`labels`]: classes of nodes;
//! - [`mnmf`]: the settings of MNMF and the stages that follow from them; [`methods`]: the methods it is compared with;
//!   [`settings`], [`preset`]: how settings describe themselves;
//! - [`mod@proximity`]: `A_k` to `M_k`; [`nmf`]: one factorization of several matrices with a common left factor;
//! - [`method`]: what a fit returns and reports; [`estimate`]: the memory and time it needs; [`checkpoint`]: resuming it;
//!   [`living`]: vectors of new nodes without a new fit;
//!   [`comm`]: running it on several ranks;
//! - [`embedding`], [`result`]: vectors, and the folder they are saved to;
//! - [`explain`], [`neighbors`], [`layout`], [`evaluate`]: what can be done with vectors of any method;
//! - [`mod@compare`]: all methods on one network, as tables; [`mod@tune`]: settings of MNMF that suit a network;
//!   [`mod@figures`]: the figures of the paper; [`worth`]: what each view contributes;
//! - [`overlap`], [`summary`]: how views differ;
//! - [`error`], [`message`], [`panics`]: what went wrong, in the notation of the front end; [`linalg`], [`parallel`],
//!   [`memory`]: matrices, threads and the memory of the process.

pub mod compare;
pub mod figures;
mod model;
pub mod tune;
pub mod worth;

pub use manyview_analysis::{evaluate, layout, neighbors};
pub use manyview_base::{error, memory, message, panics, parallel};
pub use manyview_baselines as methods;
pub use manyview_core::{
    checkpoint, comm, estimate, living, method, mnmf, nmf, preset, proximity, result, summary,
};
#[cfg(feature = "digits")]
pub use manyview_data::digits;
pub use manyview_data::{doubts, embedding, explain, generate, io, labels, network, overlap};

/// Matrices: sparse rows, tiles of them, and tall dense factors.
pub mod linalg {
    pub use manyview_base::linalg::{Csr, Dense, Real, Slice, SliceMut, Tiles};
}

/// How settings describe themselves to front ends.
pub mod settings {
    pub use manyview_base::settings::{Choice, Details, Kind, Setting, SettingValue, Settings};
}

pub use embedding::Embedding;
pub use error::{Error, Result};
pub use labels::Labels;
pub use method::{Fit, Progress};
pub use mnmf::Mnmf;
pub use model::{
    FitOptions, Group, Method, MethodSettings, Model, ModelEstimate, SettingsFile, describe, read_settings,
    read_settings_from,
};
pub use network::{Network, NetworkBuilder, View};
pub use preset::Preset;
