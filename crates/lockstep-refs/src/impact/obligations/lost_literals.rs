//! String literals that a type no longer accepts: a literal was removed from a union, or a key from a type whose keys are taken by
//! `keyof`.
//!
//! The type is followed through the definitions that carry it: aliases, fields, variables, parameters and results. A literal is reported
//! where one of them expects it.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use super::super::tree::{Source, ancestors, descendants};
use super::unions::literals;
use super::{Search, Unmet};
use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Definition, DefinitionKind, Facts, Role};
use crate::language::Language;
use crate::limits::Limit;
use crate::reference::Kind;
use crate::resolve::path_of;
use crate::signature;
use crate::syntax::line_of;
use crate::world::{FileId, words};

/// The maximum number of definitions between the type and a place.
const MAX_STEPS: usize = 3;

/// A literal that values of a type can no longer be.
struct Lost<'a> {
    owner: &'a Definition,
    literal: Box<str>,
    /// Set if the literal is the name of a member, so that only types with `keyof` accept it.
    is_key: bool,
}

impl Lost<'_> {
    /// Returns true if the text of a file contains the literal in quotes, or as a key of an object that is declared to have such keys.
    fn may_be_in(&self, search: &Search<'_>, file: FileId) -> bool {
        let Some(text) = search.world.text(file) else { return false };
        let is_quoted = |(at, _): (usize, &str)| {
            let before = text[..at].chars().next_back();
            let after = text[at + self.literal.len()..].chars().next();
            before == after && before.is_some_and(|c| "\"'`".contains(c))
        };
        let is_declared = is_keyed_by(&text) && text.contains(&*self.literal);
        is_declared || text.match_indices(&*self.literal).any(is_quoted)
    }
}

pub(super) fn find(
    search: &Search<'_>,
    (old, former): (&Facts, &str),
    (new, now): (&Facts, &str),
    changes: &[SymbolChange],
    found: &mut Vec<Unmet>,
) {
    use Language::{Python, Tsx, TypeScript};
    if !matches!(new.language, Python | Tsx | TypeScript) {
        return;
    }
    let has_keys = !search.world.containing("keyof").is_empty();
    for lost in lost_literals((old, former), (new, now), changes) {
        if lost.is_key && !has_keys {
            continue;
        }
        let places = Places::new(search, &lost);
        for (file, names) in places.files.iter().filter(|(file, _)| lost.may_be_in(search, **file)) {
            let Some(source) = search.trees.get(*file) else { continue };
            for node in source.nodes(&["string", "property_identifier"]) {
                let is_key = node.kind() == "property_identifier";
                let is_written = source.text(node).trim_matches(['"', '\'', '`']) == &*lost.literal;
                if is_written && names.expect(search, &source, node, is_key) {
                    found.push(Unmet {
                        file: *file,
                        line: line_of(node),
                        pattern: lost.literal.clone(),
                        reason: format!("{} has no {} any more", lost.owner.name, lost.literal),
                        owner: path_of(lost.owner),
                    });
                }
            }
        }
    }
}

fn lost_literals<'a>(
    (old, former): (&Facts, &str),
    (new, now): (&'a Facts, &str),
    changes: &[SymbolChange],
) -> Vec<Lost<'a>> {
    let mut found = Vec::new();
    for owner in &new.definitions {
        let same = |definition: &&Definition| {
            definition.kind == owner.kind
                && definition.name == owner.name
                && definition.container == owner.container
        };
        let after = literals(now, owner);
        let was = old.definitions.iter().find(same).filter(|_| !after.is_empty());
        let before = was.map(|was| literals(former, was)).unwrap_or_default();
        let lost = before.into_iter().filter(|name| !after.contains(name));
        found.extend(lost.map(|name| Lost { owner, literal: name.into(), is_key: false }));
        let path = path_of(owner);
        let is_gone = |change: &&SymbolChange| {
            matches!(change.what, DefinitionChangeKind::Removed | DefinitionChangeKind::Renamed(_))
                && change.was.container.as_deref() == Some(&*path)
                && matches!(change.was.kind, DefinitionKind::Field | DefinitionKind::Method)
        };
        let keys = changes.iter().filter(is_gone).filter(|_| new.language != Language::Python);
        found.extend(keys.map(|change| Lost { owner, literal: change.was.name.clone(), is_key: true }));
    }
    found
}

/// The places that may expect a lost literal, by file.
struct Places {
    files: BTreeMap<FileId, Names>,
}

/// The line of a use, and its text.
type Place = (u32, Box<str>);
/// The position of a parameter, and its name.
type Slot = (usize, Box<str>);

/// The names in one file that have to do with the type.
#[derive(Default)]
struct Names {
    /// The names of the type and of its aliases.
    types: BTreeSet<Box<str>>,
    /// The names of types whose keys are meant: only with `keyof`.
    keyed: BTreeSet<Box<str>>,
    /// The uses of fields, variables and functions that have the type.
    values: BTreeSet<Place>,
    /// The uses of functions with a parameter of the type, with the positions and names of these parameters.
    calls: BTreeMap<Place, Vec<Slot>>,
}

impl Places {
    fn new(search: &Search<'_>, lost: &Lost<'_>) -> Self {
        let mut places = Self { files: BTreeMap::new() };
        let mut open = vec![(search.file, lost.owner.clone(), lost.is_key)];
        let mut seen: BTreeSet<(FileId, String)> = BTreeSet::new();
        for _ in 0..MAX_STEPS {
            let mut next = Vec::new();
            for (file, carrier, is_keyed) in std::mem::take(&mut open) {
                if seen.insert((file, path_of(&carrier))) {
                    next.extend(places.add(search, file, &carrier, is_keyed));
                }
            }
            open = next;
        }
        if open.iter().any(|(file, carrier, _)| !seen.contains(&(*file, path_of(carrier)))) {
            Limit::Hops.reach();
        }
        places
    }

    /// Adds the uses of a definition that carries the type. Returns the definitions that carry it because of them.
    fn add(
        &mut self,
        search: &Search<'_>,
        file: FileId,
        carrier: &Definition,
        is_keyed: bool,
    ) -> Vec<(FileId, Definition, bool)> {
        use DefinitionKind::{Field, Interface, Type};
        let is_type = matches!(carrier.kind, Type | Interface) || is_alias(search, file, carrier);
        let mut lines: BTreeMap<FileId, BTreeSet<u32>> = BTreeMap::new();
        self.name_type(file, &carrier.name, is_type || is_keyed, is_keyed);
        for reference in search.references(file, std::slice::from_ref(carrier)) {
            let names = self.files.entry(reference.file).or_default();
            let place = (reference.line, reference.pattern.clone());
            if is_type || is_keyed {
                let set = if is_keyed { &mut names.keyed } else { &mut names.types };
                set.insert(reference.pattern.clone());
                if reference.kind != Kind::Import {
                    lines.entry(reference.file).or_default().insert(reference.line);
                }
            } else if carrier.arity.is_some() && carrier.kind != Field && reference.role == Role::Call {
                let taken = self.accepting_parameters(search, file, carrier);
                self.files.entry(reference.file).or_default().calls.insert(place, taken);
            } else {
                names.values.insert(place);
            }
        }
        let mut carriers = Vec::new();
        for (user, lines) in lines {
            let Some(facts) = search.world.facts(user) else { continue };
            let Some(text) = search.world.text(user) else { continue };
            for definition in &facts.definitions {
                let is_near = lines.iter().any(|line| (definition.line..=definition.end_line).contains(line));
                if is_near && self.is_carried(user, definition, &text) {
                    carriers.push((user, definition.clone(), false));
                }
            }
        }
        carriers
    }

    fn name_type(&mut self, file: FileId, name: &str, is_type: bool, is_keyed: bool) {
        let names = self.files.entry(file).or_default();
        if is_type {
            let set = if is_keyed { &mut names.keyed } else { &mut names.types };
            set.insert(name.into());
        }
    }

    /// Returns true if the declared type of a definition contains the type.
    fn is_carried(&self, file: FileId, definition: &Definition, text: &str) -> bool {
        use DefinitionKind::{Field, Function, Method, Type, Value};
        let Some(names) = self.files.get(&file) else { return false };
        match definition.kind {
            Function | Method => names.have_type(&definition.header.replace(crate::syntax::TOKEN_END, " ")),
            Field | Value | Type => {
                let lines = text.lines().skip(definition.line.saturating_sub(1) as usize);
                let own: Vec<&str> =
                    lines.take((definition.end_line - definition.line + 1) as usize).collect();
                let is_alias = own.first().is_some_and(|line| words(line).any(|word| word == "type"));
                let is_member = definition.kind == Field || definition.kind == Value;
                (is_alias || is_member)
                    && names.have_type(&declared_part(&own.join(" "), &definition.name, is_alias))
            }
            _ => false,
        }
    }

    /// The positions and names of the parameters of a function that have the type.
    fn accepting_parameters(&self, search: &Search<'_>, file: FileId, function: &Definition) -> Vec<Slot> {
        let (Some(names), Some(facts)) = (self.files.get(&file), search.world.facts(file)) else {
            return Vec::new();
        };
        let parameters = signature::parameters(facts.language, function);
        let typed = parameters.into_iter().enumerate().filter(|(_, (_, type_))| names.have_type(type_));
        typed.map(|(at, (name, _))| (at, name.into())).collect()
    }
}

/// Returns true if a definition of Python is an alias of a type: `Mode = Literal["r", "w"]`.
fn is_alias(search: &Search<'_>, file: FileId, definition: &Definition) -> bool {
    let text = search.world.text(file);
    let line = text.as_ref().and_then(|text| text.lines().nth(definition.line.saturating_sub(1) as usize));
    Language::of(search.world.path(file)) == Language::Python
        && definition.kind == DefinitionKind::Value
        && line.is_some_and(|line| line.contains("Literal["))
}

/// Returns the part of a definition that declares its type.
fn declared_part(text: &str, name: &str, is_alias: bool) -> String {
    let after = text.split_once(name).map_or(text, |(_, after)| after);
    match is_alias {
        true => after.to_owned(),
        false => after.split(['=', ',', ';', '}']).next().unwrap_or_default().to_owned(),
    }
}

impl Names {
    fn have_type(&self, declared: &str) -> bool {
        let has = |set: &BTreeSet<Box<str>>| words(declared).any(|word| set.contains(word));
        has(&self.types) || declared.contains("keyof") && has(&self.keyed)
    }

    /// Returns true if the type is expected where a literal is written.
    fn expect(&self, search: &Search<'_>, source: &Source, literal: Node<'_>, is_key: bool) -> bool {
        let mut is_key = is_key;
        let mut inner = literal;
        for node in ancestors(literal).take(10) {
            match node.kind() {
                "pair" => {
                    let key = node.child_by_field_name("key");
                    is_key |= key == Some(inner);
                    if !is_key {
                        let is_field = key.is_some_and(|key| self.is_value(source, key));
                        if is_field {
                            return true;
                        }
                    }
                }
                "array" | "list" | "tuple" | "object" | "dictionary" | "parenthesized_expression" => {}
                "ternary_expression" | "conditional_expression" | "keyword_argument" => {}
                "arguments" | "argument_list" => {
                    return !is_key && self.is_taken(search, source, node, inner);
                }
                "as_expression" | "satisfies_expression" => {
                    let text = source.text(node);
                    if self.have_type(text) && (!is_key || is_keyed_by(text)) {
                        return true;
                    }
                }
                "binary_expression" | "comparison_operator" => {
                    let is_compared = source.text(node).contains("==") || source.text(node).contains("!=");
                    if is_compared {
                        let others = node.named_children(&mut node.walk()).collect::<Vec<_>>();
                        return others
                            .into_iter()
                            .any(|other| other != inner && self.has_value(source, other));
                    }
                }
                "switch_case" | "case_clause" => return self.is_matched(source, node),
                "case_pattern" | "literal_pattern" | "switch_body" | "block" => {}
                "assignment_expression" => {
                    let left = node.child_by_field_name("left");
                    return !is_key
                        && left.is_some_and(|child| child != inner && self.has_value(source, child));
                }
                "variable_declarator"
                | "public_field_definition"
                | "required_parameter"
                | "optional_parameter"
                | "assignment"
                | "typed_default_parameter" => {
                    let declared =
                        node.child_by_field_name("type").map_or("", |annotation| source.text(annotation));
                    let left = node.child_by_field_name("left").filter(|_| declared.is_empty());
                    let is_assigned = !is_key && left.is_some_and(|child| self.has_value(source, child));
                    return is_assigned || self.have_type(declared) && (!is_key || is_keyed_by(declared));
                }
                "return_statement" | "arrow_function" => {
                    let function = match node.kind() {
                        "arrow_function" => Some(node),
                        _ => ancestors(node)
                            .find(|ancestor| ancestor.child_by_field_name("parameters").is_some()),
                    };
                    let result = function.and_then(|function| function.child_by_field_name("return_type"));
                    return !is_key && result.is_some_and(|result| self.have_type(source.text(result)));
                }
                "jsx_attribute" => {
                    return node
                        .named_child(0)
                        .is_some_and(|child| child != inner && self.is_value(source, child));
                }
                _ => return false,
            }
            inner = node;
        }
        false
    }

    /// Returns true if a leaf is a use of a value of the type.
    fn is_value(&self, source: &Source, leaf: Node<'_>) -> bool {
        self.values.contains(&(line_of(leaf), source.text(leaf).trim_matches(['"', '\'']).into()))
    }

    /// Returns true if an expression is a value of the type: a use of one, or a variable that is declared so.
    fn has_value(&self, source: &Source, expression: Node<'_>) -> bool {
        let is_leaf = |node: &Node<'_>| node.child_count() == 0 && node.is_named();
        let Some(last) = descendants(expression).into_iter().rfind(is_leaf) else { return false };
        let name = source.text(last);
        if self.is_value(source, last) {
            return true;
        }
        let kinds = ["required_parameter", "optional_parameter", "variable_declarator", "typed_parameter"];
        expression == last
            && source.nodes(&kinds).into_iter().any(|node| {
                let declared =
                    node.child_by_field_name("type").map_or("", |annotation| source.text(annotation));
                source.text(node).trim_start().starts_with(name) && self.have_type(declared)
            })
    }

    /// Returns true if an argument is given for a parameter of the type.
    fn is_taken(&self, search: &Search<'_>, source: &Source, list: Node<'_>, argument: Node<'_>) -> bool {
        let Some(call) = list.parent() else { return false };
        let callee = call.child_by_field_name("function").or_else(|| call.child_by_field_name("constructor"));
        let leaves = callee.map(descendants).unwrap_or_default();
        let Some(name) = leaves.into_iter().rfind(|leaf| leaf.child_count() == 0 && leaf.is_named()) else {
            return false;
        };
        let at = list.named_children(&mut list.walk()).position(|child| child == argument);
        let keyword = argument.child_by_field_name("name").map(|name| source.text(name));
        let is_it = |(position, named): &Slot| match keyword {
            Some(keyword) => **named == *keyword,
            None => Some(*position) == at,
        };
        let place = (line_of(name), source.text(name).into());
        let is_known = self.calls.get(&place).is_some_and(|taken| taken.iter().any(is_it));
        is_known || !self.keyed.is_empty() && takes_keys(search, source.text(name))
    }

    fn is_matched(&self, source: &Source, case: Node<'_>) -> bool {
        let kinds = ["switch_statement", "match_statement"];
        let Some(matched) = ancestors(case).find(|ancestor| kinds.contains(&ancestor.kind())) else {
            return false;
        };
        let value = matched.child_by_field_name("value").or_else(|| matched.child_by_field_name("subject"));
        let inside = |node: Node<'_>| match node.kind() {
            "parenthesized_expression" => {
                node.named_child(0).is_some_and(|child| self.has_value(source, child))
            }
            _ => self.has_value(source, node),
        };
        value.is_some_and(inside)
    }
}

/// Returns true if the keys of an object are declared by the type.
fn is_keyed_by(declared: &str) -> bool {
    declared.contains("Record<") || declared.contains(" in ")
}

/// Returns true if every function of a name takes keys of another argument: `K extends keyof T`.
fn takes_keys(search: &Search<'_>, name: &str) -> bool {
    let files = search.world.defining(name);
    let facts: Vec<_> = files.into_iter().filter_map(|file| search.world.facts(file)).collect();
    let mut functions = facts
        .iter()
        .flat_map(|facts| &facts.definitions)
        .filter(|definition| *definition.name == *name && definition.arity.is_some())
        .peekable();
    functions.peek().is_some() && functions.all(|definition| definition.header.contains("keyof"))
}
