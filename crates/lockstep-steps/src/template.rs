//! Rendering a prompt: placeholders `{name}` from the step and the agent. Values are data and never expanded again.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::problem::StepProblem;
use crate::state_machine::StepMachines;
use crate::step::Step;

pub const EXECUTE_STEP_TEMPLATE: &str = include_str!("../data/execute_step.md");

/// The number of turns of a step that does not define it.
pub const DEFAULT_TURNS: u64 = 50;

/// Fills a template: from the step's data, then the agent's, then derived values. All missing values are
/// reported at once.
pub fn render(template: &str, values: &TemplateValues) -> Result<String, Vec<StepProblem>> {
    let mut out = String::with_capacity(template.len() * 2);
    let mut problems = Vec::new();
    let mut seen = BTreeSet::new();
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let Some(name) = behind.split_once('}').map(|(name, _)| name).filter(|name| is_name(name)) else {
            // A brace that is not a placeholder, as in an example of JSON.
            out.push('{');
            rest = behind;
            continue;
        };
        rest = &behind[name.len() + 1..];
        match values.get(name) {
            Ok(value) => out.push_str(&value),
            Err(problem) if seen.insert(name) => problems.push(problem),
            Err(_) => {}
        }
    }
    out.push_str(rest);
    if problems.is_empty() { Ok(out) } else { Err(problems) }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
}

#[derive(Debug, Clone)]
pub struct TemplateValues {
    sources: Vec<Value>,
}

impl TemplateValues {
    /// Returns the values of a step at `file`, of an agent, and those derived from the step.
    pub fn new(step: &Step, file: &str, agent: Map<String, Value>, machine: &StepMachines) -> Self {
        let boundary = step.boundary();
        let listed = |patterns: &[String], none: &str| {
            if patterns.is_empty() { none.to_owned() } else { patterns.join(", ") }
        };
        let mut phases = String::new();
        for (number, phase) in step.phases().iter().enumerate() {
            let _ = writeln!(phases, "{}. {}", number + 1, phase.name);
        }
        let mut derived = Map::new();
        derived.insert("step_file".to_owned(), file.into());
        derived.insert("phases".to_owned(), phases.trim_end().into());
        derived.insert("phase_count".to_owned(), step.phases().len().into());
        derived.insert(
            "phase_set".to_owned(),
            step.phase_set(machine).map_or(Value::Null, |set| set.name.clone().into()),
        );
        derived.insert("allowed".to_owned(), listed(&boundary.allowed, "every file of the project").into());
        derived.insert("forbidden".to_owned(), listed(&boundary.forbidden, "nothing besides").into());
        derived.insert("max_turns".to_owned(), DEFAULT_TURNS.into());
        Self { sources: vec![step.value().clone(), Value::Object(agent), Value::Object(derived)] }
    }

    fn get(&self, name: &str) -> Result<String, StepProblem> {
        let found =
            self.sources.iter().find_map(|source| lookup(source, name).filter(|value| !value.is_null()));
        let Some(value) = found else {
            return Err(StepProblem::missing(
                name,
                format!("There is no value for {{{name}}}"),
                format!("Put {name:?} into the step file or the agent's file, or take the placeholder out"),
            ));
        };
        let text = text(value);
        if text.contains("<!--") || text.contains("-->") {
            return Err(StepProblem::invalid(
                name,
                format!("The value of {{{name}}} contains an HTML comment, which could pass for a marker"),
                format!("Take <!-- and --> out of {name:?}"),
            ));
        }
        Ok(text)
    }
}

fn lookup<'a>(source: &'a Value, name: &str) -> Option<&'a Value> {
    source.get(name).or_else(|| name.split('.').try_fold(source, |value, part| value.get(part)))
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
