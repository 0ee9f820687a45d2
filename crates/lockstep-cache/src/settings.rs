//! The configuration of a cache and its two presets.

use std::path::{Path, PathBuf};

use crate::framework_paths;
use crate::section::{SectionConfig, SectionError, stays_inside};

pub const DEFAULT_BUDGET: usize = 128_000;

/// The minimum budget: the header and a few words.
pub const LEAST_BUDGET: usize = 1_000;

/// A set of sections that fits a kind of project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameworkPreset {
    /// A project that uses the iSDLC framework.
    Isdlc,
    /// Any other project of Claude Code.
    Claude,
}

impl FrameworkPreset {
    pub fn of(root: &Path) -> Self {
        if root.join(framework_paths::FRAMEWORK_DIR).is_dir() { Self::Isdlc } else { Self::Claude }
    }

    pub fn named(name: &str) -> Option<Self> {
        match name {
            "isdlc" => Some(Self::Isdlc),
            "claude" => Some(Self::Claude),
            _ => None,
        }
    }

    /// In the order of the cache.
    pub fn sections(self) -> Vec<SectionConfig> {
        match self {
            Self::Isdlc => isdlc(),
            Self::Claude => claude(),
        }
    }
}

fn isdlc() -> Vec<SectionConfig> {
    let config = framework_paths::config_file;
    let own = |paths: &[&str]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    [
        ("CONSTITUTION", own(&framework_paths::CONSTITUTION), "raw", 1),
        ("WORKFLOW_CONFIG", config("workflows.json"), "json", 2),
        ("ITERATION_REQUIREMENTS", config("iteration-requirements.json"), "json", 3),
        ("ARTIFACT_PATHS", config("artifact-paths.json"), "json", 4),
        ("SKILLS_MANIFEST", config("skills-manifest.json"), "skills-manifest", 7),
        ("SKILL_INDEX", config("skills-manifest.json"), "skill-index", 5),
        ("EXTERNAL_SKILLS", own(&framework_paths::EXTERNAL_MANIFEST), "external-skills", 6),
        ("ROUNDTABLE_CONTEXT", Vec::new(), "roundtable", 8),
    ]
    .map(preset_section)
    .into()
}

fn claude() -> Vec<SectionConfig> {
    let own = |paths: &[&str]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    [
        ("INSTRUCTIONS", Vec::new(), "instructions", 1),
        ("TASK", Vec::new(), "given", 2),
        ("ACTIVE_WORK", Vec::new(), "given", 3),
        ("SKILL_INDEX", own(&[".claude/skills"]), "skill-list", 5),
        ("AGENTS", own(&[".claude/agents"]), "agents", 6),
        ("HOTSPOTS", Vec::new(), "given", 7),
        ("CONVENTIONS", Vec::new(), "files", 4),
    ]
    .map(preset_section)
    .into()
}

fn preset_section((name, source, strategy, priority): (&str, Vec<String>, &str, u32)) -> SectionConfig {
    SectionConfig::new(name, &source, strategy, priority).expect("a preset is well formed")
}

/// A plugin that is installed in the client: where its `skills/` and `agents/` are. It lies outside of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledPlugin {
    /// The prefix of its skills and agents: `NAME:…`.
    pub name: String,
    /// Absolute path.
    pub dir: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheSettings {
    sections: Vec<SectionConfig>,
    budget: usize,
    target: String,
    plugins: Vec<InstalledPlugin>,
}

impl CacheSettings {
    /// Checks a configuration. All problems at once.
    pub fn new(
        sections: Vec<SectionConfig>,
        budget: usize,
        target: String,
        plugins: Vec<InstalledPlugin>,
    ) -> Result<Self, Vec<SectionError>> {
        let mut problems = Vec::new();
        for (at, section) in sections.iter().enumerate() {
            if sections[..at].iter().any(|earlier| earlier.name == section.name) {
                problems.push(SectionError::Twice { name: section.name.to_string() });
            }
        }
        if budget < LEAST_BUDGET {
            problems.push(SectionError::Budget { budget, least: LEAST_BUDGET });
        }
        if !stays_inside(&target) {
            problems.push(SectionError::Target { path: target.clone() });
        }
        if problems.is_empty() { Ok(Self { sections, budget, target, plugins }) } else { Err(problems) }
    }

    /// Returns the settings of a project at `root` without configuration.
    pub fn default_for(root: &Path) -> Self {
        Self::new(
            FrameworkPreset::of(root).sections(),
            DEFAULT_BUDGET,
            framework_paths::default_target(root),
            Vec::new(),
        )
        .expect("the presets are well formed")
    }

    /// Combines a project's sections with those of a preset: one with the same name replaces it in place,
    /// others are appended.
    pub fn override_sections(mut preset: Vec<SectionConfig>, own: Vec<SectionConfig>) -> Vec<SectionConfig> {
        for section in own {
            match preset.iter_mut().find(|there| there.name == section.name) {
                Some(there) => *there = section,
                None => preset.push(section),
            }
        }
        preset
    }

    /// The sections, in the order of the cache.
    pub fn sections(&self) -> &[SectionConfig] {
        &self.sections
    }

    /// The most characters the cache may have.
    pub fn budget(&self) -> usize {
        self.budget
    }

    /// Returns the path of the cache, relative to the root.
    pub fn target(&self) -> &str {
        &self.target
    }

    pub fn plugins(&self) -> &[InstalledPlugin] {
        &self.plugins
    }

    /// Encodes every setting that can change the bytes of the cache, for the content hash.
    ///
    /// The first line is the version of the encoding. Raising it makes all existing caches stale.
    pub(crate) fn fingerprint(&self) -> String {
        // The target is only a path: the same content elsewhere has the same hash.
        let Self { sections, budget, target: _, plugins } = self;
        let mut text = format!("settings 1\nbudget {budget}\n");
        for section in sections {
            text.push_str(&section.fingerprint());
        }
        for InstalledPlugin { name, dir } in plugins {
            text.push_str(&format!("plugin {name:?} {dir:?}\n"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::ContentStrategy;

    #[test]
    fn own_sections_replace_and_follow() {
        let own = |name: &str| SectionConfig::new(name, &["a.md"], "raw", 9).unwrap();
        let all = CacheSettings::override_sections(
            FrameworkPreset::Claude.sections(),
            vec![own("AGENTS"), own("EXTRA")],
        );
        let names: Vec<_> = all.iter().map(|section| section.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "INSTRUCTIONS",
                "TASK",
                "ACTIVE_WORK",
                "SKILL_INDEX",
                "AGENTS",
                "HOTSPOTS",
                "CONVENTIONS",
                "EXTRA"
            ]
        );
        assert_eq!(all[4].priority, 9);
    }

    #[test]
    fn fingerprint_has_a_fixed_encoding() {
        let json = ContentStrategy::Json { without: vec!["a".into()] };
        let mut section = SectionConfig::new("EXTRA", &["a.md", "b.md"], "raw", 9).unwrap();
        section.strategy = json;
        let plugins = vec![InstalledPlugin { name: "tools".into(), dir: "/opt/tools".into() }];
        let settings = CacheSettings::new(vec![section], 5000, "x.md".into(), plugins).unwrap();
        assert_eq!(
            settings.fingerprint(),
            "settings 1\nbudget 5000\nsection EXTRA 9 json without \"a\" from \"a.md\" \"b.md\"\n\
             plugin \"tools\" \"/opt/tools\"\n"
        );
    }

    #[test]
    fn all_problems_come_at_once() {
        let mut twice = FrameworkPreset::Isdlc.sections();
        twice.push(twice[0].clone());
        let problems = CacheSettings::new(twice, 10, "../x".into(), Vec::new()).unwrap_err();
        assert_eq!(problems.len(), 3, "{problems:?}");
    }
}
