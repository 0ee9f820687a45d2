//! The codebase map: which file references which, how hot each is, and the document that says so.
//!
//! Pure: what files hold is asked of a [`World`](lockstep_refs::world::World), bytes come in and go out, the day is told.
//!
//! Read [`record`] first: what is remembered between two runs. [`update`] brings it up to date with the files, [`document`]
//! is what people and models read, [`check`](mod@check) compares the two. A map that was updated and one that was built anew
//! are the same, because both are made by [`update::update`]: see `docs/design/004-map.md`.

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
