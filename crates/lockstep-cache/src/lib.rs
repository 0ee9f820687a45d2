//! The session cache: a framework's static content, built once into one file and delivered at session start
//! within the client's limits.
//!
//! The core is pure: strategies create a section's content from texts, [`compose`](mod@compose) combines them
//! within the budget, [`document`] writes and parses the file, and [`delivery`] splits it into parts. Only
//! `reader`, [`SessionCache`] and the functions they call access the disk. The crate does not know clients' wire
//! formats, and of `lockstep.toml` only the [`CacheSettings`]; text of other subsystems comes through a
//! [`ContentProvider`].

pub mod blocks;
pub mod body;
mod build_record;
mod build_report;
mod cache;
mod cache_file;
pub mod compose;
mod content_provider;
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
mod part_cache;
pub mod roundtable;
pub mod schema;
mod section;
mod settings;
pub mod skill;
mod skill_facts_cache;
pub mod skill_index;
mod skill_scan;
pub mod skills_manifest;
mod source_reader;
mod state_files;
mod watch_list;

pub use build_report::{BuildOptions, BuildReport, CheckReport, Freshness};
pub use cache::{CacheSnapshot, SessionCache};
pub use content_provider::{ContentProvider, ProvidedText};
pub use error::CacheError;
pub use gather::SectionSources;
pub use part_cache::CachedPart;
pub use section::{ContentStrategy, SectionConfig, SectionError, SectionName};
pub use settings::{CacheSettings, DEFAULT_BUDGET, FrameworkPreset, InstalledPlugin, LEAST_BUDGET};
