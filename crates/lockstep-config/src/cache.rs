//! The types of `[cache]`: its choices, its numbers, and the fields of `[[cache.section]]`.

use toml::de::DeValue;

use crate::tables::table_fields;
use crate::value::{Choice, Kind, Value, Wrong, choices, quoted, string, whole_number};

choices! {
    /// `[cache] deliver`: how much of the cache a session gets.
    pub enum Deliver {
        /// One part: a list of the content, the parts that fit completely, and instructions to get the rest.
        Index = "index",
        /// The complete content, in as many parts as necessary.
        Full = "full",
        /// Nothing is delivered.
        Off = "off",
    }
}

choices! {
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

choices! {
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
    pub fn word(self) -> &'static str {
        let word =
            <Self as Choice>::ALL.iter().find(|(strategy, _)| *strategy == self).map(|(_, word)| *word);
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

impl Value for CacheBudget {
    const KIND: Kind = Kind::Number;

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        whole_number(value, Self::RANGE).map(Self)
    }

    fn to_toml(&self) -> String {
        self.0.to_string()
    }
}

/// `priority` of a `[[cache.section]]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Priority(pub u32);

impl Value for Priority {
    const KIND: Kind = Kind::Number;

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        let number = whole_number(value, 1..=1_000)?;
        Ok(Self(u32::try_from(number).expect("a thousand fits")))
    }

    fn to_toml(&self) -> String {
        self.0.to_string()
    }
}

/// Places below the project's root: one string, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Places(pub Vec<String>);

impl Value for Places {
    const KIND: Kind =
        Kind::List(r#"a path below the project's root, or a list of them, such as ["docs/style.md"]"#);

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        let DeValue::Array(items) = value else { return Ok(Self(vec![string(value)?.to_owned()])) };
        let items = items.iter().map(|item| string(item.get_ref()).map(str::to_owned));
        items.collect::<Result<_, _>>().map(Self)
    }

    fn to_toml(&self) -> String {
        format!("[{}]", self.0.iter().map(|place| quoted(place)).collect::<Vec<_>>().join(", "))
    }
}

/// `name` of a `[[cache.section]]`. The cache checks that it is valid in a marker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SectionTitle(pub String);

impl Value for SectionTitle {
    const KIND: Kind = Kind::Text(r#"a name in capital letters, such as "TEAM_RULES""#);

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        Ok(Self(string(value)?.to_owned()))
    }

    fn to_toml(&self) -> String {
        quoted(&self.0)
    }
}

/// A `[[cache.section]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheSection {
    pub name: SectionTitle,
    /// The sources of its content.
    pub source: Places,
    /// The way its content is created.
    pub strategy: SectionStrategy,
    pub priority: Priority,
}

impl Default for CacheSection {
    fn default() -> Self {
        Self {
            name: SectionTitle::default(),
            source: Places::default(),
            strategy: SectionStrategy::Files,
            priority: Priority(9),
        }
    }
}

table_fields!(
    CacheSection,
    example "TEAM_RULES" { r#"name = "TEAM_RULES""#, r#"source = ["docs/rules.md"]"#, "priority = 2" },
    {
        /// The name in the cache. A section of the preset with the same name is replaced in place; others are
        /// appended.
        name: SectionTitle;
        /// The sources of its content. Of several paths, `raw`, `json` and the manifests use the first that
        /// exists.
        source: Places;
        /// The way its content is created.
        strategy: SectionStrategy;
        /// The importance: 1 is delivered first and kept longest when the budget is short.
        priority: Priority;
    }
);
