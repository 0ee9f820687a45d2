//! Lockstep's concepts as types, and the pure functions over them.
//!
//! Defines what all other crates share: ids, events, changes and their journal line, decisions, the failure
//! policy and the alert. It knows no client's wire format (that is `lockstep-wire`) and accesses no disk,
//! clock, environment or process.

pub mod alert;
pub mod change;
pub mod decision;
pub mod event;
pub mod failure_policy;
pub mod ids;
pub mod path;
pub mod report;
pub mod task_list;
