//! Delegation prompts: templates with five parts (Context, Task, Constraints, Expected Output, Delivery), measured, and made
//! smaller until they fit their share of the agent's context.

mod budget;
mod excerpt;
mod file_format_hints;

use std::collections::BTreeMap;

use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

use crate::event::CascadeDependent;
use crate::report::text_diff;
use crate::state::{Assignment, Cascade, Group, OriginalDigest, RootCause};
use budget::{DetailLevel, budget_chars};
use excerpt::Excerpt;

/// The share of an agent's context that a prompt may use.
pub const CONTEXT_SHARE: (usize, usize) = (30, 100);

/// A lower bound for the characters per token, used to measure prompts.
pub const CHARS_PER_TOKEN: usize = 3;

/// A template that a project can override.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptTemplate {
    pub name: &'static str,
    /// The default text, used if the project does not override it.
    pub text: &'static str,
}

/// The template for agents that update files.
pub const IMPLEMENTER: PromptTemplate =
    PromptTemplate { name: "cascade-implementer.md", text: include_str!("../templates/implementer.md") };

/// The template for a second opinion on convergence.
pub const ANALYST: PromptTemplate =
    PromptTemplate { name: "cascade-analyst.md", text: include_str!("../templates/analyst.md") };

/// The reason why a prompt could not be rendered.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// The project's own template is invalid.
    #[error("the template {name} cannot be rendered: {reason}")]
    Template { name: &'static str, reason: String },
    /// Even the smallest form is too large.
    #[error("the template {name} gives {chars} characters, more than the {budget} that are {}% of the agent's context", CONTEXT_SHARE.0)]
    TooLarge {
        name: &'static str,
        /// The length of its smallest form.
        chars: usize,
        budget: usize,
    },
}

pub struct PromptContext<'a> {
    /// Returns the content of a digest, if available.
    pub text: &'a dyn Fn(&str) -> Option<String>,
    /// Returns the present content of a file, if it is text.
    pub present: &'a dyn Fn(&str) -> Option<String>,
    /// The changed definitions of each changed file.
    pub symbols: &'a BTreeMap<String, Vec<ChangedSymbol>>,
    /// The import relations around the files, one per line.
    pub architecture: &'a [String],
    /// The size of the agent's context, in tokens.
    pub context_tokens: usize,
    /// The instruction about where to put the result.
    pub delivery: &'a str,
    pub template: Option<&'a str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedSymbol {
    pub name: String,
    /// The kind of change, in one word.
    pub what: String,
    /// The new name, if it changed.
    pub becomes: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    pub text: String,
    /// Length in characters.
    pub chars: usize,
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
    path: String,
    causes: Vec<String>,
    patterns: Vec<PatternView<'a>>,
    evidence: Vec<String>,
    more_evidence: usize,
    excerpt: Option<String>,
    whole: bool,
    fence: String,
    breaks: bool,
    /// Set if its own edit broke references in it.
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
    never: Vec<String>,
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
pub fn implementer(
    cascade: &Cascade,
    group: &Group,
    material: &PromptContext<'_>,
) -> Result<Prompt, PromptError> {
    render_within_budget(&IMPLEMENTER, material, DetailLevel::first(cascade.tier), |level| {
        implementer_view(cascade, group, material, level)
    })
}

/// The prompt for a second opinion on convergence.
pub fn analyst(cascade: &Cascade, material: &PromptContext<'_>) -> Result<Prompt, PromptError> {
    render_within_budget(&ANALYST, material, DetailLevel::first(cascade.tier), |level| {
        let changed = cascade.changed();
        AnalystView {
            iteration: cascade.iteration().map_or(0, |iteration| iteration.number),
            changed: changed.iter().map(|cause| format!("`{}`", escape_name(&cause.path))).collect(),
            updated: cascade.updated().into_iter().collect(),
            original: cascade.original.iter().map(String::as_str).collect(),
            causes: causes(&changed, material, level),
            delivery: material.delivery,
        }
    })
}

/// Renders the template at the first level whose text fits the budget.
fn render_within_budget<V: Serialize>(
    template: &PromptTemplate,
    material: &PromptContext<'_>,
    first: DetailLevel,
    view: impl Fn(DetailLevel) -> V,
) -> Result<Prompt, PromptError> {
    let budget = budget_chars(material.context_tokens);
    let source = material.template.unwrap_or(template.text);
    let mut chars = 0;
    for level in first.with_less_detail() {
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
    // Templates come from the project, so their execution is limited.
    environment.set_fuel(Some(5_000_000));
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    let template = environment.template_from_named_str(name, source).map_err(failed)?;
    let mut text = template.render(minijinja::value::Serde(view)).map_err(failed)?;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

fn implementer_view<'a>(
    cascade: &'a Cascade,
    group: &'a Group,
    material: &'a PromptContext<'_>,
    level: DetailLevel,
) -> ImplementerView<'a> {
    let iteration = cascade.iterations.iter().find(|i| i.groups.iter().any(|g| g.id == group.id));
    let open: Vec<&Assignment> = group.files.iter().filter(|file| file.outcome.is_none()).collect();
    let named: Vec<RootCause> = iteration.map_or_else(Vec::new, |iteration| {
        let needed = |cause: &&RootCause| {
            open.iter().any(|f| f.dependencies.iter().any(|need| need.cause == cause.path))
        };
        iteration.causes.iter().filter(needed).cloned().collect()
    });
    let listed = open.len().min(level.files());
    let effort = cascade.tier.effort();
    ImplementerView {
        group: &group.id,
        role: group.role.as_str(),
        tier: cascade.tier.as_str(),
        attempt: group.attempt,
        causes: causes(&named, material, level),
        never: iteration
            .map_or_else(Vec::new, |iteration| protected_causes(&iteration.causes, &named, &open)),
        files: open[..listed].iter().map(|file| file_view(file, material, level)).collect(),
        more_files: open.len() - listed,
        left: group.errors.iter().map(String::as_str).collect(),
        fields: file_format_hints::format_hints(open.iter().map(|file| file.path.as_str())),
        architecture: if level.architecture() { material.architecture } else { &[] },
        omitted: level.omitted(cascade.tier),
        tools: group.role.tools(),
        max_turns: effort.max_turns,
        delivery: material.delivery,
    }
}

/// Returns the root causes of a group that its agent must not change. A root cause that is also assigned is
/// not listed.
fn protected_causes(all: &[RootCause], named: &[RootCause], open: &[&Assignment]) -> Vec<String> {
    let assigned = |cause: &RootCause| open.iter().any(|file| file.path == cause.path);
    all.iter()
        .filter(|cause| named.contains(cause) && !assigned(cause))
        .map(|cause| escape_name(&cause.path))
        .collect()
}

fn causes(causes: &[RootCause], material: &PromptContext<'_>, level: DetailLevel) -> Vec<CauseView> {
    causes.iter().map(|cause| cause_view(cause, material, level)).collect()
}

fn cause_view(cause: &RootCause, material: &PromptContext<'_>, level: DetailLevel) -> CauseView {
    let symbols = material.symbols.get(&cause.path).map_or(&[][..], Vec::as_slice);
    let before = match &cause.before {
        OriginalDigest::Unknown => None,
        OriginalDigest::Absent => Some(String::new()),
        OriginalDigest::Content(digest) => (material.text)(digest),
    };
    let after = (material.present)(&cause.path);
    let (diff, note) = match before {
        None => (None, Some("what it was before is not known")),
        Some(before) => {
            let diff = text_diff(&escape_name(&cause.path), &before, after.as_deref().unwrap_or_default());
            (level.cut_diff(&diff), None)
        }
    };
    let fence = lockstep_text::fence(diff.as_deref().unwrap_or_default());
    CauseView {
        path: escape_name(&cause.path),
        symbols: symbols.iter().map(describe_symbol).take(level.symbols()).collect(),
        diff,
        fence,
        note,
    }
}

/// Formats a name for a prompt. Characters that would end its line or its quote, or change the text
/// direction, are escaped.
pub fn escape_name(name: &str) -> String {
    let escaped = |c: char| {
        let turns = matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        c == '`' || c.is_control() || turns || matches!(c, '\u{2028}' | '\u{2029}')
    };
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        if escaped(c) {
            text.extend(c.escape_unicode());
        } else {
            text.push(c);
        }
    }
    text
}

fn describe_symbol(symbol: &ChangedSymbol) -> String {
    match &symbol.becomes {
        Some(new) => format!("`{}` is now `{new}`", symbol.name),
        None => format!("`{}` {}", symbol.name, symbol.what),
    }
}

fn file_view<'a>(file: &'a Assignment, material: &'a PromptContext<'_>, level: DetailLevel) -> FileView<'a> {
    let evidence: Vec<&String> =
        file.stale_lines.iter().chain(file.dependencies.iter().flat_map(|need| &need.evidence)).collect();
    let mut lines: Vec<String> = evidence.iter().map(|line| level.cut_line(&escape_name(line))).collect();
    lines.dedup();
    let more = lines.len().saturating_sub(level.evidence());
    lines.truncate(level.evidence());
    let Excerpt { text, whole } = match (level.excerpt(), (material.present)(&file.path)) {
        (Some(form), Some(text)) => excerpt::of(&text, &file.path, &evidence, form),
        _ => Excerpt::default(),
    };
    FileView {
        path: escape_name(&file.path),
        causes: distinct(
            file.dependencies.iter().map(|need| need.cause.as_str()).filter(|cause| !cause.is_empty()),
        )
        .into_iter()
        .map(escape_name)
        .collect(),
        patterns: patterns(&file.dependencies, material),
        evidence: lines,
        more_evidence: more,
        whole,
        fence: lockstep_text::fence(&text),
        excerpt: Some(text).filter(|text| !text.is_empty()),
        breaks: file.dependencies.iter().any(|need| need.breaks != Some(false)),
        own: file.dependencies.iter().any(CascadeDependent::is_own),
    }
}

fn patterns<'a>(needs: &'a [CascadeDependent], material: &'a PromptContext<'_>) -> Vec<PatternView<'a>> {
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
        // A moved file is also searched by its former path.
        let symbols = material.symbols.get(&need.cause).into_iter().flatten();
        for symbol in symbols.filter(|symbol| symbol.becomes.as_deref() == Some(&*need.cause)) {
            if !views.iter().any(|view| view.name == symbol.name) {
                views.push(PatternView { name: &symbol.name, becomes: symbol.becomes.clone() });
            }
        }
    }
    views
}

/// Returns the new spelling of a reference to a moved file: `./new` for `./old`, `new.py` for `old.py`.
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
