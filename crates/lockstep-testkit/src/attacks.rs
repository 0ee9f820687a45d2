//! Attacks as data, for the tests and for `cargo xtask chaos`: each table is written once.

mod commands;
mod events;
mod files;
mod moves;
mod names;
mod numbers;
mod settings;
mod source_blocks;
mod source_samples;
mod source_shapes;
mod sources;

pub use commands::{commit_command, harmless_command, task_command};
pub use events::{event_forms, unreadable_events};
pub use files::{PLACES, PLANTS, Plant, make_fifo};
pub use moves::{PAST_HOOKS, refused_moves};
pub use names::{HOSTILE_NAME, controls_terminal, hostile_name};
pub use numbers::Numbers;
pub use settings::{idle_commands, idle_settings};
pub use source_shapes::{SOURCE_EXTENSIONS, source_file};
pub use sources::{EXTENSIONS, PATTERNS, source_text};
