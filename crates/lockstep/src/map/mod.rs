//! The map of a project on disk: its path, its stored state, and its update. [`lockstep_map`] defines the map
//! itself.

mod append;
mod committed;
mod current;
mod delta_log;
mod document_file;
pub(crate) mod entry;
pub(crate) mod hotspots;
mod lock;
mod patch_writer;
mod plan;
mod renames;
mod settings;
mod state;
mod trace_file;
mod updater;

pub(crate) use current::CurrentMap;
pub(crate) use updater::{MapUpdateMode, MapUpdateReport, MapUpdateRequest};
