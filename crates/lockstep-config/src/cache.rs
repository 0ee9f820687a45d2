//! The types of `[cache]`: its choices, its numbers, and the fields of `[[cache.section]]`.

use toml::de::DeValue;

use crate::nested_tables::table_fields;
use crate::value::{
    ConfigEnum, ConfigValue, ValueError, ValueKind, config_enum, parse_usize_in, string, toml_string,
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

/// `[cache] budget_chars`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheBudget(pub usize);

impl CacheBudget {
    /// From a header and a few words to more than any client's context.
    const RANGE: std::ops::RangeInclusive<usize> = 1_000..=10_000_000;
}

impl Default for CacheBudget {
    fn default() -> Self {
        Self(128_000)
    }
}

impl ConfigValue for CacheBudget {
    const KIND: ValueKind = ValueKind::Number;

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        parse_usize_in(value, Self::RANGE).map(Self)
    }

    fn to_toml(&self) -> String {
        self.0.to_string()
    }
}

/// `priority` of a `[[cache.section]]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectionPriority(pub u32);

impl ConfigValue for SectionPriority {
    const KIND: ValueKind = ValueKind::Number;

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        let number = parse_usize_in(value, 1..=1_000)?;
        Ok(Self(u32::try_from(number).expect("a thousand fits")))
    }

    fn to_toml(&self) -> String {
        self.0.to_string()
    }
}

/// Places below the project's root: one string, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PathList(pub Vec<String>);

impl ConfigValue for PathList {
    const KIND: ValueKind =
        ValueKind::List(r#"a path below the project's root, or a list of them, such as ["docs/style.md"]"#);

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        let DeValue::Array(items) = value else { return Ok(Self(vec![string(value)?.to_owned()])) };
        let items = items.iter().map(|item| string(item.get_ref()).map(str::to_owned));
        items.collect::<Result<_, _>>().map(Self)
    }

    fn to_toml(&self) -> String {
        format!("[{}]", self.0.iter().map(|place| toml_string(place)).collect::<Vec<_>>().join(", "))
    }
}

/// `name` of a `[[cache.section]]`. The cache checks that it is valid in a marker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SectionNameSetting(pub String);

impl ConfigValue for SectionNameSetting {
    const KIND: ValueKind = ValueKind::Text(r#"a name in capital letters, such as "TEAM_RULES""#);

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        Ok(Self(string(value)?.to_owned()))
    }

    fn to_toml(&self) -> String {
        toml_string(&self.0)
    }
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
            priority: SectionPriority(9),
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
