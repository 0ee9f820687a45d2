//! Versions of the task: their subjects, the difference between two, and how one follows another.
//!
//! [`swap::swap`] is the heart: compare-and-swap over documents. Keeping versions is the store's work.

pub mod deliver;
pub mod diff;
pub(crate) mod entries;
pub mod lost;
pub mod merge;
pub mod subject;
pub mod swap;
