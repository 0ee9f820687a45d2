//! Extracts facts from text, resolves references from facts, and computes the impact of a change.
//!
//! Pure: other files are read through a [`World`](world::World), which the index implements from disk and
//! tests from memory. Nothing here reads a file, a clock or the environment.
//!
//! References are not stored, but resolved on demand: a file can use a name only if its text contains the
//! name, so the index of words provides few candidates, and only their facts are resolved. An added, deleted
//! or renamed file therefore needs no bookkeeping elsewhere.

pub mod budget;
mod by_name;
pub mod definition_diff;
pub mod entity;
mod error_regions;
mod fact_builder;
pub mod facts;
#[cfg(test)]
mod fixture;
pub mod impact;
pub mod language;
pub mod lazy_array;
pub mod limits;
pub mod memo;
pub mod module_lookup;
pub mod overlay;
mod package;
mod parses;
pub mod reference;
pub mod report;
mod resolve;
pub mod schema;
mod scope;
pub mod signature;
pub mod stale_references;
mod syntax;
pub mod text;
mod walk;
pub mod work;
pub mod world;

/// The version of the facts. It changes with every change of the extractors or their grammars, so that stored
/// facts of another version are not used.
pub const EXTRACTOR_VERSION: &str = env!("LOCKSTEP_SEMANTICS");
