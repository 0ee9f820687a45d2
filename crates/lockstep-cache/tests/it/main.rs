//! The cache on real files: built, read back, checked, delivered, and attacked.

#![allow(clippy::unwrap_used)] // A helper that panics fails its test, which is its purpose.

mod build;
mod check;
mod claude_preset;
mod concurrency;
mod delivery;
mod hostile;
mod part_cache;
mod project;
