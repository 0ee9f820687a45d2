//! Names that an edit left unbound in the changed file: a removed parameter or variable that its function still uses, an import that
//! was removed while its name is still used.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::facts::{Definition, DefinitionKind, Facts, Import, Role, Shape, Use};
use crate::language::Language;
use crate::parses::Parses;
use crate::world::words;

/// A name that nothing in the file binds any more.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnboundName {
    pub(super) line: u32,
    pub(super) name: Box<str>,
    pub(super) role: Role,
    pub(super) reason: String,
}

/// A file before and after an edit: path and text of each.
pub(super) struct Versions<'a> {
    pub(super) former: (&'a str, &'a Arc<str>),
    pub(super) present: (&'a str, &'a Arc<str>),
}

/// Returns the names that the former content bound and the present content uses without binding them.
pub(super) fn unbound_names(parses: &Parses, versions: &Versions<'_>) -> Vec<UnboundName> {
    let old = parses.facts_with_unbound_names(versions.former.0, versions.former.1);
    let new = parses.facts_with_unbound_names(versions.present.0, versions.present.1);
    // If a text no longer parses, bindings may be hidden.
    if new.problems > old.problems {
        return Vec::new();
    }
    let mut found = unbound_locals(versions, &old, &new);
    found.extend(unbound_exports(&old, &new));
    if new.language == Language::Go {
        found.extend(unused_imports(versions, &old, &new));
    }
    if requires_imports(new.language) {
        found.extend(unbound_imports(&old, &new));
    }
    found
}

/// Returns true if a name must be bound by the file, its package or an import. C and C++ get names from
/// included files, Ruby, PHP and Bash from files that were loaded before.
fn requires_imports(language: Language) -> bool {
    use Language::{CSharp, Go, Java, JavaScript, Kotlin, Python, Rust, Swift, Tsx, TypeScript};
    matches!(language, Rust | TypeScript | Tsx | JavaScript | Python | Go | Java | Kotlin | CSharp | Swift)
}

/// Returns local names that became unbound: the line is the same as before, but its name was bound inside its
/// function and no longer is.
fn unbound_locals(versions: &Versions<'_>, old: &Facts, new: &Facts) -> Vec<UnboundName> {
    let former: Vec<&str> = versions.former.1.lines().collect();
    let present: Vec<&str> = versions.present.1.lines().collect();
    let line_of = |lines: &[&str], line: u32| -> Option<String> {
        lines.get((line as usize).checked_sub(1)?).map(|line| line.trim().to_owned())
    };
    let free: BTreeSet<(Box<str>, String)> = old
        .uses
        .iter()
        .filter_map(|used| Some((root_name(used)?.into(), line_of(&former, used.line)?)))
        .collect();
    let (known, bound) = (names_of(new), bare_names_of(new));
    let mut found = Vec::new();
    for used in &new.uses {
        let Some(definition) = used.within.and_then(|at| new.definitions.get(at as usize)) else { continue };
        // The names of members are bound in the body of their type, not in its functions.
        let is_in_function = matches!(definition.kind, DefinitionKind::Function | DefinitionKind::Method);
        let known = if is_in_function { &bound } else { &known };
        let Some(name) = root_name(used).filter(|name| !known.contains(*name)) else { continue };
        let Some(line) = line_of(&present, used.line) else { continue };
        // A local variable may represent an expression in another line.
        if !words(&line).any(|word| word == name.trim_start_matches('$')) {
            continue;
        }
        let was_there = counterparts(old, definition)
            .any(|was| (was.line..=was.end_line).any(|at| line_of(&former, at).as_ref() == Some(&line)));
        if was_there && !free.contains(&(name.into(), line)) {
            found.push(UnboundName {
                line: used.line,
                name: name.into(),
                role: used.role,
                reason: format!("{name} is no longer defined in {}", definition.name),
            });
        }
    }
    found
}

/// Returns the former definitions that may have become this one: those of its name or, if there are none, of
/// its container.
fn counterparts<'f>(old: &'f Facts, is: &'f Definition) -> impl Iterator<Item = &'f Definition> {
    let of_kind = |was: &&Definition| was.kind == is.kind && was.container == is.container;
    let has_name = old.definitions.iter().filter(of_kind).any(|was| was.name == is.name);
    old.definitions.iter().filter(of_kind).filter(move |was| !has_name || was.name == is.name)
}

/// Imports that were removed while a use of their name is left.
fn unbound_imports(old: &Facts, new: &Facts) -> Vec<UnboundName> {
    if new.imports.iter().any(|import| import.glob) {
        return Vec::new();
    }
    let known = names_of(new);
    let removed: BTreeSet<&str> = old
        .imports
        .iter()
        .flat_map(|import| bound_by(old.language, import))
        .filter(|name| !known.contains(*name))
        .collect();
    let uses = new.uses.iter().filter_map(|used| Some((root_name(used)?, used)));
    uses.filter(|(name, _)| removed.contains(name))
        .map(|(name, used)| UnboundName {
            line: used.line,
            name: name.into(),
            role: used.role,
            reason: format!("{name} is no longer imported"),
        })
        .collect()
}

/// Imports of Go whose package the edit no longer uses, or that it added without a use: the compiler rejects them.
fn unused_imports(versions: &Versions<'_>, old: &Facts, new: &Facts) -> Vec<UnboundName> {
    let uses = |text: &str, name: &str| {
        let code = text.lines().filter_map(|line| line.split("//").next());
        let is_end =
            |before: &str| !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.'));
        let member = format!("{name}.");
        code.into_iter().any(|line| line.match_indices(&*member).any(|(at, _)| is_end(&line[..at])))
    };
    let mut found = Vec::new();
    for import in new.imports.iter().filter(|import| !import.glob && import.alias.as_deref() != Some("_")) {
        let name = import.alias.as_deref().unwrap_or_else(|| package_name(&import.module));
        let was_there = old
            .imports
            .iter()
            .any(|candidate| candidate.module == import.module && candidate.alias == import.alias);
        // Only the path of a package of the standard library surely ends with its name.
        let is_standard = !import.module.split('/').next().unwrap_or_default().contains('.');
        let was_used = if was_there { uses(versions.former.1, name) } else { is_standard };
        if was_used && import.module.as_ref() != "C" && !uses(versions.present.1, name) {
            found.push(UnboundName {
                line: import.line,
                name: name.into(),
                role: Role::Import,
                reason: format!("{} is imported and not used", import.module),
            });
        }
    }
    found
}

/// Returns the name that the path of a package of Go suggests: its last part that is no version.
fn package_name(module: &str) -> &str {
    let is_version = |part: &&str| {
        part.strip_prefix('v')
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let last = module.rsplit('/').find(|part| !is_version(part)).unwrap_or(module);
    last.split('.').next().unwrap_or(last).trim_start_matches("go-")
}

/// Names that a file exports and no longer defines: `export { a }`, `module.exports = { a }`.
fn unbound_exports(old: &Facts, new: &Facts) -> Vec<UnboundName> {
    let (was_known, known) = (names_of(old), names_of(new));
    let exports = new.imports.iter().filter(|import| is_own_export(import)).flat_map(|import| &import.names);
    exports
        .filter(|export| was_known.contains(&*export.name) && !known.contains(&*export.name))
        .map(|export| UnboundName {
            line: export.line,
            name: export.name.clone(),
            role: Role::Reexport,
            reason: format!("{} is exported, but no longer defined", export.name),
        })
        .collect()
}

/// Returns true if the statement exports names of its own file.
fn is_own_export(import: &Import) -> bool {
    import.reexport && import.module.is_empty()
}

/// The names that a file defines or imports, whatever their scope.
fn names_of(facts: &Facts) -> BTreeSet<&str> {
    names_without(facts, |_| false)
}

/// The names that functions of a file can use without a receiver, as far as the language decides it.
fn bare_names_of(facts: &Facts) -> BTreeSet<&str> {
    use DefinitionKind::{Field, Method};
    use Language::{JavaScript, Python, Tsx, TypeScript};
    let needs_receiver = matches!(facts.language, JavaScript | Python | Tsx | TypeScript);
    names_without(facts, |definition| {
        needs_receiver && matches!(definition.kind, Field | Method) && definition.container.is_some()
    })
}

fn names_without(facts: &Facts, is_left_out: impl Fn(&Definition) -> bool) -> BTreeSet<&str> {
    let definitions = facts.definitions.iter().filter(|definition| !is_left_out(definition));
    let imported = facts.imports.iter().filter(|import| !is_own_export(import)).flat_map(|import| {
        let parts = import.module.split(['.', ':', '/', '\\']);
        bound_by(facts.language, import).chain(parts)
    });
    definitions.map(|definition| &*definition.name).chain(imported).collect()
}

/// The names that an import certainly binds.
fn bound_by(language: Language, import: &Import) -> impl Iterator<Item = &str> {
    let names = import.names.iter().map(|name| &*name.local);
    let is_whole = import.names.is_empty() && import.alias.is_none() && !import.glob;
    let module = match language {
        Language::Go | Language::Java | Language::Kotlin => import.module.rsplit(['/', '.']).next(),
        Language::Python => import.module.split('.').next(),
        _ => None,
    };
    names.chain(import.alias.as_deref()).chain(module.filter(|name| is_whole && !name.is_empty()))
}

/// Returns the first name of a use: `a` of `a`, `a.b()` and `a::b`.
fn root_name(used: &Use) -> Option<&str> {
    if matches!(used.role, Role::Quoted | Role::Override | Role::Conform | Role::Key) {
        return None;
    }
    match &used.of {
        None => Some(&used.name),
        Some(shape) => root_of(shape),
    }
}

fn root_of(shape: &Shape) -> Option<&str> {
    match shape {
        Shape::Name(path) => path.split(['.', ':']).next(),
        Shape::Member(of, _) | Shape::Call(of) | Shape::Element(of) | Shape::Awaited(of) => root_of(of),
        _ => None,
    }
}
