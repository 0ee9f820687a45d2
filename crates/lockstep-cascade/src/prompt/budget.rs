//! The size limit of a prompt, and the order in which parts are left out to meet it.

use super::excerpt::ExcerptStyle;
use super::{CHARS_PER_TOKEN, CONTEXT_SHARE};
use crate::tier::Tier;

/// Returns the maximum length of a prompt, in characters, for an agent with this context size.
pub(super) fn budget_chars(context_tokens: usize) -> usize {
    context_tokens * CHARS_PER_TOKEN * CONTEXT_SHARE.0 / CONTEXT_SHARE.1
}

/// The level of detail of a prompt, from most to least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DetailLevel {
    /// Relevant sections, and the architecture around them.
    Architecture,
    /// Small files completely, sections of others.
    WholeFiles,
    Sections,
    /// The lines next to the evidence.
    Lines,
    /// The evidence, some of it, and the beginning of each diff.
    Evidence,
    /// The files, with one line of evidence for each.
    Files,
    SomeFiles,
}

const LEVELS: [DetailLevel; 7] = [
    DetailLevel::Architecture,
    DetailLevel::WholeFiles,
    DetailLevel::Sections,
    DetailLevel::Lines,
    DetailLevel::Evidence,
    DetailLevel::Files,
    DetailLevel::SomeFiles,
];

impl DetailLevel {
    /// Returns the first level to try for a tier.
    pub(super) fn first(tier: Tier) -> Self {
        match tier {
            Tier::Trivial => Self::WholeFiles,
            Tier::Standard => Self::Sections,
            Tier::Complex => Self::Architecture,
        }
    }

    /// Returns this level and the less detailed ones.
    pub(super) fn with_less_detail(self) -> impl Iterator<Item = Self> {
        LEVELS.into_iter().filter(move |level| *level == self || *level > self.max(Self::WholeFiles))
    }

    pub(super) fn architecture(self) -> bool {
        self == Self::Architecture
    }

    pub(super) fn excerpt(self) -> Option<ExcerptStyle> {
        match self {
            Self::WholeFiles => Some(ExcerptStyle::Whole),
            Self::Architecture | Self::Sections => Some(ExcerptStyle::Around(20)),
            Self::Lines => Some(ExcerptStyle::Around(3)),
            Self::Evidence | Self::Files | Self::SomeFiles => None,
        }
    }

    pub(super) fn evidence(self) -> usize {
        match self {
            Self::Architecture | Self::WholeFiles | Self::Sections | Self::Lines => 50,
            Self::Evidence => 5,
            Self::Files | Self::SomeFiles => 1,
        }
    }

    pub(super) fn symbols(self) -> usize {
        if self < Self::Files { 50 } else { 5 }
    }

    pub(super) fn files(self) -> usize {
        if self == Self::SomeFiles { 50 } else { usize::MAX }
    }

    pub(super) fn cut_line(self, line: &str) -> String {
        let most = if self < Self::Files { 400 } else { 160 };
        cut(line, most)
    }

    /// Truncates a diff to the limit of the level.
    pub(super) fn cut_diff(self, diff: &str) -> Option<String> {
        let (lines, chars) = match self {
            Self::Architecture | Self::WholeFiles | Self::Sections => (200, 30_000),
            Self::Lines => (100, 10_000),
            Self::Evidence => (30, 3_000),
            Self::Files | Self::SomeFiles => return None,
        };
        let total = diff.lines().count();
        let mut out = String::new();
        for (at, line) in diff.lines().enumerate() {
            if at == lines || out.len() > chars {
                out.push_str(&format!("... and {} more lines\n", total - at));
                break;
            }
            out.push_str(&cut(line, 1_000));
            out.push('\n');
        }
        Some(out).filter(|out| !out.is_empty())
    }

    /// Names the parts that the tier asks for and this level leaves out.
    pub(super) fn omitted(self, tier: Tier) -> Vec<&'static str> {
        let mut omitted = Vec::new();
        if tier == Tier::Complex && self > Self::Architecture {
            omitted.push("the architecture");
        }
        if tier == Tier::Trivial && self > Self::WholeFiles {
            omitted.push("whole files");
        }
        if self >= Self::Evidence {
            omitted.push("the lines around the references");
        }
        if self >= Self::Files {
            omitted.push("diffs of the root cause");
        }
        omitted
    }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
