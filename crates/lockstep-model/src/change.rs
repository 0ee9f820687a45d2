//! A change: one journaled file modification, and the journal's line for it (boundary B1).
//!
//! The line's first three columns are a contract with other programs (`cut -f3`); the rest is ours.

use std::fmt;
use std::path::PathBuf;

use jiff::Zoned;
use jiff::fmt::strtime;
use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, ToolUseId};
use crate::path::{escape_into, unescape};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ChangeTool {
    /// The client's `Edit` tool.
    Edit,
    /// The client's `Write` tool.
    Write,
    /// The client's `MultiEdit` tool.
    MultiEdit,
    /// The client's `NotebookEdit` tool.
    NotebookEdit,
    /// No tool event reported it: the sweep found it on disk.
    Sweep,
}

impl ChangeTool {
    const ALL: [Self; 5] = [Self::Edit, Self::Write, Self::MultiEdit, Self::NotebookEdit, Self::Sweep];

    /// Returns the tool of a client's tool name, if that tool writes files.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.as_str() == name)
    }

    /// The name in the journal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Edit => "Edit",
            Self::Write => "Write",
            Self::MultiEdit => "MultiEdit",
            Self::NotebookEdit => "NotebookEdit",
            Self::Sweep => "Sweep",
        }
    }
}

impl fmt::Display for ChangeTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The kind of change, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// The content was written. A tool event does not show whether the file is new.
    Written,
    /// The sweep found a file that was not there before.
    Created,
    /// The sweep found the file deleted.
    Deleted,
    /// The file now has another name.
    RenamedTo(PathBuf),
    /// The file had another name before.
    RenamedFrom(PathBuf),
}

impl ChangeKind {
    /// The name in reports and the store.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Created => "created",
            Self::Deleted => "deleted",
            Self::RenamedTo(_) => "renamed_to",
            Self::RenamedFrom(_) => "renamed_from",
        }
    }

    pub fn counterpart(&self) -> Option<&PathBuf> {
        match self {
            Self::RenamedTo(path) | Self::RenamedFrom(path) => Some(path),
            Self::Written | Self::Created | Self::Deleted => None,
        }
    }

    /// Parses the results of [`Self::as_str`] and [`Self::counterpart`].
    pub fn from_parts(word: &str, counterpart: Option<PathBuf>) -> Option<Self> {
        Some(match (word, counterpart) {
            ("written", None) => Self::Written,
            ("created", None) => Self::Created,
            ("deleted", None) => Self::Deleted,
            ("renamed_to", Some(path)) => Self::RenamedTo(path),
            ("renamed_from", Some(path)) => Self::RenamedFrom(path),
            _ => return None,
        })
    }
}

/// The certainty with which a change is attributed to an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Attribution {
    /// The agent of the line made it.
    #[default]
    Exact,
    /// One or several of these agents made it; `None` is the Lead. Their shell commands overlapped.
    Shared(Vec<Option<AgentId>>),
    /// No shell command is known to have been running then. The change was found at an event of the line's
    /// agent.
    Unknown,
}

impl Attribution {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Shared(_) => "shared",
            Self::Unknown => "unknown",
        }
    }

    /// The text of the journal's column and of the store; `None` for an exact one.
    pub fn column(&self) -> Option<String> {
        match self {
            Self::Exact => None,
            Self::Unknown => Some("unknown".to_owned()),
            Self::Shared(agents) => {
                let ids: Vec<&str> =
                    agents.iter().map(|agent| agent.as_ref().map_or("-", AgentId::as_str)).collect();
                Some(format!("shared:{}", ids.join(",")))
            }
        }
    }

    /// Parses the result of [`Self::column`]. An unknown text is an unknown attribution.
    pub fn parse(column: Option<&str>) -> Self {
        let Some(column) = column else { return Self::Exact };
        match column.strip_prefix("shared:") {
            Some(ids) => Self::Shared(ids.split(',').map(AgentId::new).collect()),
            None => Self::Unknown,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalLine {
    /// Local time with offset, to the second: `2026-02-14T15:30:42+09:00`. It is text, because a reader shows
    /// what another program wrote.
    pub at: String,
    /// The tool's name; a foreign program may write an unknown one.
    pub tool: String,
    /// Absolute path of the file.
    pub path: PathBuf,
    /// The subagent, `None` for the Lead.
    pub agent: Option<AgentId>,
    /// The tool call, if there was one.
    pub tool_use: Option<ToolUseId>,
    /// The certainty of `agent`.
    pub attribution: Attribution,
}

impl JournalLine {
    /// Returns true if the agent (`None` is the Lead) made the change, or may have made it.
    pub fn may_be_by(&self, agent: Option<&AgentId>) -> bool {
        match &self.attribution {
            Attribution::Shared(agents) => agents.iter().any(|one| one.as_ref() == agent),
            Attribution::Exact | Attribution::Unknown => self.agent.as_ref() == agent,
        }
    }
}

/// The journal's spelling of a moment.
pub fn format_timestamp(at: &Zoned) -> String {
    strtime::format("%Y-%m-%dT%H:%M:%S%:z", at).expect("a zoned time has every field of the format")
}

impl JournalLine {
    /// Appends the line, newline included, to `out`.
    pub fn write_into(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.at.as_bytes());
        out.push(b'\t');
        out.extend_from_slice(self.tool.as_bytes());
        out.push(b'\t');
        escape_into(out, &self.path);
        out.push(b'\t');
        out.extend_from_slice(self.agent.as_ref().map_or("-", AgentId::as_str).as_bytes());
        out.push(b'\t');
        out.extend_from_slice(self.tool_use.as_ref().map_or("-", ToolUseId::as_str).as_bytes());
        if let Some(column) = self.attribution.column() {
            out.push(b'\t');
            out.extend_from_slice(column.as_bytes());
        }
        out.push(b'\n');
    }

    /// Reads a line without its newline. Three or more columns are a line; anything else is `None`.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let mut columns = line.split(|b| *b == b'\t');
        let at = text(columns.next()?)?;
        let tool = text(columns.next()?)?;
        let path = columns.next()?;
        if at.is_empty() || tool.is_empty() || path.is_empty() {
            return None;
        }
        Some(Self {
            at,
            tool,
            path: unescape(path),
            agent: columns.next().and_then(text).and_then(|id| AgentId::new(&id)),
            tool_use: columns.next().and_then(text).and_then(|id| ToolUseId::new(&id)),
            attribution: Attribution::parse(columns.next().and_then(text).as_deref()),
        })
    }
}

fn text(column: &[u8]) -> Option<String> {
    String::from_utf8(column.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    fn line(path: &Path) -> JournalLine {
        let at: Zoned = "2026-02-14T15:30:42+09:00[Asia/Tokyo]".parse().unwrap();
        JournalLine {
            at: format_timestamp(&at),
            tool: ChangeTool::Edit.to_string(),
            path: path.to_owned(),
            agent: AgentId::new("a0c6fe70d0852012e"),
            tool_use: ToolUseId::new("toolu_27"),
            attribution: Attribution::Exact,
        }
    }

    fn bytes(line: &JournalLine) -> Vec<u8> {
        let mut out = Vec::new();
        line.write_into(&mut out);
        out
    }

    #[test]
    fn the_line_is_the_contract_to_the_byte() {
        assert_eq!(
            String::from_utf8(bytes(&line(Path::new("/repo/a b.py")))).unwrap(),
            "2026-02-14T15:30:42+09:00\tEdit\t/repo/a b.py\ta0c6fe70d0852012e\ttoolu_27\n"
        );
    }

    #[test]
    fn the_lead_and_a_missing_call_are_dashes() {
        let lead = JournalLine { agent: None, tool_use: None, ..line(Path::new("/a")) };
        assert!(bytes(&lead).ends_with(b"\t/a\t-\t-\n"));
        assert_eq!(JournalLine::parse(bytes(&lead).trim_ascii_end()), Some(lead));
    }

    #[test]
    fn an_attribution_that_is_not_exact_is_a_sixth_column() {
        let shared = Attribution::Shared(vec![None, AgentId::new("a1"), AgentId::new("a2")]);
        let line = JournalLine { attribution: shared, ..line(Path::new("/a")) };
        assert!(bytes(&line).ends_with(b"\ttoolu_27\tshared:-,a1,a2\n"));
        assert_eq!(JournalLine::parse(bytes(&line).trim_ascii_end()), Some(line.clone()));
        assert!(line.may_be_by(None) && line.may_be_by(AgentId::new("a2").as_ref()));
        assert!(!line.may_be_by(line.agent.as_ref()));
        let unknown = JournalLine { attribution: Attribution::Unknown, ..line };
        assert_eq!(JournalLine::parse(bytes(&unknown).trim_ascii_end()), Some(unknown));
    }

    #[test]
    fn three_columns_are_enough_and_more_than_six_are_ignored() {
        let three = JournalLine::parse(b"2026-02-14T15:30:42+09:00\tEdit\t/a").unwrap();
        assert_eq!((three.path.as_path(), &three.agent), (Path::new("/a"), &None));
        assert!(JournalLine::parse(b"t\tEdit\t/a\tx\ty\tz\tmore").is_some());
        for bad in [&b""[..], b"t", b"t\tEdit", b"t\tEdit\t", b"\t\t/a", b"\xff\tEdit\t/a"] {
            assert_eq!(JournalLine::parse(bad), None);
        }
    }

    proptest! {
        #[test]
        fn any_path_survives_the_journal(raw in proptest::collection::vec(1_u8.., 1..4_100)) {
            let written = line(&lockstep_text::path_of_bytes(raw));
            let text = bytes(&written);
            prop_assert_eq!(text.iter().filter(|b| **b == b'\n').count(), 1);
            prop_assert_eq!(JournalLine::parse(&text[..text.len() - 1]), Some(written));
        }
    }
}
