//! The markers of an invocation: HTML comments `<!-- DES-X: value -->` in its prompt.
//!
//! A prompt without `DES-VALIDATION: required` is ad hoc and is not checked. A misspelt marker is reported,
//! so that a typing error does not disable the check. An unknown marker is a warning, because other
//! frameworks have their own. Markers in code fences are ignored.

mod names;

use crate::fences::MarkdownLines;
use crate::problem::StepProblem;

pub use names::{MarkerKind, MarkerNames};

/// Markers of nWave's present dialect, in which a step is named by project and step id instead of a step file.
const NWAVE_PROJECT: &str = "DES-PROJECT-ID";
const NWAVE_STEP: &str = "DES-STEP-ID";
const NWAVE_MODE: &str = "DES-MODE";
const NWAVE_ENFORCEMENT: &str = "DES-ENFORCEMENT";

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Markers {
    /// Set if the prompt requires validation.
    pub validation_required: bool,
    /// The origin of the invocation, such as `command:/nw:execute`.
    pub origin: Option<String>,
    pub step_file: Option<String>,
    /// The agent's name.
    pub agent: Option<String>,
    pub command: Option<String>,
    /// Markers that are misspelt or contradict each other.
    pub problems: Vec<StepProblem>,
    /// Unknown markers.
    pub warnings: Vec<String>,
    /// The markers of nWave's present dialect.
    pub nwave: NwaveMarkers,
    /// The names by which the markers were read.
    pub names: MarkerNames,
}

/// The markers of nWave's present dialect.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NwaveMarkers {
    /// `DES-PROJECT-ID`.
    pub project_id: Option<String>,
    /// `DES-STEP-ID`.
    pub step_id: Option<String>,
    /// `DES-MODE`.
    pub mode: Option<String>,
}

impl NwaveMarkers {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns true if the prompt starts an orchestrator, which runs several steps and names none.
    pub fn is_orchestrator(&self) -> bool {
        self.mode.as_deref() == Some("orchestrator")
    }
}

/// The rules by which a prompt is validated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// None: an ad-hoc prompt.
    AdHoc,
    /// The documented rules: sections, and a step file.
    Steps,
    /// nWave's rules: its own sections, and an execution log.
    Nwave,
}

impl Markers {
    /// Returns the rules by which the prompt is validated. A prompt that names a step file uses the
    /// documented rules, regardless of its other markers.
    pub fn dialect(&self) -> Dialect {
        if !self.validation_required && self.problems.is_empty() {
            Dialect::AdHoc
        } else if self.step_file.is_none() && !self.nwave.is_empty() {
            Dialect::Nwave
        } else {
            Dialect::Steps
        }
    }

    /// Returns true if the prompt does not require validation, and has no misspelt marker that may have been
    /// meant to require it.
    pub fn is_ad_hoc(&self) -> bool {
        self.dialect() == Dialect::AdHoc
    }

    /// The command that decides how much is checked: `DES-COMMAND`, else that of `DES-ORIGIN`.
    pub fn command(&self) -> Option<&str> {
        self.command.as_deref().or_else(|| self.origin.as_deref()?.strip_prefix("command:")).map(str::trim)
    }

    fn set(&mut self, kind: MarkerKind, name: &str, value: &str) {
        if value.is_empty() {
            return self.problems.push(StepProblem::invalid(
                name,
                format!("The marker {name} has no value"),
                format!("Write <!-- {name}: value -->"),
            ));
        }
        let field = match kind {
            MarkerKind::Validation => return self.set_validation(name, value),
            MarkerKind::Origin => &mut self.origin,
            MarkerKind::StepFile => &mut self.step_file,
            MarkerKind::Agent => &mut self.agent,
            MarkerKind::Command => &mut self.command,
        };
        match field {
            Some(other) if other != value => {
                let message = format!("The marker {name} occurs twice, as {other:?} and as {value:?}");
                self.problems.push(StepProblem::invalid(name, message, format!("Keep one {name} marker")));
            }
            field => *field = Some(value.to_owned()),
        }
    }

    fn set_validation(&mut self, name: &str, value: &str) {
        if value == "required" {
            self.validation_required = true;
        } else {
            self.problems.push(StepProblem::invalid(
                name,
                format!("The marker {name} has the value {value:?}; its only value is \"required\""),
                format!("Write <!-- {name}: required -->, or leave the marker out for an ad-hoc prompt"),
            ));
        }
    }

    /// Stores a marker of nWave's dialect; `false` for any other name.
    fn set_nwave(&mut self, name: &str, value: &str) -> bool {
        let field = match name {
            NWAVE_PROJECT => &mut self.nwave.project_id,
            NWAVE_STEP => &mut self.nwave.step_id,
            NWAVE_MODE => &mut self.nwave.mode,
            _ => return name == NWAVE_ENFORCEMENT,
        };
        *field = Some(value.to_owned());
        true
    }

    fn check_command(&mut self, names: &MarkerNames) {
        let of_origin =
            self.origin.as_deref().and_then(|origin| origin.strip_prefix("command:")).map(str::trim);
        if let (Some(command), Some(of_origin)) = (&self.command, of_origin)
            && command != of_origin
        {
            let (own, origin) = (names.get(MarkerKind::Command), names.get(MarkerKind::Origin));
            let message = format!("{own} says {command:?}, but {origin} says {of_origin:?}");
            self.problems.push(StepProblem::invalid(own, message, "Let both name the same command"));
        }
    }
}

/// Reads the markers of a prompt by their default names.
pub fn parse(prompt: &str) -> Markers {
    read_with(prompt, &MarkerNames::default())
}

pub fn read_with(prompt: &str, names: &MarkerNames) -> Markers {
    let mut reader = Reader { names, markers: Markers { names: names.clone(), ..Markers::default() } };
    if !may_have_markers(prompt) {
        return reader.markers;
    }
    for line in MarkdownLines::of(prompt).filter(|line| !line.fenced) {
        reader.line(line.text);
    }
    reader.markers.check_command(names);
    reader.markers
}

/// Returns true if a prompt may have markers of whatever names: it has a comment, or a line that begins like a marker. One pass over the text.
pub fn may_have_markers(prompt: &str) -> bool {
    let bytes = prompt.as_bytes();
    prompt.contains("<!--")
        || bytes.windows(4).any(|w| w[..3].eq_ignore_ascii_case(b"DES") && b"-_ ".contains(&w[3]))
}

/// Returns true if a prompt may require validation, for a configuration that cannot be read, so that the
/// names of the markers are unknown: by the default names, or by a comment with the value `required`.
pub fn may_ask(prompt: &str) -> bool {
    let asks = |line: &str| {
        line.split("<!--").skip(1).filter_map(|rest| rest.split_once("-->")).any(|(comment, _)| {
            comment.split_once(':').is_some_and(|(_, value)| value.trim().eq_ignore_ascii_case("required"))
        })
    };
    may_have_markers(prompt)
        && (!parse(prompt).is_ad_hoc()
            || MarkdownLines::of(prompt).any(|line| !line.fenced && asks(line.text)))
}

struct Reader<'a> {
    names: &'a MarkerNames,
    markers: Markers,
}

impl Reader<'_> {
    /// A line may hold several comments. A marker without its comment is a problem too.
    fn line(&mut self, line: &str) {
        if memchr::memchr(b'<', line.as_bytes()).is_none() {
            return self.marker_without_comment(line.trim());
        }
        let mut rest = line;
        let mut any = false;
        while let Some((_, behind)) = rest.split_once("<!--") {
            any = true;
            let Some((comment, behind)) = behind.split_once("-->") else {
                return self.unclosed(behind.trim());
            };
            self.comment(comment.trim());
            rest = behind;
        }
        if !any {
            self.marker_without_comment(line.trim());
        }
    }

    fn comment(&mut self, comment: &str) {
        let (name, value) = match comment.split_once(':') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (comment, None),
        };
        if let (Some(kind), Some(value)) = (self.names.kind(name), value) {
            return self.markers.set(kind, name, value);
        }
        if value.is_some_and(|value| self.markers.set_nwave(name, value)) {
            return;
        }
        if let Some(known) = self.names.intended_marker(name, value) {
            let message = format!("{name:?} is not a marker; it looks like {known}");
            let fix = format!("Write <!-- {known}: … -->");
            self.markers.problems.push(StepProblem::invalid(known, message, fix));
        } else if self.names.has_prefix(name) {
            self.markers.warnings.push(format!("the marker {name} is not known, and was ignored"));
        }
    }

    fn unclosed(&mut self, comment: &str) {
        let (name, value) =
            comment.split_once(':').map_or((comment, None), |(name, v)| (name, Some(v.trim())));
        let kind = self.names.kind(name.trim());
        let known =
            kind.map(|kind| self.names.get(kind)).or_else(|| self.names.intended_marker(name.trim(), value));
        if let Some(name) = known {
            let message = format!("The comment of the marker {name} has no end on its line");
            let fix = format!("Write <!-- {name}: … -->");
            self.markers.problems.push(StepProblem::invalid(name, message, fix));
        }
    }

    /// A line that is nothing but a marker, without its comment.
    fn marker_without_comment(&mut self, line: &str) {
        let Some((name, value)) = line.split_once(':') else { return };
        let (name, value) = (name.trim(), value.trim());
        if self.names.kind(name).is_none() || value.is_empty() || value.contains(' ') {
            return;
        }
        self.markers.problems.push(StepProblem::invalid(
            name,
            format!("The marker {name} is outside an HTML comment"),
            format!(
                "Write <!-- {name}: … -->, or put the line into a code fence if it is text about markers"
            ),
        ));
    }
}
