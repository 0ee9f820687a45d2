//! The session cache: a framework's static content, built once into one file and delivered at session start within what
//! the client accepts.
//!
//! The core is pure: strategies make a section's content from texts, [`compose`](mod@compose) puts them together within the
//! budget, [`document`] writes and reads the file, [`delivery`] cuts it into parts. Only `reader`, [`Cache`] and what they
//! call touch the disk. Knows nothing of clients' wire formats, and of `lockstep.toml` only what [`Settings`] hold; text of
//! other subsystems comes through a [`Provider`].

pub mod blocks;
pub mod body;
mod cache;
pub mod compose;
mod cores;
pub mod delivery;
pub mod document;
mod error;
pub mod escape;
pub mod external;
pub mod external_edit;
pub mod extract;
pub mod finding;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
mod frontmatter;
mod gather;
pub mod inputs;
pub mod json;
pub mod layout;
pub mod listing;
mod lock;
pub mod measure;
mod memo;
mod outcome;
mod provider;
mod reader;
mod ready;
mod record;
pub mod roundtable;
pub mod schema;
mod section;
mod settings;
pub mod skill;
pub mod skill_index;
mod skill_walk;
pub mod skills_manifest;
mod state;
mod target;
mod watch;

pub use cache::{Cache, Snapshot};
pub use error::CacheError;
pub use gather::Resolved;
pub use outcome::{BuildOptions, Built, Checked, Freshness};
pub use provider::{Given, Provider};
pub use ready::Ready;
pub use section::{Section, SectionName, SectionProblem, Strategy};
pub use settings::{DEFAULT_BUDGET, LEAST_BUDGET, Plugin, Preset, Settings};
