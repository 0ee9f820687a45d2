//! `lockstep refs`: the references of a file or name, and references to what no longer exists.

pub(crate) mod dangling;
pub(crate) mod package;
pub(crate) mod query;
pub(crate) mod references;
pub(crate) mod suggestion;
pub(crate) mod target;
pub(crate) mod text;
pub(crate) mod undefined;
