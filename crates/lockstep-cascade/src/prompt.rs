//! Delegation prompts: templates with five parts (Context, Task, Constraints, Expected Output, Delivery), measured, and made
//! smaller until they fit their share of the agent's context.

mod excerpt;
mod fields;
mod measure;

use std::collections::BTreeMap;

use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

use crate::event::Dependent;
use crate::report::text_diff;
use crate::state::{Assignment, Cascade, Cause, Former, Group};
use excerpt::Excerpt;
use measure::{Level, budget_chars};

/// How much of an agent's context a prompt may take.
pub const SHARE: (usize, usize) = (30, 100);

/// Characters of a token, at the least: what a prompt is measured by.
pub const CHARS_PER_TOKEN: usize = 3;

/// A template that a project can override.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Template {
    /// Its file's name.
    pub name: &'static str,
    /// Its text where the project has none.
    pub text: &'static str,
}

/// For whoever updates files.
pub const IMPLEMENTER: Template =
    Template { name: "cascade-implementer.md", text: include_str!("../templates/implementer.md") };

/// For a second opinion on convergence.
pub const ANALYST: Template =
    Template { name: "cascade-analyst.md", text: include_str!("../templates/analyst.md") };

/// Why there is no prompt.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// A template of the project's own cannot be used.
    #[error("the template {name} cannot be rendered: {reason}")]
    Template {
        /// The template.
        name: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// Even the smallest form is too large.
    #[error("the template {name} gives {chars} characters, more than the {budget} that are {}% of the agent's context", SHARE.0)]
    TooLarge {
        /// The template.
        name: &'static str,
        /// How long its smallest form is.
        chars: usize,
        /// How long it may be.
        budget: usize,
    },
}

/// What prompts are made from.
pub struct Material<'a> {
    /// The content of a digest, where it is known.
    pub text: &'a dyn Fn(&str) -> Option<String>,
    /// The present content of a file, where it is text.
    pub present: &'a dyn Fn(&str) -> Option<String>,
    /// What became of the definitions of a changed file.
    pub symbols: &'a BTreeMap<String, Vec<Symbol>>,
    /// Who imports whom around the files.
    pub architecture: &'a [String],
    /// The agent's whole context, in tokens.
    pub context_tokens: usize,
    /// Where the result goes.
    pub delivery: &'a str,
    /// The template's text.
    pub template: Option<&'a str>,
}

/// What became of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its former name.
    pub name: String,
    /// What became of it, in a word.
    pub what: String,
    /// The name it goes by now, where it has another one.
    pub becomes: Option<String>,
}

/// A prompt, and how large it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The text.
    pub text: String,
    /// Its length in characters.
    pub chars: usize,
    /// How long it may be.
    pub budget: usize,
}

#[derive(Serialize)]
struct CauseView {
    path: String,
    symbols: Vec<String>,
    diff: Option<String>,
    fence: String,
    note: Option<&'static str>,
}

#[derive(Serialize)]
struct FileView<'a> {
    path: &'a str,
    causes: Vec<&'a str>,
    patterns: Vec<PatternView<'a>>,
    evidence: Vec<String>,
    more_evidence: usize,
    excerpt: Option<String>,
    whole: bool,
    fence: String,
    breaks: bool,
    /// Whether its own edit broke references in it.
    own: bool,
}

#[derive(Serialize)]
struct PatternView<'a> {
    name: &'a str,
    becomes: Option<String>,
}

#[derive(Serialize)]
struct ImplementerView<'a> {
    group: &'a str,
    role: &'a str,
    tier: &'a str,
    attempt: u8,
    causes: Vec<CauseView>,
    never: Vec<&'a str>,
    files: Vec<FileView<'a>>,
    more_files: usize,
    left: Vec<&'a str>,
    fields: Vec<&'static str>,
    architecture: &'a [String],
    omitted: Vec<&'static str>,
    tools: &'a str,
    max_turns: u32,
    delivery: &'a str,
}

#[derive(Serialize)]
struct AnalystView<'a> {
    iteration: u8,
    changed: Vec<String>,
    updated: Vec<&'a str>,
    original: Vec<&'a str>,
    causes: Vec<CauseView>,
    delivery: &'a str,
}

/// The prompt for the agent of a group.
pub fn implementer(cascade: &Cascade, group: &Group, material: &Material<'_>) -> Result<Prompt, PromptError> {
    smallest_that_is_needed(&IMPLEMENTER, material, Level::first(cascade.tier), |level| {
        view(cascade, group, material, level)
    })
}

/// The prompt for a second opinion on convergence.
pub fn analyst(cascade: &Cascade, material: &Material<'_>) -> Result<Prompt, PromptError> {
    smallest_that_is_needed(&ANALYST, material, Level::first(cascade.tier), |level| {
        let changed = cascade.changed();
        AnalystView {
            iteration: cascade.iteration().map_or(0, |iteration| iteration.number),
            changed: changed.iter().map(|cause| format!("`{}`", cause.path)).collect(),
            updated: cascade.updated().into_iter().collect(),
            original: cascade.original.iter().map(String::as_str).collect(),
            causes: causes(&changed, material, level),
            delivery: material.delivery,
        }
    })
}

/// Renders at the first level whose text fits.
fn smallest_that_is_needed<V: Serialize>(
    template: &Template,
    material: &Material<'_>,
    first: Level,
    view: impl Fn(Level) -> V,
) -> Result<Prompt, PromptError> {
    let budget = budget_chars(material.context_tokens);
    let source = material.template.unwrap_or(template.text);
    let mut chars = 0;
    for level in first.and_smaller() {
        let text = render(template.name, source, &view(level))?;
        chars = text.chars().count();
        if chars <= budget {
            return Ok(Prompt { text, chars, budget });
        }
    }
    Err(PromptError::TooLarge { name: template.name, chars, budget })
}

fn render(name: &'static str, source: &str, view: &impl Serialize) -> Result<String, PromptError> {
    let failed = |error: minijinja::Error| PromptError::Template { name, reason: format!("{error:#}") };
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // A template comes from the project: it must not run for ever.
    environment.set_fuel(Some(5_000_000));
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    let template = environment.template_from_named_str(name, source).map_err(failed)?;
    let mut text = template.render(minijinja::value::Serde(view)).map_err(failed)?;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

fn view<'a>(
    cascade: &'a Cascade,
    group: &'a Group,
    material: &'a Material<'_>,
    level: Level,
) -> ImplementerView<'a> {
    let iteration = cascade.iterations.iter().find(|i| i.groups.iter().any(|g| g.id == group.id));
    let open: Vec<&Assignment> = group.files.iter().filter(|file| file.outcome.is_none()).collect();
    let named: Vec<Cause> = iteration.map_or_else(Vec::new, |iteration| {
        let needed =
            |cause: &&Cause| open.iter().any(|f| f.needs.iter().any(|need| need.cause == cause.path));
        iteration.causes.iter().filter(needed).cloned().collect()
    });
    let shown = open.len().min(level.files());
    let effort = cascade.tier.effort();
    ImplementerView {
        group: &group.id,
        role: group.role.word(),
        tier: cascade.tier.word(),
        attempt: group.attempt,
        causes: causes(&named, material, level),
        never: iteration.map_or_else(Vec::new, |iteration| never(&iteration.causes, &named, &open)),
        files: open[..shown].iter().map(|file| file_view(file, material, level)).collect(),
        more_files: open.len() - shown,
        left: group.errors.iter().map(String::as_str).collect(),
        fields: fields::of(open.iter().map(|file| file.path.as_str())),
        architecture: if level.architecture() { material.architecture } else { &[] },
        omitted: level.omitted(cascade.tier),
        tools: group.role.tools(),
        max_turns: effort.max_turns,
        delivery: material.delivery,
    }
}

/// The root causes of a group that it must leave alone: a file can be one and have to follow another.
fn never<'a>(all: &'a [Cause], named: &[Cause], open: &[&Assignment]) -> Vec<&'a str> {
    let assigned = |cause: &Cause| open.iter().any(|file| file.path == cause.path);
    all.iter().filter(|cause| named.contains(cause) && !assigned(cause)).map(|c| c.path.as_str()).collect()
}

fn causes(causes: &[Cause], material: &Material<'_>, level: Level) -> Vec<CauseView> {
    causes.iter().map(|cause| cause_view(cause, material, level)).collect()
}

fn cause_view(cause: &Cause, material: &Material<'_>, level: Level) -> CauseView {
    let symbols = material.symbols.get(&cause.path).map_or(&[][..], Vec::as_slice);
    let before = match &cause.before {
        Former::Unknown => None,
        Former::Absent => Some(String::new()),
        Former::Content(digest) => (material.text)(digest),
    };
    let after = (material.present)(&cause.path);
    let (diff, note) = match before {
        None => (None, Some("what it was before is not known")),
        Some(before) => {
            let diff = text_diff(&cause.path, &before, after.as_deref().unwrap_or_default());
            (level.cut_diff(&diff), None)
        }
    };
    let fence = crate::report::fence(diff.as_deref().unwrap_or_default());
    CauseView {
        path: cause.path.clone(),
        symbols: symbols.iter().map(told).take(level.symbols()).collect(),
        diff,
        fence,
        note,
    }
}

fn told(symbol: &Symbol) -> String {
    match &symbol.becomes {
        Some(new) => format!("`{}` is now `{new}`", symbol.name),
        None => format!("`{}` {}", symbol.name, symbol.what),
    }
}

fn file_view<'a>(file: &'a Assignment, material: &'a Material<'_>, level: Level) -> FileView<'a> {
    let evidence: Vec<&String> =
        file.left.iter().chain(file.needs.iter().flat_map(|need| &need.evidence)).collect();
    let mut lines: Vec<String> = evidence.iter().map(|line| level.cut_line(line)).collect();
    lines.dedup();
    let more = lines.len().saturating_sub(level.evidence());
    lines.truncate(level.evidence());
    let Excerpt { text, whole } = match (level.excerpt(), (material.present)(&file.path)) {
        (Some(form), Some(text)) => excerpt::of(&text, &file.path, &evidence, form),
        _ => Excerpt::default(),
    };
    FileView {
        path: &file.path,
        causes: distinct(file.needs.iter().map(|need| need.cause.as_str()).filter(|cause| !cause.is_empty())),
        patterns: patterns(&file.needs, material),
        evidence: lines,
        more_evidence: more,
        whole,
        fence: crate::report::fence(&text),
        excerpt: Some(text).filter(|text| !text.is_empty()),
        breaks: file.needs.iter().any(|need| need.breaks != Some(false)),
        own: file.needs.iter().any(Dependent::is_own),
    }
}

fn patterns<'a>(needs: &'a [Dependent], material: &'a Material<'_>) -> Vec<PatternView<'a>> {
    let names = distinct(needs.iter().map(|need| need.pattern.as_str()).filter(|name| !name.is_empty()));
    let becomes = |name: &str| {
        let symbols = needs.iter().filter_map(|need| material.symbols.get(&need.cause)).flatten();
        let exact =
            symbols.clone().filter(|symbol| symbol.name == name).find_map(|symbol| symbol.becomes.clone());
        exact.or_else(|| {
            symbols.filter_map(|symbol| moved(name, &symbol.name, symbol.becomes.as_deref()?)).next()
        })
    };
    let mut views: Vec<PatternView<'_>> =
        names.into_iter().map(|name| PatternView { name, becomes: becomes(name) }).collect();
    for need in needs {
        // A file that moved is looked for by its former path too.
        let symbols = material.symbols.get(&need.cause).into_iter().flatten();
        for symbol in symbols.filter(|symbol| symbol.becomes.as_deref() == Some(&*need.cause)) {
            if !views.iter().any(|view| view.name == symbol.name) {
                views.push(PatternView { name: &symbol.name, becomes: symbol.becomes.clone() });
            }
        }
    }
    views
}

/// What a reference to a moved file should be now, by its paths before and after: `./old` and `old.py` for `src/old.py`.
fn moved(pattern: &str, from: &str, to: &str) -> Option<String> {
    let base = |path: &str| path.rsplit_once('/').map(|(_, base)| base.to_owned());
    let folder = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let is_path = |path: &str| path.contains('/') || path.contains('.');
    if !is_path(from) || !is_path(to) {
        return None;
    }
    let (old, new) =
        (base(from).unwrap_or_else(|| from.to_owned()), base(to).unwrap_or_else(|| to.to_owned()));
    let stem = |name: &str| name.split('.').next().unwrap_or(name).to_owned();
    let ends = |part: &str| {
        let rest = pattern.strip_suffix(part)?;
        (rest.is_empty() || rest.ends_with(['/', '.', ':'])).then(|| rest.to_owned())
    };
    let (rest, name) = match (ends(&old), ends(&stem(&old))) {
        (Some(rest), _) => (rest, new),
        (None, Some(rest)) => (rest, stem(&new)),
        (None, None) => return None,
    };
    Some(if folder(from) == folder(to) { format!("{rest}{name}") } else { to.to_owned() })
}

fn distinct<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for word in words {
        if !seen.contains(&word) {
            seen.push(word);
        }
    }
    seen
}
