//! The markers of an invocation: HTML comments `<!-- DES-X: value -->` in its prompt.
//!
//! A prompt without `DES-VALIDATION: required` is an ad-hoc one and nobody's business. What looks like a marker and is none is a
//! problem that is named: a slip of the pen must not turn a check off. Text in code fences is text about markers.

use crate::fences::Lines;
use crate::problem::Problem;

const VALIDATION: &str = "DES-VALIDATION";
const ORIGIN: &str = "DES-ORIGIN";
const STEP_FILE: &str = "DES-STEP-FILE";
const AGENT: &str = "DES-AGENT";
const COMMAND: &str = "DES-COMMAND";

/// Every marker there is.
pub const NAMES: [&str; 5] = [VALIDATION, ORIGIN, STEP_FILE, AGENT, COMMAND];

/// What a prompt's markers say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Markers {
    /// Whether the prompt asks to be checked.
    pub validation_required: bool,
    /// Where the invocation comes from, such as `command:/nw:execute`.
    pub origin: Option<String>,
    /// The step's file.
    pub step_file: Option<String>,
    /// The agent's name.
    pub agent: Option<String>,
    /// The command.
    pub command: Option<String>,
    /// What looks like a marker and is none, or contradicts another.
    pub problems: Vec<Problem>,
}

impl Markers {
    /// Whether there is nothing to check: no marker asks for it, and nothing looks as if it should have.
    pub fn is_ad_hoc(&self) -> bool {
        !self.validation_required && self.problems.is_empty()
    }

    /// The command that decides how much is checked: `DES-COMMAND`, else that of `DES-ORIGIN`.
    pub fn command(&self) -> Option<&str> {
        self.command.as_deref().or_else(|| self.origin.as_deref()?.strip_prefix("command:")).map(str::trim)
    }

    fn set(&mut self, name: &str, value: &str) {
        if value.is_empty() {
            return self.problems.push(Problem::invalid(
                name,
                format!("The marker {name} has no value"),
                format!("Write <!-- {name}: value -->"),
            ));
        }
        if name == VALIDATION {
            return self.set_validation(value);
        }
        let field = match name {
            ORIGIN => &mut self.origin,
            STEP_FILE => &mut self.step_file,
            AGENT => &mut self.agent,
            _ => &mut self.command,
        };
        match field {
            Some(other) if other != value => {
                let message = format!("The marker {name} is there twice, as {other:?} and as {value:?}");
                self.problems.push(Problem::invalid(name, message, format!("Keep one {name} marker")));
            }
            field => *field = Some(value.to_owned()),
        }
    }

    fn set_validation(&mut self, value: &str) {
        if value == "required" {
            self.validation_required = true;
        } else {
            self.problems.push(Problem::invalid(
                VALIDATION,
                format!("The marker {VALIDATION} has the value {value:?}; its only value is \"required\""),
                format!(
                    "Write <!-- {VALIDATION}: required -->, or leave the marker out for an ad-hoc prompt"
                ),
            ));
        }
    }

    fn agree(&mut self) {
        let of_origin =
            self.origin.as_deref().and_then(|origin| origin.strip_prefix("command:")).map(str::trim);
        if let (Some(command), Some(of_origin)) = (&self.command, of_origin)
            && command != of_origin
        {
            let message = format!("{COMMAND} says {command:?}, but {ORIGIN} says {of_origin:?}");
            self.problems.push(Problem::invalid(COMMAND, message, "Let both name the same command"));
        }
    }
}

/// Reads the markers of a prompt.
pub fn read(prompt: &str) -> Markers {
    let mut markers = Markers::default();
    // Nearly every prompt: there is nothing that could be a marker, however it is spelt.
    if !may_have_markers(prompt) {
        return markers;
    }
    for line in Lines::of(prompt).filter(|line| !line.fenced && may_have_marker(line.text)) {
        read_line(line.text, &mut markers);
    }
    markers.agree();
    markers
}

fn may_have_markers(prompt: &str) -> bool {
    let bytes = prompt.as_bytes();
    prompt.contains("<!--")
        || bytes.windows(4).any(|w| w[..3].eq_ignore_ascii_case(b"DES") && b"-_ ".contains(&w[3]))
}

/// A marker stands in a comment or begins its line; a look at single bytes tells for nearly every line that it has none.
fn may_have_marker(line: &str) -> bool {
    memchr::memchr(b'<', line.as_bytes()).is_some() || line.trim_start().starts_with("DES-")
}

/// A line may hold several comments. One that is a marker without its comment is told too.
fn read_line(line: &str, markers: &mut Markers) {
    let mut rest = line;
    let mut any = false;
    while let Some((_, behind)) = rest.split_once("<!--") {
        any = true;
        match behind.split_once("-->") {
            Some((comment, behind)) => {
                read_comment(comment.trim(), markers);
                rest = behind;
            }
            None => {
                if let Some(name) = meant(behind.trim()) {
                    let message = format!("The comment of the marker {name} has no end on its line");
                    markers.problems.push(Problem::invalid(
                        name,
                        message,
                        format!("Write <!-- {name}: … -->"),
                    ));
                }
                return;
            }
        }
    }
    if !any && let Some(name) = bare(line.trim()) {
        markers.problems.push(Problem::invalid(
            name,
            format!("The marker {name} stands outside an HTML comment"),
            format!(
                "Write <!-- {name}: … -->, or put the line into a code fence if it is text about markers"
            ),
        ));
    }
}

fn read_comment(comment: &str, markers: &mut Markers) {
    let (name, value) = match comment.split_once(':') {
        Some((name, value)) => (name.trim(), Some(value.trim())),
        None => (comment, None),
    };
    match (NAMES.into_iter().find(|known| *known == name), value) {
        (Some(name), Some(value)) => markers.set(name, value),
        (_, value) => {
            if let Some(known) = meant(name) {
                let said = value.map_or(comment, |_| name);
                markers.problems.push(Problem::invalid(
                    known,
                    format!("{said:?} is no marker; it looks like {known}"),
                    format!("Write <!-- {known}: … -->"),
                ));
            }
        }
    }
}

/// A line that is nothing but a marker, without its comment.
fn bare(line: &str) -> Option<&'static str> {
    let (name, value) = line.split_once(':')?;
    let known = NAMES.into_iter().find(|known| *known == name.trim())?;
    (!value.trim().is_empty() && !value.trim().contains(' ')).then_some(known)
}

/// The marker that a misspelt name stands for.
fn meant(name: &str) -> Option<&'static str> {
    let spelt = |c: char| if c == '_' || c.is_whitespace() { '-' } else { c.to_ascii_uppercase() };
    let first: String = name.split(':').next().unwrap_or(name).trim().chars().map(spelt).collect();
    let ours = |known: &&str| first.starts_with(known) || close(&first, known);
    if let Some(known) = NAMES.into_iter().find(ours) {
        return Some(known);
    }
    // `DES-` is ours: whatever follows was meant to be a marker.
    let ours = first.strip_prefix("DES-").is_some_and(|rest| !rest.is_empty());
    ours.then(|| nearest(&first))
}

fn close(name: &str, known: &str) -> bool {
    name.len() <= known.len() + 3 && strsim::damerau_levenshtein(name, known) <= 2
}

fn nearest(name: &str) -> &'static str {
    NAMES.into_iter().min_by_key(|known| strsim::damerau_levenshtein(name, known)).unwrap_or(VALIDATION)
}
