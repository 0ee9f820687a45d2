//! Types of functions that take another number of parameters now: calls through a value of the type, and functions that are given for
//! one.

mod nodes;
mod written;

use tree_sitter::Node;

use super::super::tree::{Source, ancestors, descendants};
use super::{Search, Unmet};
use crate::facts::{Arity, Definition, DefinitionKind, Facts, Role};
use crate::language::Language;
use crate::limits::Limit;
use crate::package::is_type;
use crate::resolve::path_of;
use crate::signature;
use crate::syntax::{TOKEN_END, children, line_of};
use crate::world::FileId;
pub(super) use nodes::declaration;
use nodes::{
    arguments, callee, declared_name, given_to, is_continued, lambda_parameters, parameters_of,
    returned_values,
};
use written::{result_of, written_result};

/// The number of parameters that no function has.
const NO_FUNCTION: Arity = Arity { least: u16::MAX, most: Some(u16::MAX) };
/// A name that more files contain is looked up in the first ones only.
const MAX_FILES: usize = 50;
const CALLS: &[&str] =
    &["call_expression", "invocation_expression", "method_invocation", "object_creation_expression"];
const LAMBDAS: &[&str] =
    &["arrow_function", "function_expression", "func_literal", "lambda_literal", "lambda_expression"];
const NAMES: &[&str] =
    &["identifier", "simple_identifier", "field_identifier", "property_identifier", "type_identifier"];
const PARAMETERS: &[&str] =
    &["required_parameter", "optional_parameter", "parameter_declaration", "parameter", "formal_parameter"];
/// Variables and fields, each with its value.
const VARIABLES: &[&str] = &[
    "class_parameter",
    "declaration",
    "event_field_declaration",
    "field_declaration",
    "local_declaration_statement",
    "local_variable_declaration",
    "property_declaration",
    "property_signature",
    "public_field_definition",
    "var_spec",
    "variable_declarator",
];
const FUNCTIONS: &[&str] = &[
    "constructor_declaration",
    "function_declaration",
    "function_definition",
    "local_function_statement",
    "method_declaration",
    "method_definition",
];

/// A type of functions with another number of parameters.
struct FunctionType<'d> {
    owner: &'d Definition,
    takes: Arity,
    /// The result that its functions of Go must have, if it changed.
    gives: Option<String>,
    language: Language,
}

/// Adds the places that do not fit a function type of the file any more.
pub(super) fn find(search: &Search<'_>, (old, former): (&Facts, &str), new: &Facts, found: &mut Vec<Unmet>) {
    let mut before = None;
    let present = search.world.text(search.file).unwrap_or_default();
    for owner in new.definitions.iter().filter(|definition| is_type(definition)) {
        let same = |definition: &&Definition| {
            definition.kind == owner.kind
                && definition.name == owner.name
                && definition.container == owner.container
        };
        let was = old.definitions.iter().find(same);
        let lines = text_of(&present, owner);
        let was =
            was.filter(|was| may_be_function(new.language, owner, &lines) && text_of(former, was) != lines);
        let Some(was) = was else { continue };
        let Some(now) = search.trees.get(search.file) else { return };
        let takes = parameters_of(&now, owner);
        // An interface of Java with several methods is none of functions.
        let takes = takes.or((new.language == Language::Java).then_some(NO_FUNCTION));
        let Some(takes) = takes else { continue };
        let before = before.get_or_insert_with(|| Source::new(now.language, former.into()));
        let taken = before.as_ref().and_then(|before| parameters_of(before, was));
        let gave = before.as_ref().and_then(|before| result_of(before, was));
        let gives = result_of(&now, owner).filter(|result_of| gave.is_some_and(|gave| gave != *result_of));
        if taken.is_some_and(|taken| taken != takes) || gives.is_some() {
            FunctionType { owner, takes, gives, language: new.language }.check(search, found);
        }
    }
}

/// Returns the lines of a definition.
fn text_of<'t>(text: &'t str, definition: &Definition) -> Vec<&'t str> {
    let lines = text.lines().skip(definition.line.saturating_sub(1) as usize);
    lines.take((definition.end_line - definition.line + 1) as usize).collect()
}

/// Returns true if a type may be one of functions, by its text. Only then is a file parsed.
fn may_be_function(language: Language, owner: &Definition, lines: &[&str]) -> bool {
    let first = lines.first().copied().unwrap_or_default();
    let is_alias = crate::world::words(first).any(|word| matches!(word, "type" | "typealias" | "typedef"));
    let marks = ["=>", "->", "func(", "func ("];
    first.contains("delegate ")
        || first.contains("(*")
        || first.trim_start().starts_with("typedef") && first.contains('(')
        || language == Language::Java && owner.kind == DefinitionKind::Interface
        || is_alias && lines.iter().any(|line| marks.iter().any(|mark| line.contains(mark)))
}

impl FunctionType<'_> {
    fn check(&self, search: &Search<'_>, found: &mut Vec<Unmet>) {
        if self.takes == NO_FUNCTION && has_mark(self.owner) {
            found.push(self.unmet_at(search.file, self.owner.line));
        }
        for reference in search.references(search.file, std::slice::from_ref(self.owner)) {
            let Some(source) = search.trees.get(reference.file) else { continue };
            for leaf in source.leaves(reference.line, &reference.pattern) {
                let returned = returned_values(leaf).into_iter();
                let misfits = returned.filter(|returned| self.is_misfit(search, &source, *returned));
                found.extend(misfits.map(|misfit| self.unmet(reference.file, misfit)));
                let Some(place) = declaration(leaf) else { continue };
                let Some(name) = declared_name(self.language, leaf, place) else { continue };
                let mut misfits = self.misfitting_calls(&source, place, source.text(name));
                misfits.extend(self.misfitting_values(search, &source, place));
                found.extend(misfits.into_iter().map(|misfit| self.unmet(reference.file, misfit)));
                match PARAMETERS.contains(&place.kind()) {
                    true => self.check_arguments(search, reference.file, &source, place, found),
                    false => {
                        self.check_field(search, reference.file, (line_of(name), source.text(name)), found)
                    }
                }
            }
        }
    }

    fn unmet(&self, file: FileId, node: Node<'_>) -> Unmet {
        self.unmet_at(file, line_of(node))
    }

    fn unmet_at(&self, file: FileId, line: u32) -> Unmet {
        Unmet {
            file,
            line,
            pattern: self.owner.name.clone(),
            reason: match self.takes == NO_FUNCTION {
                true => format!("{} is not a functional interface any more", self.owner.name),
                false if self.gives.is_some() => format!("{} has another result", self.owner.name),
                false => format!("{} now takes {} arguments", self.owner.name, self.takes.least),
            },
            owner: path_of(self.owner),
        }
    }

    /// The calls through a declared name. The calls of an interface of Java are calls of its method.
    fn misfitting_calls<'s>(&self, source: &'s Source, place: Node<'s>, name: &str) -> Vec<Node<'s>> {
        if self.language == Language::Java {
            return Vec::new();
        }
        let is_parameter = PARAMETERS.contains(&place.kind());
        let function = ancestors(place).find(|ancestor| {
            FUNCTIONS.contains(&ancestor.kind())
                || LAMBDAS.contains(&ancestor.kind())
                || ancestor.kind() == "source_file"
        });
        let scope = function.filter(|_| is_parameter).unwrap_or(source.root());
        let is_misfit = |call: &Node<'_>| {
            callee(*call).is_some_and(|node| source.text(node) == name) && !self.fits_call(*call)
        };
        let calls = descendants(scope).into_iter().filter(|descendant| CALLS.contains(&descendant.kind()));
        calls.filter(is_misfit).collect()
    }

    /// The functions that a declaration gives to its variable.
    fn misfitting_values<'s>(
        &self,
        search: &Search<'_>,
        source: &'s Source,
        place: Node<'s>,
    ) -> Vec<Node<'s>> {
        let whole = ancestors(place)
            .take(2)
            .find(|ancestor| ancestor.kind() == "property_declaration")
            .unwrap_or(place);
        let is_outermost = |node: &Node<'_>| {
            let mut around = ancestors(*node).take_while(|around| *around != whole);
            !around.any(|around| CALLS.contains(&around.kind()) || LAMBDAS.contains(&around.kind()))
        };
        let is_value = |node: &Node<'_>| {
            let around = node.parent();
            let given = around.and_then(|around| around.child_by_field_name("value"));
            LAMBDAS.contains(&node.kind())
                || node.kind() == "method_reference"
                || NAMES.contains(&node.kind()) && given == Some(*node)
        };
        let values = descendants(whole)
            .into_iter()
            .filter(|descendant| is_value(descendant) && is_outermost(descendant));
        values.filter(|value| self.is_misfit(search, source, *value)).collect()
    }

    /// Adds the arguments that calls of a function pass for one of its parameters.
    fn check_arguments(
        &self,
        search: &Search<'_>,
        file: FileId,
        source: &Source,
        parameter: Node<'_>,
        found: &mut Vec<Unmet>,
    ) {
        arguments_for(search, file, source, parameter, &mut |file, source, value| {
            if self.is_misfit(search, source, value) {
                found.push(self.unmet(file, value));
            }
        });
    }

    /// Adds the calls through a field, and the functions that are given to it.
    fn check_field(
        &self,
        search: &Search<'_>,
        file: FileId,
        (line, name): (u32, &str),
        found: &mut Vec<Unmet>,
    ) {
        let Some(facts) = search.world.facts(file) else { return };
        let is_field = |definition: &&Definition| {
            matches!(definition.kind, DefinitionKind::Field | DefinitionKind::Value)
                && *definition.name == *name
                && (definition.line..=definition.end_line).contains(&line)
        };
        let Some(field) = facts.definitions.iter().find(is_field) else { return };
        for reference in search.references(file, std::slice::from_ref(field)) {
            let Some(source) = search.trees.get(reference.file) else { continue };
            for leaf in source.leaves(reference.line, name) {
                let given = given_to(leaf).filter(|node| self.is_misfit(search, &source, *node));
                let call = ancestors(leaf).take(3).find(|ancestor| CALLS.contains(&ancestor.kind()));
                let call = call.filter(|call| callee(*call) == Some(leaf) && !self.fits_call(*call));
                let call = call.filter(|_| self.language != Language::Java);
                found.extend(given.or(call).map(|node| self.unmet(reference.file, node)));
            }
        }
    }

    fn fits_call(&self, call: Node<'_>) -> bool {
        let is_statement = call.parent().is_some_and(|parent| parent.kind() == "expression_statement");
        if self.gives.is_some() && !is_statement {
            return false;
        }
        u16::try_from(arguments(call).len()).is_ok_and(|count| self.takes.takes(count))
    }

    /// Returns true if a function is given that takes another number of parameters.
    fn is_misfit(&self, search: &Search<'_>, source: &Source, value: Node<'_>) -> bool {
        if LAMBDAS.contains(&value.kind()) {
            let gives = written_result(source, value);
            if self.gives.as_ref().is_some_and(|name| *name != gives) {
                return true;
            }
            return lambda_parameters(value)
                .is_some_and(|count| !self.accepts(Arity { least: count, most: Some(count) }));
        }
        if value.kind() == "method_reference" {
            return self.takes == NO_FUNCTION || self.rejects_method(search, source.text(value));
        }
        let name = source.text(value);
        // Java and Kotlin name a function otherwise.
        let is_name =
            NAMES.contains(&value.kind()) && !matches!(self.language, Language::Java | Language::Kotlin);
        if !is_name || is_variable(source, name) {
            return false;
        }
        let files = Limit::Files.take(search.world.containing(name), MAX_FILES);
        let facts: Vec<_> = files.filter_map(|file| search.world.facts(file)).collect();
        let functions = facts.iter().flat_map(|candidate| &candidate.definitions).filter(|definition| {
            *definition.name == *name
                && matches!(definition.kind, DefinitionKind::Function | DefinitionKind::Method)
        });
        let functions: Vec<&Definition> = functions.collect();
        if let (Some(gives), [function]) = (&self.gives, functions.as_slice()) {
            let result = signature::result_type(self.language, function);
            let result = result.map(|result| result.split_whitespace().collect::<String>());
            let result = result.map(|result| result.trim_matches(['(', ')', ',']).to_owned());
            if result.is_some_and(|result| result != *gives) {
                return true;
            }
        }
        let arities: Vec<Option<Arity>> = functions.iter().map(|definition| definition.arity).collect();
        let known = arities.first().copied().flatten();
        arities.iter().all(|arity| *arity == known) && known.is_some_and(|arity| !self.accepts(arity))
    }

    /// Returns true if no method of the name in `Type::name` takes as many parameters. A method of the type itself takes the object first.
    fn rejects_method(&self, search: &Search<'_>, reference: &str) -> bool {
        let Some((owner, name)) = reference.split_once("::") else { return false };
        let (owner, name) = (owner.trim(), name.trim());
        let files = Limit::Files.take(search.world.containing(name), MAX_FILES);
        let facts: Vec<_> = files.filter_map(|file| search.world.facts(file)).collect();
        let methods = facts.iter().flat_map(|candidate| &candidate.definitions);
        let methods = methods
            .filter(|definition| *definition.name == *name && definition.kind == DefinitionKind::Method);
        let arities: Vec<Arity> = methods.filter_map(|definition| definition.arity).collect();
        let last = owner.rsplit('.').next().unwrap_or(owner);
        let counts = match last.starts_with(char::is_uppercase) {
            true => vec![self.takes.least, self.takes.least.saturating_sub(1)],
            false => vec![self.takes.least],
        };
        let is_own = !last.starts_with(char::is_uppercase)
            || facts.iter().any(|candidate| {
                candidate
                    .definitions
                    .iter()
                    .any(|definition| is_type(definition) && *definition.name == *last)
            });
        is_own
            && !arities.is_empty()
            && !arities.iter().any(|arity| counts.iter().any(|count| arity.takes(*count)))
    }

    /// Returns true if a function with this number of parameters is one of the type. TypeScript accepts one with fewer.
    fn accepts(&self, function: Arity) -> bool {
        let is_script = matches!(self.language, Language::TypeScript | Language::Tsx);
        let most = self.takes.most.unwrap_or(u16::MAX);
        function.least <= most && (is_script || function.most.is_none_or(|most| most >= self.takes.least))
    }
}

/// Calls `found` with each argument that calls of a function pass for one of its parameters.
pub(super) fn arguments_for(
    search: &Search<'_>,
    file: FileId,
    source: &Source,
    parameter: Node<'_>,
    found: &mut dyn FnMut(FileId, &Source, Node<'_>),
) {
    let Some(list) = parameter.parent() else { return };
    let mut siblings = children(list);
    siblings.retain(|sibling| PARAMETERS.contains(&sibling.kind()));
    let Some(position) = siblings.iter().position(|sibling| *sibling == parameter) else { return };
    let lines = ancestors(parameter)
        .find(|ancestor| FUNCTIONS.contains(&ancestor.kind()) || ancestor.kind() == "declaration");
    let (Some(facts), Some(function)) = (search.world.facts(file), lines) else { return };
    let is_meant = |definition: &&Definition| {
        matches!(definition.kind, DefinitionKind::Function | DefinitionKind::Method)
            && (line_of(function)..=line_of(parameter)).contains(&definition.line)
            && source.text(function).contains(&*definition.name)
    };
    let Some(definition) = facts.definitions.iter().find(is_meant) else { return };
    for reference in search.references(file, std::slice::from_ref(definition)) {
        let Some(source) = search.trees.get(reference.file).filter(|_| reference.role == Role::Call) else {
            continue;
        };
        for leaf in source.leaves(reference.line, &reference.pattern) {
            let is_call = |node: &Node<'_>| CALLS.contains(&node.kind()) || node.kind() == "new_expression";
            let Some(call) = ancestors(leaf).find(is_call) else { continue };
            let call = call.parent().filter(|parent| is_continued(*parent)).unwrap_or(call);
            if let Some(value) = arguments(call).get(position) {
                found(reference.file, &source, *value);
            }
        }
    }
}

/// Returns true if an interface of Java is declared to be one of functions.
fn has_mark(owner: &Definition) -> bool {
    owner.header.split(TOKEN_END).any(|token| token == "FunctionalInterface")
}

/// Returns true if a file has a variable or parameter of a name.
fn is_variable(source: &Source, name: &str) -> bool {
    let kinds = [PARAMETERS, VARIABLES].concat();
    let is_declared = |node: Node<'_>| {
        let fields = ["name", "pattern", "declarator"].into_iter();
        let mut names = fields.filter_map(|field| node.child_by_field_name(field));
        names.any(|node| source.text(node) == name)
    };
    source.nodes(&kinds).into_iter().any(is_declared)
}
