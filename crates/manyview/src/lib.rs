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
//! Pairs that meet less than b times as often as chance vanish, so `M_k` is sparse. It is then explained stage by
//! stage, where each stage works on what the stages before it left over:
//!
//! ```text
//! R_k = M_k
//! for each stage:
//!     consensus:  find U, V_k >= 0 with R_k ~ U V_k for all views at once
//!     unique:     find U_k, V_k >= 0 with R_k ~ U_k V_k for each view alone
//!     R_k = max(R_k - U V_k, 0)
//! embedding = all U side by side
//! ```
//!
//! The first stages are consensus: what the views have in common. The others are unique: what one
//! view says alone. [`Embedding::parts`] tells which columns came from which stage and view. A clipped residual
//! has no entry where `M_k` has none, so no dense `n x n` matrix is ever formed. The result has the same bits for
//! any number of threads. `docs/method.md` in the repository states every detail.
//!
//! ```
//! use manyview::config::Kind;
//! use manyview::{Config, digits};
//!
//! let network = digits::network()?; // 2,000 handwritten digits, six views
//! let fit = Config { dim: 16, stages: 2, max_iter: 5, ..Config::default() }.fit(&network)?;
//! assert_eq!((fit.embedding.rows(), fit.embedding.dim()), (2000, 16));
//!
//! let first = &fit.embedding.parts()[0];
//! assert_eq!((first.kind, first.columns.clone()), (Kind::Consensus, 0..8));
//! println!("node {}: {:?}", fit.embedding.nodes().id(0), fit.embedding.row(0));
//! # Ok::<(), manyview::Error>(())
//! ```
//!
//! The modules, from input to output:
//!
//! - [`network`]: node ids and one adjacency matrix per view; [`io`] reads and writes files, [`digits`] is a
//!   network built in, [`generate`] makes planted ones;
//! - [`config`]: the settings, [`Config`], and the stages that follow from them;
//! - [`mod@proximity`]: `A_k` to `M_k`; [`residual`]: what a stage leaves over;
//! - [`estimate`]: what a fit will need, before it runs;
//! - [`nmf`]: one stage, as a factorization of several matrices with a common left factor;
//! - [`stages`]: the whole method, [`Config::fit`], and the record of a run; [`embedding`]: its result;
//! - [`methods`]: the methods it is compared with;
//! - [`overlap`], [`summary`]: what views are like, and how far they agree;
//! - [`explain`], [`neighbors`], [`layout`]: which views a vector comes from, who is near whom, and a picture;
//! - [`evaluate`]: how good vectors are, of this method or any other;
//! - [`linalg`], [`parallel`], [`comm`], [`memory`]: matrices, threads, ranks, the process's memory;
//! - [`error`]: the one error type.

mod model;

pub use manyview_analysis::{evaluate, layout, neighbors};
pub use manyview_base::{error, linalg, memory, message, parallel, settings};
pub use manyview_baselines as methods;
pub use manyview_core::{
    checkpoint, comm, estimate, method, mnmf, nmf, preset, proximity, residual, result, stages, summary,
};
pub use manyview_data::{digits, embedding, explain, generate, io, labels, network, overlap};

pub use embedding::Embedding;
pub use error::{Error, Result};
pub use labels::Labels;
pub use method::{Fit, Progress};
pub use mnmf::Mnmf;
pub use model::{
    FitOptions, Group, Method, MethodSettings, Model, ModelEstimate, SettingsFile, describe, read_settings,
};
pub use network::{Network, NetworkBuilder, View};
pub use preset::Preset;
