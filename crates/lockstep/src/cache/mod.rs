//! The project's session cache: its settings, Lockstep's own content, and its delivery.
//!
//! [`open`] is the entry point. The commands, the hook and `doctor` use this module; `lockstep-cache` defines
//! the cache itself.

pub(crate) mod delivery;
pub(crate) mod entry;
pub(crate) mod extract;
mod plugins;
mod provider;
pub(crate) mod receipt;

use lockstep_cache::layout::default_target;
use lockstep_cache::{Cache, CacheError, Freshness, Preset, Section, SectionProblem, Settings, Strategy};
use lockstep_config::cache::CachePreset;

use crate::project::ActiveProject;

pub(crate) use plugins::installed as installed_plugins;
pub(crate) use provider::ProjectProvider;

/// The section of the files that `[cache] conventions` names, and its place among the sections.
const CONVENTIONS: (&str, u32) = ("CONVENTIONS", 4);

/// The reason why no cache can be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CacheFault {
    #[error("[cache] in lockstep.toml is wrong:{}", listed(.0))]
    Settings(Vec<SectionProblem>),
    #[error(transparent)]
    Cache(#[from] CacheError),
    #[error("{path} is no session cache: {why}; `lockstep cache build` makes it anew")]
    Damaged { path: String, why: String },
    #[error("what was delivered could not be noted")]
    Receipt(#[source] lockstep_store::StoreError),
    #[error("the cache was delivered as it was: {0}")]
    NotRebuilt(String),
}

fn listed(problems: &[SectionProblem]) -> String {
    problems.iter().map(|problem| format!("\n  {problem}")).collect()
}

/// The cache of a project. Nothing of it is read yet.
pub(crate) fn open(project: &ActiveProject) -> Result<Cache, CacheFault> {
    Ok(Cache::open(&project.root, settings(project)?))
}

/// Returns the project's configuration, based on its preset.
fn settings(project: &ActiveProject) -> Result<Settings, CacheFault> {
    let config = &project.config().cache;
    let preset = match config.preset {
        CachePreset::Auto => Preset::of(&project.root),
        CachePreset::Isdlc => Preset::Isdlc,
        CachePreset::Claude => Preset::Claude,
    };
    let mut problems = Vec::new();
    let sections = Settings::overlay(preset.sections(), own_sections(project, &mut problems));
    let listed = |section: &Section| matches!(section.strategy, Strategy::SkillList | Strategy::Agents);
    let plugins = if sections.iter().any(listed) { installed_plugins(&project.root) } else { Vec::new() };
    let target = config.path.0.clone().unwrap_or_else(|| default_target(&project.root));
    match Settings::new(sections, config.budget_chars.0, target, plugins) {
        Ok(settings) if problems.is_empty() => Ok(settings),
        Ok(_) => Err(CacheFault::Settings(problems)),
        Err(more) => {
            problems.extend(more);
            Err(CacheFault::Settings(problems))
        }
    }
}

fn own_sections(project: &ActiveProject, problems: &mut Vec<SectionProblem>) -> Vec<Section> {
    let config = &project.config().cache;
    let mut own = Vec::new();
    let mut keep = |section: Result<Section, Vec<SectionProblem>>| match section {
        Ok(section) => own.push(section),
        Err(wrong) => problems.extend(wrong),
    };
    if !config.conventions.0.is_empty() {
        keep(Section::new(CONVENTIONS.0, &config.conventions.0, "files", CONVENTIONS.1));
    }
    for section in config.section.iter() {
        keep(Section::new(&section.name.0, &section.source.0, section.strategy.word(), section.priority.0));
    }
    // One of them may replace a preset's section, but not another of them.
    for (at, section) in own.iter().enumerate() {
        if own[..at].iter().any(|earlier| earlier.name == section.name) {
            problems.push(SectionProblem::Twice { name: section.name.to_string() });
        }
    }
    own
}

/// Returns a freshness as one word, with the reasons if it is not fresh.
pub(crate) fn told(freshness: &Freshness) -> (&'static str, Vec<String>) {
    match freshness {
        Freshness::Fresh => ("fresh", Vec::new()),
        Freshness::Missing => ("missing", vec!["`lockstep cache build` builds it".to_owned()]),
        Freshness::Stale(changes) if changes.is_empty() => {
            ("stale", vec!["its inputs are others than when it was built".to_owned()])
        }
        Freshness::Stale(changes) => ("stale", changes.iter().map(ToString::to_string).collect()),
        Freshness::Altered(None) => ("altered", vec!["the file is not what was built".to_owned()]),
        Freshness::Altered(Some(damage)) => ("altered", vec![format!("the file is damaged: {damage}")]),
    }
}

#[cfg(test)]
mod tests {
    use lockstep_config::cache::SectionStrategy;
    use lockstep_config::value::Choice as _;

    use super::*;

    #[test]
    fn configuration_knows_every_strategy() {
        let words: Vec<&str> = SectionStrategy::ALL.iter().map(|(_, word)| *word).collect();
        assert_eq!(words, Strategy::NAMES);
    }
}
