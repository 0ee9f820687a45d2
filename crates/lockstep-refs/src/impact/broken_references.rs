//! Unresolved references that an edit introduced: an import of a name that its module does not have, a link
//! to a missing file or heading, the name of an agent or skill that does not exist.
//!
//! A reference that was already unresolved before the edit is not reported.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::dependents::Evidence;
use super::edit::{Before, Edit};
use super::external_members::{ExternalMember, external_members};
use super::hunks::Hunks;
use super::links::missing_links;
use super::missing_paths::missing_paths;
use super::own_file::BrokenReference;
use super::renamed_types::TypeRenames;
use super::renamed_uses::{OldFile, RenamedUse, renamed_uses};
use super::type_only::values_of_types;
use super::undefined_calls::undefined_calls;
use crate::entity::{Aliases, EntityKind, entities, frontmatter};
use crate::facts::{Facts, Import, ImportForm};
use crate::language::{self, Language};
use crate::overlay::Overlay;
use crate::reference::{Certainty, Kind, Place};
use crate::world::{FileId, World, base, parent, words};

/// Agents that the client has without a file.
const BUILT_IN_AGENTS: [&str; 5] =
    ["general-purpose", "Explore", "Plan", "statusline-setup", "output-style-setup"];

/// An unresolved reference.
pub(super) struct Missing {
    pub(super) line: u32,
    pub(super) kind: Kind,
    pub(super) pattern: String,
    pub(super) reason: String,
}

/// Returns the references of the edited file that are unresolved since the edit. `world` has the file after
/// the edit.
pub(super) fn introduced(
    world: &dyn World,
    edit: &Edit,
    former: Option<(&Arc<Facts>, Option<&Arc<str>>)>,
    (aliases, renames): (&Aliases, &TypeRenames<'_>),
) -> Vec<BrokenReference> {
    let Some(text) = world.find(&edit.path).and_then(|file| world.text(file)) else { return Vec::new() };
    if matches!(edit.before, Before::Unknown) {
        return Vec::new();
    }
    let mut now = missing(world, &edit.path, aliases);
    if let Some((facts, Some(former))) = former {
        let former = OldFile { path: edit.former_path(), facts, text: former };
        now.extend(renamed_uses(world, &edit.path, &former, renames).into_iter().map(missing_use));
        now.extend(external_members(world, &edit.path, &former, renames).into_iter().map(missing_member));
        now.extend(missing_in_new_lines(world, &edit.path, &text, former.text));
    }
    if now.is_empty() {
        return Vec::new();
    }
    let known: BTreeSet<(Kind, String)> = match former {
        Some((facts, text)) => {
            let before = Overlay::new(world, edit.former_path(), Arc::clone(facts), text.cloned());
            missing(&before, edit.former_path(), aliases)
                .into_iter()
                .map(|missing| (missing.kind, missing.pattern))
                .collect()
        }
        None => BTreeSet::new(),
    };
    let lines: Vec<&str> = text.lines().collect();
    now.into_iter()
        .filter(|missing| !known.contains(&(missing.kind, missing.pattern.clone())))
        .filter_map(|missing| {
            let line = lines.get((missing.line as usize).checked_sub(1)?)?;
            let evidence = Evidence {
                line: missing.line,
                text: (*line).to_owned(),
                kind: missing.kind,
                breaks: true,
                certainty: Certainty::Resolved,
                pattern: missing.pattern,
            };
            Some(BrokenReference { evidence, reason: missing.reason, new_name: None })
        })
        .collect()
}

/// Returns the unresolved members and paths on changed lines.
fn missing_in_new_lines(world: &dyn World, path: &str, text: &str, former: &str) -> Vec<Missing> {
    let Some(file) = world.find(path) else { return Vec::new() };
    let Some(facts) = world.facts(file).filter(|facts| facts.problems == 0) else { return Vec::new() };
    let mut found = Vec::new();
    let lines = Hunks::between(former, text).new_lines();
    for member in language::rules(facts.language).missing_members(world, file, &lines) {
        let (pattern, reason) =
            (member.name.to_string(), format!("{} has no {}", member.module, member.name));
        found.push(Missing { line: member.line, kind: member.kind, pattern, reason });
    }
    for (line, pattern) in undefined_calls(world, file, &facts, former) {
        let reason = format!("nothing defines {pattern}");
        found.push(Missing { line, kind: Kind::Symbol, pattern, reason });
    }
    for missing_path in missing_paths(world, path, text, former) {
        let reason = format!("{} does not exist", missing_path.path);
        found.push(Missing { line: missing_path.line, kind: Kind::Path, pattern: missing_path.path, reason });
    }
    found
}

fn missing_use(renamed_use: RenamedUse) -> Missing {
    let reason = format!("nothing is called {}; it was {}", renamed_use.name, renamed_use.was);
    Missing { line: renamed_use.line, kind: Kind::Symbol, pattern: renamed_use.name, reason }
}

fn missing_member(external_member: ExternalMember) -> Missing {
    let reason =
        format!("it was {}.{}, which is not part of the project", external_member.owner, external_member.was);
    Missing { line: external_member.line, kind: Kind::Symbol, pattern: external_member.name, reason }
}

/// Returns every unresolved reference of a file.
fn missing(world: &dyn World, path: &str, aliases: &Aliases) -> Vec<Missing> {
    let Some(file) = world.find(path) else { return Vec::new() };
    let Some(facts) = world.facts(file).filter(|facts| facts.problems == 0) else { return Vec::new() };
    let rules = language::rules(facts.language);
    let mut found = Vec::new();
    for place in rules.unresolved_imports(world, file) {
        if may_be_generated(world, &facts, &place) {
            continue;
        }
        let pattern = place.pattern.to_string();
        let reason = format!("{pattern} does not exist");
        found.push(Missing { line: place.line, kind: place.kind, pattern, reason });
    }
    for name in rules.missing_names(world, file) {
        let (pattern, reason) = (name.name.to_string(), format!("{} has no {}", name.module, name.name));
        found.push(Missing { line: name.line, kind: name.kind, pattern, reason });
    }
    found.extend(values_of_types(&facts));
    if facts.language == Language::Markdown
        && let Some(text) = world.text(file)
    {
        found.extend(missing_links(world, path, &text));
        found.extend(missing_names_of_framework(world, path, &text, aliases));
    }
    found
}

/// An import of a name that a module of the project does not define.
pub(crate) struct MissingImport {
    pub(crate) line: u32,
    pub(crate) name: Box<str>,
    /// The module as written, or the complete path of the name.
    pub(crate) module: Box<str>,
}

/// Returns the imports of a file whose module or package is in the project and does not define the name.
pub(crate) fn missing_imports(world: &dyn World, file: FileId, facts: &Facts) -> Vec<MissingImport> {
    use Language::{Java, Kotlin, Php, Rust};
    let rules = language::rules(facts.language);
    let names = rules.missing_names(world, file).into_iter().filter(|missing| missing.kind == Kind::Import);
    let mut found: Vec<MissingImport> = names
        .map(|missing| MissingImport { line: missing.line, name: missing.name, module: missing.module })
        .collect();
    // There, the path of an import ends with the imported name.
    if matches!(facts.language, Java | Kotlin | Php | Rust) {
        let is_name = |place: &Place| {
            let mut imports = facts.imports.iter().filter(|import| import.line == place.line);
            !may_be_generated(world, facts, place)
                && imports.any(|import| import.form == ImportForm::Plain && !import.glob)
        };
        let places = rules.unresolved_imports(world, file).into_iter().filter(is_name);
        found.extend(places.map(|place| {
            let name = place.pattern.rsplit(['.', ':', '\\']).next().unwrap_or_default().into();
            MissingImport { line: place.line, name, module: place.pattern }
        }));
    }
    found
}

/// Returns true if a generator or a macro may define an imported name: a schema, or the text of the Rust
/// module, contains the word.
fn may_be_generated(world: &dyn World, facts: &Facts, place: &Place) -> bool {
    if facts.language != Language::Rust {
        let name = place.pattern.rsplit(['.', '\\']).next().unwrap_or_default();
        let is_schema = |file: &FileId| {
            let end = world.path(*file).rsplit('.').next();
            matches!(end, Some("proto" | "thrift" | "avsc" | "graphql" | "g4" | "xsd" | "wsdl"))
        };
        return world.containing(name).iter().any(is_schema);
    }
    let takes = |import: &&Import| {
        import.line == place.line || import.names.iter().any(|name| name.name == place.pattern)
    };
    facts.imports.iter().filter(takes).any(|import| {
        let module = import.module.rsplit("::").next().unwrap_or_default();
        let mut files = world.named(&format!("{module}.rs"));
        let of_folder = |file: &FileId| base(parent(world.path(*file))) == module;
        files.extend(world.named("mod.rs").into_iter().filter(of_folder));
        if matches!(module, "crate" | "self" | "super") {
            files.extend(["lib.rs", "main.rs", "mod.rs"].into_iter().flat_map(|name| world.named(name)));
        }
        let has_word = |text: &str| words(text).any(|word| *word == *place.pattern);
        files.into_iter().filter_map(|file| world.text(file)).any(|text| has_word(&text))
    })
}

/// Agents and skills that a file names and the project does not have.
fn missing_names_of_framework(world: &dyn World, path: &str, text: &str, aliases: &Aliases) -> Vec<Missing> {
    let mut named: Vec<(u32, EntityKind, &str)> = frontmatter(text).map(framework_names).unwrap_or_default();
    named.extend(started_agents(text));
    if named.is_empty()
        || !path.split('/').any(|part| matches!(part, ".claude" | "agents" | "skills" | "commands"))
    {
        return Vec::new();
    }
    let documents = world.files().into_iter().filter(|file| world.path(*file).ends_with(".md"));
    let known: BTreeSet<(EntityKind, Box<str>)> = documents
        .filter(|file| entities(world.path(*file), None, aliases).len() > 1)
        .flat_map(|file| entities(world.path(file), world.text(file).as_deref(), aliases))
        .map(|entity| (entity.kind, entity.name))
        .collect();
    let mut found = Vec::new();
    for (line, kind, name) in named {
        let is_known = known.iter().any(|(_, other)| **other == *name) || BUILT_IN_AGENTS.contains(&name);
        // A project without any of its own uses those that are installed elsewhere.
        let has_any = known.iter().any(|(other, _)| *other == kind);
        if !is_known && has_any && !name.contains(':') {
            let what = if kind == EntityKind::Agent { "agent" } else { "skill" };
            let reason = format!("there is no {what} {name}");
            found.push(Missing { line, kind: Kind::Name, pattern: name.to_owned(), reason });
        }
    }
    found
}

/// The agents that a text starts (`subagent_type="NAME"`), with their lines.
fn started_agents(text: &str) -> impl Iterator<Item = (u32, EntityKind, &str)> {
    text.lines().zip(1_u32..).flat_map(|(line, number)| {
        line.match_indices("subagent_type").filter_map(move |(at, key)| {
            let value = line.get(at + key.len()..)?.trim_start_matches(['"', '\'', '`', ' ']);
            let value = value.strip_prefix(['=', ':'])?.trim_start();
            let quote = value.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
            let name = value.get(1..)?.split(quote).next()?;
            let is_sample =
                ["your", "example", "agent-name", "agent-type"].iter().any(|word| name.contains(word));
            (is_name(&name) && !is_sample).then_some((number, EntityKind::Agent, name))
        })
    })
}

fn is_name(name: &&str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':'))
}

/// The values of `agent:` and `skills:`, with their lines in the file.
fn framework_names(front: &str) -> Vec<(u32, EntityKind, &str)> {
    let mut found = Vec::new();
    let mut list: Option<EntityKind> = None;
    for (line, number) in front.lines().zip(2_u32..) {
        let (values, kind) = match line.split_once(':') {
            Some(("agent", value)) => (value, EntityKind::Agent),
            Some(("skills", value)) => (value, EntityKind::Skill),
            _ => match (line.trim_start().strip_prefix("- "), list) {
                (Some(item), Some(kind)) => (item, kind),
                _ => {
                    list = None;
                    continue;
                }
            },
        };
        list = Some(kind);
        let names = values.split([',', '[', ']']).map(|name| name.trim().trim_matches(['"', '\'']));
        found.extend(names.filter(is_name).map(|name| (number, kind, name)));
    }
    found
}
