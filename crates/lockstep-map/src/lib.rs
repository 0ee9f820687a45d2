//! The codebase map: references between files, hotspots, and the document that lists them.
//!
//! Pure: file contents come from a [`World`](lockstep_refs::world::World), bytes come in and go out, and the
//! day is a parameter.
//!
//! Read [`record`] first: the state between two runs. [`update`] updates it from the files, [`document`] is
//! the text for people and models, [`check`](mod@check) compares both. An updated map equals a rebuilt one,
//! because [`update::update`] makes both: see `docs/design/004-map.md`.

pub mod check;
mod codec;
pub mod document;
pub mod fast_hash;
pub mod graph;
pub mod hotspot;
pub mod incremental_render;
mod interface;
mod query;
pub mod record;
mod recording_snapshot;
pub mod report;
pub mod schema;
pub mod scope;
pub mod shared_str;
pub mod short_names;
pub mod update;
pub mod view;
