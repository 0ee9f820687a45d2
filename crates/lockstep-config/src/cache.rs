//! The types of `[cache]`: its choices, its numbers, and the fields of `[[cache.section]]`.

use toml::de::DeValue;

use crate::nested_tables::table_fields;
use crate::value::{
    ConfigEnum, ConfigValue, ValueError, ValueKind, any_text, config_enum, config_number, config_text,
    list_toml, read_list, string, toml_string,
};

config_enum! {
    /// `[cache] deliver`: how much of the cache a session gets.
    pub enum CacheDelivery {
        /// One part: a list of the content, the parts that fit completely, and instructions to get the rest.
        Index = "index",
        /// The complete content, in as many parts as necessary.
        Full = "full",
        /// Nothing is delivered.
        Off = "off",
    }
}

config_enum! {
    /// `[cache] preset`: the sections to begin with.
    pub enum CachePreset {
        /// Chosen by the kind of project.
        Auto = "auto",
        /// The sections of the iSDLC framework.
        Isdlc = "isdlc",
        /// The sections for any project of Claude Code.
        Claude = "claude",
    }
}

config_enum! {
    /// `strategy` of a `[[cache.section]]`: how its content is made.
    pub enum SectionStrategy {
        /// The first source that exists, as it is.
        Raw = "raw",
        /// The same, which must be JSON.
        Json = "json",
        /// JSON without the tables that the skill index repeats.
        SkillsManifest = "skills-manifest",
        /// Skills by the agent that owns them.
        SkillIndex = "skill-index",
        /// Every skill below the sources.
        SkillList = "skill-list",
        /// Skills that users registered.
        ExternalSkills = "external-skills",
        /// Personas and topics.
        Roundtable = "roundtable",
        /// Every agent in the sources.
        Agents = "agents",
        /// All sources, each under its path.
        Files = "files",
        /// The first source that exists, otherwise Lockstep's own text.
        Instructions = "instructions",
        /// Lockstep's own text.
        Given = "given",
    }
}

impl SectionStrategy {
    /// The name in the configuration.
    pub fn as_str(self) -> &'static str {
        let word =
            <Self as ConfigEnum>::ALL.iter().find(|(strategy, _)| *strategy == self).map(|(_, word)| *word);
        word.expect("ALL holds every value")
    }
}

config_number! {
    /// `[cache] budget_chars`: from a header and a few words to more than any client's context.
    pub struct CacheBudget(usize) = 128_000, in 1_000..=10_000_000
}

config_number! {
    /// `priority` of a `[[cache.section]]`.
    pub struct SectionPriority(u32) = 9, in 1..=1_000
}

/// Places below the project's root: one string, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PathList(pub Vec<String>);

impl ConfigValue for PathList {
    const KIND: ValueKind =
        ValueKind::List(r#"a path below the project's root, or a list of them, such as ["docs/style.md"]"#);

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        match value {
            DeValue::Array(_) => read_list(value, |item| string(item).map(str::to_owned)).map(Self),
            _ => Ok(Self(vec![string(value)?.to_owned()])),
        }
    }

    fn to_toml(&self) -> String {
        list_toml(&self.0, |path| toml_string(path))
    }
}

config_text! {
    /// `name` of a `[[cache.section]]`. The cache checks that it is valid in a marker.
    pub struct SectionNameSetting(String) = "",
    ValueKind::Text(r#"a name in capital letters, such as "TEAM_RULES""#), any_text
}

/// A `[[cache.section]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheSectionConfig {
    pub name: SectionNameSetting,
    /// The sources of its content.
    pub source: PathList,
    /// The way its content is created.
    pub strategy: SectionStrategy,
    pub priority: SectionPriority,
}

impl Default for CacheSectionConfig {
    fn default() -> Self {
        Self {
            name: SectionNameSetting::default(),
            source: PathList::default(),
            strategy: SectionStrategy::Files,
            priority: SectionPriority::default(),
        }
    }
}

table_fields!(
    CacheSectionConfig,
    example "TEAM_RULES" { r#"name = "TEAM_RULES""#, r#"source = ["docs/rules.md"]"#, "priority = 2" },
    {
        /// The name in the cache. A section of the preset with the same name is replaced in place; others are
        /// appended.
        name: SectionNameSetting;
        /// The sources of its content. Of several paths, `raw`, `json` and the manifests use the first that
        /// exists.
        source: PathList;
        /// The way its content is created.
        strategy: SectionStrategy;
        /// The importance: 1 is delivered first and kept longest when the budget is short.
        priority: SectionPriority;
    }
);
