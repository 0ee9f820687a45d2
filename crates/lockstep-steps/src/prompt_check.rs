//! Checks a prompt: its markers, its sections, and their required contents. All errors are found in one pass
//! over the text.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use crate::command_table::{CommandTable, ValidationScope};
use crate::fences::MarkdownLines;
use crate::markers::{MarkerKind, Markers};
use crate::problem::StepProblem;
use crate::section_definitions::{PromptSection, SectionDefinitions};
use crate::words::{has_word, is_word};

/// The result of checking a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PromptCheck {
    /// True if nothing must be fixed.
    pub valid: bool,
    /// Problems that must be fixed.
    pub errors: Vec<StepProblem>,
    /// Problems that should be checked.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
pub struct PromptRules<'a> {
    /// The extent of the validation for each command.
    pub commands: &'a CommandTable,
    pub definitions: &'a SectionDefinitions,
    /// The phases of the step's phase set.
    pub phases: &'a [String],
}

/// Checks a prompt that requires validation. `markers` are its markers.
pub fn check(prompt: &str, markers: &Markers, rules: PromptRules<'_>) -> PromptCheck {
    let mut errors = markers.problems.clone();
    let mut warnings = markers.warnings.clone();
    match rules.commands.scope(markers.command()) {
        ValidationScope::Nothing => {}
        ValidationScope::Full { step_file } => {
            if step_file && markers.step_file.is_none() {
                let asks = markers.names.get(MarkerKind::Validation);
                let name = markers.names.get(MarkerKind::StepFile);
                errors.push(StepProblem::missing(
                    name,
                    format!("{asks} marker present but {name} marker missing"),
                    format!("Add <!-- {name}: path --> marker to prompt"),
                ));
            }
            check_sections(prompt, rules.definitions.sections.iter().collect(), rules.phases, &mut errors);
        }
        ValidationScope::Sections(names) => {
            let (known, unknown): (Vec<_>, Vec<_>) =
                names.iter().partition(|name| rules.definitions.section(name).is_some());
            warnings.extend(unknown.iter().map(|name| {
                format!("des-commands.yaml asks for the section {name}, which is not defined; it was not looked for")
            }));
            let sections = known.iter().filter_map(|name| rules.definitions.section(name)).collect();
            check_sections(prompt, sections, rules.phases, &mut errors);
        }
    }
    PromptCheck { valid: errors.is_empty(), errors, warnings }
}

pub(crate) fn check_sections(
    prompt: &str,
    sections: Vec<&PromptSection>,
    phases: &[String],
    errors: &mut Vec<StepProblem>,
) {
    let bodies = section_bodies(prompt, &sections, phases);
    for (section, body) in sections.iter().zip(bodies) {
        let Some(body) = body else {
            errors.push(StepProblem::missing(
                &section.name,
                format!("Mandatory section '{}' not found", section.name),
                format!("Add ## {} section to prompt template", section.name),
            ));
            if section.phases {
                // All phases are missing too; naming them makes this one error complete.
                let last = errors.last_mut().expect("it was just pushed");
                last.suggestion = format!("{}, with {}", last.suggestion, phases.join(", "));
            }
            continue;
        };
        check_content(section, &body, phases, errors);
    }
}

fn check_content(section: &PromptSection, body: &str, phases: &[String], errors: &mut Vec<StepProblem>) {
    let name = &section.name;
    for word in section.required_content.iter().filter(|word| !has_word(body, word)) {
        errors.push(StepProblem::incomplete(
            word,
            format!("'{word}' not mentioned in section {name}"),
            format!("Add {word} to {name} section"),
        ));
    }
    let phases: &[String] = if section.phases { phases } else { &[] };
    for phase in phases.iter().filter(|phase| !has_word(body, phase)) {
        errors.push(StepProblem::incomplete(
            phase,
            format!("TDD phase '{phase}' not mentioned"),
            format!("Add {phase} to {name} section"),
        ));
    }
    if body.trim().is_empty() && section.required_content.is_empty() && phases.is_empty() {
        let message = format!("Section '{name}' has no text");
        errors.push(StepProblem::incomplete(
            name,
            message,
            format!("Say below ## {name}: {}", section.description),
        ));
    }
}

/// The text of every section, all its stretches together; `None` if it is not there.
fn section_bodies(prompt: &str, sections: &[&PromptSection], phases: &[String]) -> Vec<Option<String>> {
    let starts: Vec<SectionStarts> =
        sections.iter().map(|section| SectionStarts::of(section, phases.len())).collect();
    let mut bodies: Vec<Option<String>> = vec![None; sections.len()];
    // The sections that contain the present line, with the levels of their headings.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let firsts = StartBytes::of(&starts);
    for line in MarkdownLines::of(prompt) {
        let level = if line.fenced { 0 } else { heading_level(line.text) };
        let begun: Vec<(usize, &str)> = if line.fenced || !firsts.may_begin(line.text) {
            Vec::new()
        } else {
            let starts = starts.iter().enumerate();
            starts.filter_map(|(at, starts)| Some((at, starts.rest_of(line.text)?))).collect()
        };
        if !begun.is_empty() {
            open = begun.iter().map(|(at, _)| (*at, level)).collect();
            for (at, rest) in begun {
                let body = bodies[at].get_or_insert_default();
                body.push_str(rest);
                body.push('\n');
            }
            continue;
        }
        if level > 0 {
            // A heading of the same or a higher level ends a section that begins with one.
            open.retain(|(_, own)| *own == 0 || level > *own);
        }
        for (at, _) in &open {
            let body = bodies[*at].get_or_insert_default();
            body.push_str(line.text);
            body.push('\n');
        }
    }
    bodies
}

/// The number of `#` of a heading; 0 for any other line.
fn heading_level(line: &str) -> usize {
    let level = line.bytes().take_while(|b| *b == b'#').count();
    if (1..=6).contains(&level) && line[level..].starts_with([' ', '\t']) { level } else { 0 }
}

/// The bytes that a line can begin with which begins a section: few lines of a prompt do.
struct StartBytes([bool; 256]);

impl StartBytes {
    fn of(starts: &[SectionStarts]) -> Self {
        let mut firsts = [false; 256];
        // Headings and comments; definitions may list other beginnings.
        let listed =
            starts.iter().flat_map(|starts| &starts.markers).filter_map(|marker| marker.bytes().next());
        listed.chain(*b"#<").for_each(|byte| firsts[usize::from(byte)] = true);
        Self(firsts)
    }

    fn may_begin(&self, line: &str) -> bool {
        line.bytes().next().is_some_and(|byte| self.0[usize::from(byte)])
    }
}

/// The possible first lines of a section.
struct SectionStarts {
    names: Vec<String>,
    markers: Vec<String>,
}

impl SectionStarts {
    fn of(section: &PromptSection, phases: usize) -> Self {
        let mut names = vec![section.name.clone()];
        if section.phases {
            names.push(format!("TDD_{phases}_PHASES"));
        }
        Self { names, markers: section.markers.iter().map(|marker| without_comment_spaces(marker)).collect() }
    }

    /// Returns the text after the beginning of the section on its line. `None` if the line does not begin it.
    fn rest_of<'a>(&self, line: &'a str) -> Option<&'a str> {
        let level = heading_level(line);
        if (1..=3).contains(&level) {
            let title = line[level..].trim_start();
            if let Some(rest) = self.names.iter().find_map(|name| strip_word_prefix(title, name)) {
                return Some(rest);
            }
        }
        if let Some(name) = line.strip_prefix("<!--").and_then(|rest| rest.split_once("-->")) {
            let name =
                name.0.trim().strip_prefix("SECTION").and_then(|rest| rest.trim_start().strip_prefix(':'));
            if name.is_some_and(|name| self.names.iter().any(|own| own == name.trim())) {
                return Some("");
            }
        }
        // Only comments have several spellings; other lines are compared literally.
        let spelt = if line.starts_with("<!--") {
            Cow::Owned(without_comment_spaces(line))
        } else {
            Cow::Borrowed(line)
        };
        let listed = self.markers.iter().any(|marker| strip_word_prefix(&spelt, marker).is_some());
        // A marker comment has no text of its own, but the line counts as content.
        listed.then_some(if level > 0 { "" } else { line })
    }
}

/// Returns `text` after `prefix`, unless the prefix ends in the middle of a word.
fn strip_word_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(prefix)?;
    let torn = prefix.ends_with(is_word) && rest.starts_with(is_word);
    (!prefix.is_empty() && !torn).then_some(rest)
}

/// A comment without its spaces: `<!-- DES-ORIGIN : x` and `<!--DES-ORIGIN: x` begin alike. Other lines keep theirs.
fn without_comment_spaces(line: &str) -> String {
    match line.strip_prefix("<!--") {
        Some(rest) => {
            let (name, value) =
                rest.split_once(':').map_or((rest, None), |(name, value)| (name, Some(value)));
            let name: String = name.chars().filter(|c| !c.is_whitespace()).collect();
            match value {
                Some(value) => format!("<!--{name}:{}", value.trim_start()),
                None => format!("<!--{name}"),
            }
        }
        None => line.to_owned(),
    }
}

/// Returns the number of turns in the section TIMEOUT_INSTRUCTION: the first number that is followed by
/// "turn" or "turns".
pub fn turn_budget(prompt: &str, definitions: &SectionDefinitions) -> Option<u64> {
    let section = definitions.section("TIMEOUT_INSTRUCTION")?;
    let body = section_bodies(prompt, &[section], &[]).pop().flatten()?;
    let words: Vec<&str> =
        body.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.windows(2).find_map(|pair| match pair {
        [number, "turn" | "turns"] => number.parse().ok(),
        _ => None,
    })
}
