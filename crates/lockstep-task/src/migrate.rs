//! An old `global-context.md` taken apart: every section kept as scratch, moved into the task, or dropped in favour
//! of what now holds it.
//!
//! [`plan`](plan::plan) says what would happen, a row per section; [`Plan::apply`](plan::Plan::apply) does it. A section
//! whose replacement does not exist is not dropped, and one without a fate stops everything.

pub mod fate;
pub mod plan;
mod take;
