//! Findings of an impact, one for each line, for programs that show problems in files: editors and code scanning.

pub(crate) mod gcc;
pub(crate) mod sarif;

use lockstep_refs::impact::{FileChange, FileImpact};

use super::analysis::ImpactAnalysis;
use super::render::severity::{AffectedFile, AffectedPlace, Severity, affected_files};

/// The kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    Breaks,
    MayBreak,
    NotAnalysed,
    Uses,
    MayUse,
    Mentions,
    Behind,
}

/// The severity of a finding, in the words of compilers and of SARIF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Error,
    Warning,
    Note,
}

impl Level {
    fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

impl Rule {
    const ALL: [Self; 7] = [
        Self::Breaks,
        Self::MayBreak,
        Self::NotAnalysed,
        Self::Uses,
        Self::MayUse,
        Self::Mentions,
        Self::Behind,
    ];

    fn from_severity(severity: Severity) -> Self {
        match severity {
            Severity::Breaks => Self::Breaks,
            Severity::MayBreak => Self::MayBreak,
            Severity::Uses => Self::Uses,
            Severity::MayUse => Self::MayUse,
            Severity::Mentions => Self::Mentions,
            Severity::Behind => Self::Behind,
        }
    }

    fn level(self) -> Level {
        match self {
            Self::Breaks => Level::Error,
            Self::MayBreak | Self::NotAnalysed => Level::Warning,
            Self::Uses | Self::MayUse | Self::Mentions | Self::Behind => Level::Note,
        }
    }

    fn id(self) -> &'static str {
        match self {
            Self::Breaks => "breaks",
            Self::MayBreak => "may-break",
            Self::NotAnalysed => "not-analysed",
            Self::Uses => "uses",
            Self::MayUse => "may-use",
            Self::Mentions => "mentions",
            Self::Behind => "behind",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::Breaks => "The line no longer fits a change in another place.",
            Self::MayBreak => "The line may no longer fit a change; only types or a run can tell.",
            Self::NotAnalysed => "The dependents of a changed file are not known.",
            Self::Uses => "The line uses what changed and still fits.",
            Self::MayUse => "The line may use what changed; only types or a run can tell.",
            Self::Mentions => "The line names what changed in prose, a comment or a string.",
            Self::Behind => "The line depends on a file that depends on the change.",
        }
    }
}

/// A line that a change affects.
pub(super) struct Finding<'a> {
    pub(super) rule: Rule,
    /// Relative to the root.
    pub(super) path: &'a str,
    /// 1-based.
    pub(super) line: u32,
    /// 1-based, in characters.
    pub(super) column: usize,
    pub(super) message: String,
    /// The source line, if it is known.
    pub(super) text: Option<&'a str>,
    pub(super) changed: &'a str,
}

/// The findings of an analysis, the worst first.
pub(crate) struct Findings<'a> {
    /// The directory that paths are relative to.
    pub(super) root: &'a str,
    pub(super) list: Vec<Finding<'a>>,
    /// True if every changed file was analysed in time.
    pub(super) is_complete: bool,
}

impl<'a> Findings<'a> {
    /// Lists breaks, possible breaks and files that were not analysed; with `all` also lines that still fit.
    pub(crate) fn new(analysis: &'a ImpactAnalysis, all: bool) -> Self {
        let files = affected_files(&analysis.impact);
        let places = |file: &AffectedFile<'a>| -> Vec<Finding<'a>> {
            file.places(true).map(|place| finding(file.path, place)).collect()
        };
        let mut list: Vec<Finding<'a>> = files.iter().flat_map(places).collect();
        list.extend(analysis.impact.files.iter().filter_map(not_analysed));
        list.retain(|finding| all || finding.rule.level() != Level::Note);
        list.sort_by_key(|finding| finding.rule.level() as u8);
        Self { root: &analysis.root, list, is_complete: !analysis.impact.truncated }
    }
}

fn finding<'a>(path: &'a str, place: &AffectedPlace<'a>) -> Finding<'a> {
    let rule = Rule::from_severity(place.severity);
    let message = match (&place.reason, rule) {
        (Some(reason), Rule::MayBreak) => {
            format!("{reason}; only types or a run can tell if this line breaks")
        }
        (Some(reason), Rule::Behind) => format!("depends on {}, {reason}", place.changed),
        (Some(reason), _) => reason.clone(),
        (None, Rule::Mentions) => format!("names {} of {}", place.pattern, place.changed),
        (None, Rule::MayUse) => format!("may use {} of {}", place.pattern, place.changed),
        (None, _) => format!("uses {} of {}", place.pattern, place.changed),
    };
    Finding {
        rule,
        path,
        line: place.line.max(1),
        column: column(place.text, place.pattern),
        message,
        text: Some(place.text),
        changed: place.changed,
    }
}

/// Returns the column of a name in a line; of the line's first character if the line does not contain the name.
fn column(text: &str, pattern: &str) -> usize {
    let last = pattern.rsplit(['.', ':', '#', '/']).next().unwrap_or(pattern);
    let word = |name: &str| (!name.is_empty()).then(|| find_word(text, name)).flatten();
    let first = text.len() - text.trim_start().len();
    let byte = word(pattern).or_else(|| word(last)).unwrap_or(first);
    text.get(..byte).map_or(0, |before| before.chars().count()) + 1
}

/// Returns the first occurrence that is not a part of a longer name, or else the first occurrence.
fn find_word(text: &str, name: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_alone = |at: &usize| {
        let (before, after) = (&text[..*at], &text[*at + name.len()..]);
        !before.chars().next_back().is_some_and(is_part) && !after.chars().next().is_some_and(is_part)
    };
    text.match_indices(name).map(|(at, _)| at).find(is_alone).or_else(|| text.find(name))
}

/// Returns the finding for a changed file whose dependents are not known.
fn not_analysed(file: &FileImpact) -> Option<Finding<'_>> {
    let (line, message) = match file {
        _ if file.change == FileChange::Deleted && !file.unanalysed => return None,
        _ if file.unanalysed => (1, "not analysed: the time limit was reached"),
        FileImpact { unparsed: Some(line), .. } => (*line, "not analysed: this line does not parse"),
        _ if file.content_not_analysed => (1, "dependents of the content of this file are not known"),
        _ if file.whole_file && file.problems > 0 => {
            (1, "not everything in this file could be read: all of it counts as changed")
        }
        _ => return None,
    };
    Some(Finding {
        rule: Rule::NotAnalysed,
        path: &file.path,
        line,
        column: 1,
        message: message.to_owned(),
        text: None,
        changed: &file.path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_counts_characters_up_to_the_complete_name() {
        assert_eq!(column("    return total([1])", "total"), 12);
        assert_eq!(column("subtotal = total(1)", "total"), 12);
        assert_eq!(column("é = price.total(1)", "shop.price.total"), 11);
        assert_eq!(column("  x()", "absent"), 3);
        assert_eq!(column("", ""), 1);
    }
}
