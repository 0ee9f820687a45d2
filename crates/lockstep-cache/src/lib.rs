//! The session cache: a framework's static content, built once into one file and delivered at session start
//! within the client's limits.
//!
//! The core is pure: strategies create a section's content from texts, [`mod@budget`] combines them
//! within the budget, [`cache_document`] writes and parses the file, and [`delivery`] splits it into parts. Only
//! `reader`, [`SessionCache`] and the functions they call access the disk. The crate does not know clients' wire
//! formats, and of `lockstep.toml` only the [`CacheSettings`]; text of other subsystems comes through a
//! [`ContentProvider`].

pub mod blocks;
pub mod budget;
mod build_record;
mod build_report;
pub mod cache_document;
mod cache_file;
mod content_provider;
pub mod delivery;
mod error;
pub mod escape;
pub mod external_manifest;
pub mod external_skills;
pub mod extract;
pub mod finding;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod framework_paths;
mod frontmatter;
pub mod inputs;
pub mod json_section;
pub mod listing;
mod lock;
mod part_cache;
pub mod roundtable;
pub mod schema;
mod section;
pub mod section_body;
mod sections;
mod session_cache;
mod settings;
pub mod skill;
mod skill_facts_cache;
pub mod skill_index;
mod skill_scan;
pub mod skills_manifest;
mod source_reader;
mod state_files;
pub mod text_length;
mod watch_list;

pub use build_report::{BuildOptions, BuildReport, CheckReport, Freshness};
pub use content_provider::{ContentProvider, ProvidedText};
pub use error::CacheError;
pub use part_cache::CachedPart;
pub use section::{ContentStrategy, SectionConfig, SectionError, SectionName};
pub use sections::SectionSources;
pub use session_cache::{CacheSnapshot, SessionCache};
pub use settings::{CacheSettings, DEFAULT_BUDGET, FrameworkPreset, InstalledPlugin, LEAST_BUDGET};
