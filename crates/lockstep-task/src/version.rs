//! Versions of the task: their subjects, the difference between two, and how one follows another.
//!
//! [`swap::compare_and_swap`] decides whether a new document may follow the current one. Keeping versions is the store's work.

pub mod deliver;
pub mod diff;
pub(crate) mod entries;
pub mod lost;
pub mod merge;
pub mod subject;
pub mod swap;
