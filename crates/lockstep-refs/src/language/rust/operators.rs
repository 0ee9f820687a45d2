//! Uses of traits that need no name: operators, placeholders of formatted texts, and methods of derived traits.

use std::cell::RefCell;
use std::rc::Rc;

use foldhash::HashMap;

use super::extractor::{Reader, Source, read_with_operators};
use super::modules::{Module, Project};
use super::names::{Entity, Found};
use super::values::Ty;
use crate::facts::{DefinitionKind, Facts, Role, Shape, Use};
use crate::language::Language;
use crate::memo::Memo;
use crate::world::{FileId, World};

/// The pointers that are cloned without a clone of their content.
const SHARED: [&str; 5] = ["Arc", "Rc", "Weak", "Sender", "PhantomData"];

impl Reader {
    /// Records a comparison as a use of both operands.
    pub(super) fn compared(&mut self, operator: &str, line: u32, operands: [&Shape; 2]) {
        let name = match operator {
            "==" | "!=" => "==",
            "<" | "<=" | ">" | ">=" => "<",
            _ => return,
        };
        if self.notes_operators {
            operands.into_iter().for_each(|of| self.put(name, line, Role::Call, Some(of.clone()), None));
        }
    }

    /// Records the arguments that a macro formats or compares.
    pub(super) fn formatted(&mut self, name: &str, inner: Source<'_>) {
        if !self.notes_operators {
            return;
        }
        let arguments = split_arguments(inner.text);
        let is_comparison = name.ends_with("assert_eq") || name.ends_with("assert_ne");
        if is_comparison {
            for (text, before) in arguments.iter().take(2) {
                let Some(of) = self.shape_of(text, lines_before(inner, *before)) else { continue };
                for used in ["==", "{:?}"] {
                    self.put(used, lines_before(inner, *before) + 1, Role::Call, Some(of.clone()), None);
                }
            }
            return;
        }
        let is_text = |text: &str| text.trim_start().starts_with('"');
        let Some(at) = arguments.iter().position(|(text, _)| is_text(text)) else { return };
        let (text, start) = arguments[at];
        let mut next = at + 1;
        for placeholder in placeholders(text) {
            let (written, format) = placeholder.split_once(':').unwrap_or((placeholder, ""));
            let used = if format.ends_with('?') { "{:?}" } else { "{}" };
            let positional = || arguments.get(next).copied();
            let (argument, start) = match written.trim() {
                "" => {
                    let Some(argument) = positional() else { continue };
                    next += 1;
                    argument
                }
                number if number.starts_with(|c: char| c.is_ascii_digit()) => {
                    let at = number.parse::<usize>().ok().map(|number| at + 1 + number);
                    let Some(argument) = at.and_then(|at| arguments.get(at)) else { continue };
                    *argument
                }
                name => (named_argument(&arguments, name).unwrap_or(name), start),
            };
            let line = lines_before(inner, start);
            if let Some(of) = self.shape_of(argument, line) {
                self.put(used, line + 1, Role::Call, Some(of), None);
            }
        }
    }

    /// Returns the shape of an expression in a macro's brackets. Its own uses are not recorded.
    fn shape_of(&mut self, text: &str, line: u32) -> Option<Shape> {
        let first = self.facts.uses.len();
        self.argument = Shape::Unknown;
        let is_read = self.reread(Source { text: text.trim(), line }, "fn f(){g(", ");}", false);
        self.facts.uses.truncate(first);
        let shape = std::mem::replace(&mut self.argument, Shape::Unknown);
        is_read.then_some(shape)
    }
}

/// The number of lines of the file before a position in a macro's brackets.
fn lines_before(inner: Source<'_>, at: usize) -> u32 {
    let text = inner.text.get(..at).unwrap_or(inner.text);
    // An argument may begin with the end of the line before it.
    let rest = inner.text.get(at..).unwrap_or_default();
    let blank = &rest[..rest.len() - rest.trim_start().len()];
    let count = |text: &str| u32::try_from(text.matches('\n').count()).unwrap_or_default();
    inner.line + count(text) + count(blank)
}

/// The value of `name = value` among a macro's arguments.
fn named_argument<'t>(arguments: &[(&'t str, usize)], name: &str) -> Option<&'t str> {
    arguments.iter().find_map(|(text, _)| {
        let (left, right) = text.split_once('=')?;
        (left.trim() == name && !right.starts_with('=')).then_some(right)
    })
}

/// The arguments of a macro, each with its position in the text.
fn split_arguments(text: &str) -> Vec<(&str, usize)> {
    let mut found = Vec::new();
    let (mut depth, mut start, mut in_text, mut is_escaped) = (0_usize, 0, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => in_text = !in_text,
            _ if in_text => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.push((&text[start..at], start));
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        found.push((&text[start..], start));
    }
    found
}

/// The contents of the braces in a format string.
fn placeholders(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        rest = &rest[open + 1..];
        if let Some(after) = rest.strip_prefix('{') {
            rest = after;
        } else if let Some(close) = rest.find('}') {
            found.push(&rest[..close]);
            rest = &rest[close + 1..];
        }
    }
    found
}

/// The type whose traits are searched, and the uses of one trait.
pub(crate) struct TraitUses<'a> {
    pub(crate) file: FileId,
    /// The name of the type and its container in the file.
    pub(crate) name: &'a str,
    pub(crate) container: Option<&'a str>,
    /// Methods of values, and operators.
    pub(crate) methods: &'a [&'a str],
    /// Functions of the type.
    pub(crate) functions: &'a [&'a str],
    /// Methods of an error in a `Result`.
    pub(crate) of_error: &'a [&'a str],
    /// Set if a collection of the type's values has the trait through them.
    pub(crate) is_deep: bool,
}

/// The uses of files with their operators.
#[derive(Default)]
struct Operators(RefCell<HashMap<FileId, Option<Rc<Facts>>>>);

/// Returns the uses of a file with its operators. A file is read once for all traits.
fn with_operators(world: &dyn World, file: FileId) -> Option<Rc<Facts>> {
    let known = Memo::part::<Operators>(world, Language::Rust);
    if let Some(facts) = known.0.borrow().get(&file) {
        return facts.clone();
    }
    let facts = world.text(file).and_then(|text| read_with_operators(&text)).map(Rc::new);
    known.0.borrow_mut().insert(file, facts.clone());
    facts
}

/// Returns the lines of a file that use a trait on the type, with the name of each use.
pub(crate) fn trait_uses(world: &dyn World, file: FileId, wanted: &TraitUses<'_>) -> Vec<(u32, Box<str>)> {
    let Some(facts) = with_operators(world, file) else { return Vec::new() };
    let project = Project::new(world);
    let Some(sheet) = project.sheet(wanted.file) else { return Vec::new() };
    let is_type = |index: &&u32| {
        let definition = &sheet.facts.definitions[**index as usize];
        definition.kind == DefinitionKind::Type && definition.container.as_deref() == wanted.container
    };
    let Some(index) = sheet.defined(wanted.name).iter().find(is_type).copied() else { return Vec::new() };
    let owner = Owner { project: &project, file: wanted.file, index };
    let mut found = Vec::new();
    for used in &facts.uses {
        let is_listed = |names: &[&str]| names.contains(&&*used.name);
        let Some(of) = used.of.as_ref() else { continue };
        if !is_listed(wanted.methods) && !is_listed(wanted.functions) && !is_listed(wanted.of_error) {
            continue;
        }
        let within = used.within.and_then(|at| facts.definitions.get(at as usize));
        let module = within.map_or(Module::of_file(file), |definition| project.module_of(file, definition));
        let is_of_type = match of {
            Shape::Name(path) if owner.is_named(&module, path) => !is_operator(used),
            Shape::Name(_) if is_listed(wanted.functions) => false,
            of => {
                let ty = project.type_of(&module, of);
                is_listed(wanted.methods)
                    && match wanted.is_deep {
                        true => owner.is_inside(&ty, &used.name, 0),
                        false => owner.is(&project.value(&ty)),
                    }
                    || is_listed(wanted.of_error) && owner.is_error_of(&ty)
            }
        };
        if is_of_type {
            found.push((used.line, used.name.clone()));
        }
    }
    found
}

fn is_operator(used: &Use) -> bool {
    !used.name.starts_with(|c: char| c.is_alphabetic())
}

/// The type whose uses are searched.
struct Owner<'p, 'w> {
    project: &'p Project<'w>,
    file: FileId,
    index: u32,
}

impl Owner<'_, '_> {
    fn is_named(&self, module: &Module, path: &str) -> bool {
        let is_owner = |candidate: &Found| matches!(candidate.entity, Entity::Item(file, index) if (file, index) == (self.file, self.index));
        self.project.resolve(module, path).iter().any(is_owner)
    }

    fn is(&self, ty: &Ty) -> bool {
        let Ty::Own(file, index, _) = ty else { return false };
        if (*file, *index) == (self.file, self.index) {
            return true;
        }
        let Some(sheet) = self.project.sheet(*file) else { return false };
        let definition = &sheet.facts.definitions[*index as usize];
        definition.kind == DefinitionKind::Variant
            && self.project.owner(*file, definition) == Some((self.file, self.index))
    }

    /// Returns true if a value of a type contains values of the searched type that the use needs.
    fn is_inside(&self, ty: &Ty, used: &str, steps: usize) -> bool {
        if steps > 4 {
            return false;
        }
        match ty {
            Ty::Own(..) => self.is(ty),
            Ty::Outside(name, _) if used.starts_with("clone") && SHARED.contains(&&**name) => false,
            Ty::Outside(_, inner) | Ty::Tuple(inner) => {
                inner.iter().any(|type_| self.is_inside(type_, used, steps + 1))
            }
            Ty::Slice(inner) => self.is_inside(inner, used, steps + 1),
            _ => false,
        }
    }

    fn is_error_of(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Outside(name, inner) if &**name == "Result" => {
                inner.get(1).is_some_and(|type_| self.is(type_))
            }
            _ => false,
        }
    }
}
