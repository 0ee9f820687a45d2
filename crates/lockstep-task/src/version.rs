//! Versions of the task: their subjects, the difference between two, and the rule by which one follows another.
//!
//! [`compare_and_swap::compare_and_swap`] decides whether a new document may follow the current one. The store saves versions.

pub mod compare_and_swap;
pub mod delivery;
pub mod diff;
pub(crate) mod keyed_list;
pub mod loss;
pub mod merge;
pub mod subject;
