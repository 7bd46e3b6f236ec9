//! Sets of settings that belong together.

use manyview_base::named;

named! {
    /// A set of settings that belong together; single settings override it.
    pub enum Preset {
        Default = "default", "what works best on our test networks";
        Paper = "paper", "the settings of the paper (mnmf: solver mu, shared consensus, equal shares, raw scale)";
        Authors = "authors", "the settings of the published code (mnmf only: window 1, gamma 20, its stop rule)";
    }
}

/// The largest number of columns that any method accepts.
pub const fn largest_dim() -> f64 {
    (1 << 20) as f64
}
