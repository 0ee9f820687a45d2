//! From text to facts, from facts to references, from references to the impact of a change.
//!
//! Pure: what other files hold is asked of a [`World`](world::World), which the index answers from disk and tests from
//! memory. Nothing here reads a file, a clock or the environment.
//!
//! References are not kept, they are found when asked for: a file can use a name only if the name stands in its text, so the
//! index of words gives few candidates, and only their facts are resolved. Hence a file that comes, goes or gets another
//! name needs no bookkeeping elsewhere.

pub mod change;
mod collect;
pub mod dangling;
pub mod entity;
pub mod facts;
#[cfg(test)]
mod fixture;
pub mod impact;
pub mod language;
pub mod module;
pub mod overlay;
mod package;
pub mod reference;
pub mod report;
mod resolve;
pub mod schema;
mod scope;
pub mod signature;
pub mod slots;
mod syntax;
pub mod text;
mod unread;
mod walk;
pub mod world;

/// What facts mean: changes with every change to the extractors or their grammars, so that kept facts of another meaning are
/// not used.
pub const SEMANTICS: &str = env!("LOCKSTEP_SEMANTICS");
