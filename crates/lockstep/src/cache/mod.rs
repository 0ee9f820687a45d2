//! The project's session cache: its settings, Lockstep's own content, and its delivery.
//!
//! [`open`] is the entry point. The commands, the hook and `doctor` use this module; `lockstep-cache` defines
//! the cache itself.

pub(crate) mod delivery;
pub(crate) mod extract;
mod plugins;
mod provider;
pub(crate) mod receipt;

use lockstep_cache::framework_paths::default_target;
use lockstep_cache::{
    CacheError, CacheSettings, ContentStrategy, FrameworkPreset, Freshness, SectionConfig, SectionError,
    SessionCache,
};
use lockstep_config::cache::CachePreset;

use crate::project::ActiveProject;

pub(crate) use plugins::installed_plugins;
pub(crate) use provider::ProjectProvider;

/// The section of the files that `[cache] conventions` names, and its place among the sections.
const CONVENTIONS: (&str, u32) = ("CONVENTIONS", 4);

/// The reason why no cache can be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionCacheError {
    #[error("[cache] in lockstep.toml is wrong:{}", listed(.0))]
    Settings(Vec<SectionError>),
    #[error(transparent)]
    Cache(#[from] CacheError),
    #[error("{path} is not a session cache: {why}; `lockstep cache build` makes it anew")]
    Damaged { path: String, why: String },
    #[error("what was delivered could not be noted")]
    Receipt(#[source] lockstep_store::StoreError),
    #[error("the cache was delivered as it was: {0}")]
    NotRebuilt(String),
}

fn listed(problems: &[SectionError]) -> String {
    problems.iter().map(|problem| format!("\n  {problem}")).collect()
}

/// The cache of a project. Nothing of it is read yet.
pub(crate) fn open(project: &ActiveProject) -> Result<SessionCache, SessionCacheError> {
    Ok(SessionCache::open(&project.root, settings(project)?))
}

/// Returns the project's configuration, based on its preset.
fn settings(project: &ActiveProject) -> Result<CacheSettings, SessionCacheError> {
    let config = &project.config().cache;
    let preset = match config.preset {
        CachePreset::Auto => FrameworkPreset::of(&project.root),
        CachePreset::Isdlc => FrameworkPreset::Isdlc,
        CachePreset::Claude => FrameworkPreset::Claude,
    };
    let mut problems = Vec::new();
    let sections = CacheSettings::override_sections(preset.sections(), own_sections(project, &mut problems));
    let listed = |section: &SectionConfig| {
        matches!(section.strategy, ContentStrategy::SkillList | ContentStrategy::Agents)
    };
    let plugins = if sections.iter().any(listed) { installed_plugins(&project.root) } else { Vec::new() };
    let target = config.path.0.clone().unwrap_or_else(|| default_target(&project.root));
    match CacheSettings::new(sections, config.budget_chars.0, target, plugins) {
        Ok(settings) if problems.is_empty() => Ok(settings),
        Ok(_) => Err(SessionCacheError::Settings(problems)),
        Err(more) => {
            problems.extend(more);
            Err(SessionCacheError::Settings(problems))
        }
    }
}

fn own_sections(project: &ActiveProject, problems: &mut Vec<SectionError>) -> Vec<SectionConfig> {
    let config = &project.config().cache;
    let mut own = Vec::new();
    let mut keep = |section: Result<SectionConfig, Vec<SectionError>>| match section {
        Ok(section) => own.push(section),
        Err(wrong) => problems.extend(wrong),
    };
    if !config.conventions.0.is_empty() {
        keep(SectionConfig::new(CONVENTIONS.0, &config.conventions.0, "files", CONVENTIONS.1));
    }
    for section in config.section.iter() {
        keep(SectionConfig::new(
            &section.name.0,
            &section.source.0,
            section.strategy.as_str(),
            section.priority.0,
        ));
    }
    // One of them may replace a preset's section, but not another of them.
    for (at, section) in own.iter().enumerate() {
        if own[..at].iter().any(|earlier| earlier.name == section.name) {
            problems.push(SectionError::Twice { name: section.name.to_string() });
        }
    }
    own
}

/// Returns a freshness as one word, with the reasons if it is not fresh.
pub(crate) fn describe_freshness(freshness: &Freshness) -> (&'static str, Vec<String>) {
    match freshness {
        Freshness::Fresh => ("fresh", Vec::new()),
        Freshness::Missing => ("missing", vec!["`lockstep cache build` builds it".to_owned()]),
        Freshness::Stale(changes) if changes.is_empty() => {
            ("stale", vec!["its inputs are others than when it was built".to_owned()])
        }
        Freshness::Stale(changes) => ("stale", changes.iter().map(ToString::to_string).collect()),
        Freshness::Modified(None) => ("altered", vec!["the file is not what was built".to_owned()]),
        Freshness::Modified(Some(damage)) => ("altered", vec![format!("the file is damaged: {damage}")]),
    }
}

#[cfg(test)]
mod tests {
    use lockstep_config::cache::SectionStrategy;
    use lockstep_config::value::ConfigEnum as _;

    use super::*;

    #[test]
    fn configuration_accepts_every_strategy() {
        let words: Vec<&str> = SectionStrategy::ALL.iter().map(|(_, word)| *word).collect();
        assert_eq!(words, ContentStrategy::NAMES);
    }
}
