//! The codebase map: references between files, hotspots, and the document that lists them.
//!
//! Pure: file contents come from a [`World`](lockstep_refs::world::World), bytes come in and go out, and the
//! day is a parameter.
//!
//! Read [`record`] first: the state between two runs. [`update`] updates it from the files, [`document`] is
//! the text for people and models, [`check`](mod@check) compares both. An updated map equals a rebuilt one,
//! because [`update::update`] makes both: see `docs/design/004-map.md`.

mod ask;
pub mod check;
pub mod digest;
pub mod document;
mod encode;
pub mod hotspot;
mod interface;
pub mod l1;
pub mod names;
pub mod piece;
mod question;
pub mod record;
pub mod redraw;
pub mod schema;
pub mod scope;
pub mod shape;
pub mod update;
pub mod view;
