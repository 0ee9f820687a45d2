//! The words of Lockstep as types, and the pure functions over them.
//!
//! Owns what every other crate must agree on: ids, events, changes and their journal line, decisions,
//! the failure policy and the alert. Knows no client's wire format (that is `lockstep-wire`) and touches no
//! disk, clock, environment or process.

pub mod alert;
pub mod change;
pub mod decision;
pub mod event;
pub mod failure;
pub mod ids;
pub mod path;
pub mod report;
pub mod task_list;
