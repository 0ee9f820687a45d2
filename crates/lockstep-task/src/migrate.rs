//! Splits an old `global-context.md`: every section is kept as scratch, moved into the task, or dropped in
//! favour of its replacement.
//!
//! [`plan`](plan::plan) lists the effects, one row per section; [`MigrationPlan::apply`](plan::MigrationPlan::apply) executes
//! them. A section without an existing replacement is not dropped, and a section without a fate stops the
//! migration.

pub mod disposition;
mod extract;
pub mod plan;
