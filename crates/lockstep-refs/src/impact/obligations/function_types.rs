//! Types of functions that take another number of parameters now: calls through a value of the type, and functions that are given for
//! one.

use tree_sitter::Node;

use super::super::tree::{Source, ancestors, descendants};
use super::{Search, Unmet};
use crate::facts::{Arity, Definition, DefinitionKind, Facts, Role};
use crate::language::Language;
use crate::package::is_type;
use crate::resolve::path_of;
use crate::syntax::{children, line_of};
use crate::world::FileId;

/// The number of parameters that no function has.
const NO_FUNCTION: Arity = Arity { least: u16::MAX, most: Some(u16::MAX) };
/// A name that more files contain is looked up in the first ones only.
const MAX_FILES: usize = 50;
const CALLS: &[&str] = &["call_expression", "invocation_expression", "method_invocation"];
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
    language: Language,
}

/// Adds the places that do not fit a function type of the file any more.
pub(super) fn find(search: &Search<'_>, (old, former): (&Facts, &str), new: &Facts, found: &mut Vec<Unmet>) {
    let mut before = None;
    let present = search.world.text(search.file).unwrap_or_default();
    for owner in new.definitions.iter().filter(|it| is_type(it)) {
        let same = |it: &&Definition| {
            it.kind == owner.kind && it.name == owner.name && it.container == owner.container
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
        if taken.is_some_and(|taken| taken != takes) {
            FunctionType { owner, takes, language: new.language }.check(search, found);
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
        || language == Language::Java && owner.kind == DefinitionKind::Interface
        || is_alias && lines.iter().any(|line| marks.iter().any(|mark| line.contains(mark)))
}

impl FunctionType<'_> {
    fn check(&self, search: &Search<'_>, found: &mut Vec<Unmet>) {
        for reference in search.references(search.file, std::slice::from_ref(self.owner)) {
            let Some(source) = search.trees.get(reference.file) else { continue };
            for leaf in source.leaves(reference.line, &reference.pattern) {
                let Some(place) = declaration(leaf) else { continue };
                let Some(name) = declared_name(self.language, leaf, place) else { continue };
                let mut misfits = self.misfitting_calls(&source, place, source.text(name));
                misfits.extend(self.misfitting_values(search, &source, place));
                found.extend(misfits.into_iter().map(|it| self.unmet(reference.file, it)));
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
        Unmet {
            file,
            line: line_of(node),
            pattern: self.owner.name.clone(),
            reason: match self.takes == NO_FUNCTION {
                true => format!("{} is not a functional interface any more", self.owner.name),
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
        let function = ancestors(place).find(|it| {
            FUNCTIONS.contains(&it.kind()) || LAMBDAS.contains(&it.kind()) || it.kind() == "source_file"
        });
        let scope = function.filter(|_| is_parameter).unwrap_or(source.root());
        let is_misfit = |call: &Node<'_>| {
            callee(*call).is_some_and(|it| source.text(it) == name) && !self.fits_call(*call)
        };
        let calls = descendants(scope).into_iter().filter(|it| CALLS.contains(&it.kind()));
        calls.filter(is_misfit).collect()
    }

    /// The functions that a declaration gives to its variable.
    fn misfitting_values<'s>(
        &self,
        search: &Search<'_>,
        source: &'s Source,
        place: Node<'s>,
    ) -> Vec<Node<'s>> {
        let whole = ancestors(place).take(2).find(|it| it.kind() == "property_declaration").unwrap_or(place);
        let is_outermost = |it: &Node<'_>| {
            let mut around = ancestors(*it).take_while(|around| *around != whole);
            !around.any(|around| CALLS.contains(&around.kind()) || LAMBDAS.contains(&around.kind()))
        };
        let is_value = |it: &Node<'_>| {
            let around = it.parent();
            let given = around.and_then(|around| around.child_by_field_name("value"));
            LAMBDAS.contains(&it.kind())
                || it.kind() == "method_reference"
                || NAMES.contains(&it.kind()) && given == Some(*it)
        };
        let values = descendants(whole).into_iter().filter(|it| is_value(it) && is_outermost(it));
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
        let Some(list) = parameter.parent() else { return };
        let mut siblings = children(list);
        siblings.retain(|it| PARAMETERS.contains(&it.kind()));
        let Some(position) = siblings.iter().position(|it| *it == parameter) else { return };
        let lines =
            ancestors(parameter).find(|it| FUNCTIONS.contains(&it.kind()) || it.kind() == "declaration");
        let (Some(facts), Some(function)) = (search.world.facts(file), lines) else { return };
        let is_meant = |it: &&Definition| {
            matches!(it.kind, DefinitionKind::Function | DefinitionKind::Method)
                && (line_of(function)..=line_of(parameter)).contains(&it.line)
                && source.text(function).contains(&*it.name)
        };
        let Some(definition) = facts.definitions.iter().find(is_meant) else { return };
        for reference in search.references(file, std::slice::from_ref(definition)) {
            let Some(source) = search.trees.get(reference.file).filter(|_| reference.role == Role::Call)
            else {
                continue;
            };
            for leaf in source.leaves(reference.line, &definition.name) {
                let Some(call) = ancestors(leaf).find(|it| CALLS.contains(&it.kind())) else { continue };
                let call = call.parent().filter(|it| is_continued(*it)).unwrap_or(call);
                let given = arguments(call).get(position).copied();
                if let Some(value) = given.filter(|it| self.is_misfit(search, &source, *it)) {
                    found.push(self.unmet(reference.file, value));
                }
            }
        }
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
        let is_field = |it: &&Definition| {
            matches!(it.kind, DefinitionKind::Field | DefinitionKind::Value)
                && *it.name == *name
                && (it.line..=it.end_line).contains(&line)
        };
        let Some(field) = facts.definitions.iter().find(is_field) else { return };
        for reference in search.references(file, std::slice::from_ref(field)) {
            let Some(source) = search.trees.get(reference.file) else { continue };
            for leaf in source.leaves(reference.line, name) {
                let given = given_to(leaf).filter(|it| self.is_misfit(search, &source, *it));
                let call = ancestors(leaf).take(3).find(|it| CALLS.contains(&it.kind()));
                let call = call.filter(|it| callee(*it) == Some(leaf) && !self.fits_call(*it));
                let call = call.filter(|_| self.language != Language::Java);
                found.extend(given.or(call).map(|it| self.unmet(reference.file, it)));
            }
        }
    }

    fn fits_call(&self, call: Node<'_>) -> bool {
        u16::try_from(arguments(call).len()).is_ok_and(|count| self.takes.takes(count))
    }

    /// Returns true if a function is given that takes another number of parameters.
    fn is_misfit(&self, search: &Search<'_>, source: &Source, value: Node<'_>) -> bool {
        if LAMBDAS.contains(&value.kind()) {
            return lambda_parameters(value)
                .is_some_and(|count| !self.accepts(Arity { least: count, most: Some(count) }));
        }
        if value.kind() == "method_reference" {
            return self.takes == NO_FUNCTION;
        }
        let name = source.text(value);
        // Java and Kotlin name a function otherwise.
        let is_name =
            NAMES.contains(&value.kind()) && !matches!(self.language, Language::Java | Language::Kotlin);
        if !is_name || is_variable(source, name) {
            return false;
        }
        let files = search.world.containing(name).into_iter().take(MAX_FILES);
        let facts: Vec<_> = files.filter_map(|file| search.world.facts(file)).collect();
        let functions = facts.iter().flat_map(|it| &it.definitions).filter(|it| {
            *it.name == *name && matches!(it.kind, DefinitionKind::Function | DefinitionKind::Method)
        });
        let arities: Vec<Option<Arity>> = functions.map(|it| it.arity).collect();
        let known = arities.first().copied().flatten();
        arities.iter().all(|it| *it == known) && known.is_some_and(|it| !self.accepts(it))
    }

    /// Returns true if a function with this number of parameters is one of the type. TypeScript accepts one with fewer.
    fn accepts(&self, function: Arity) -> bool {
        let is_script = matches!(self.language, Language::TypeScript | Language::Tsx);
        let most = self.takes.most.unwrap_or(u16::MAX);
        function.least <= most && (is_script || function.most.is_none_or(|it| it >= self.takes.least))
    }
}

/// Returns true if a file has a variable or parameter of a name.
fn is_variable(source: &Source, name: &str) -> bool {
    let kinds = [PARAMETERS, VARIABLES].concat();
    let is_declared = |it: Node<'_>| {
        let fields = ["name", "pattern", "declarator"].into_iter();
        let mut names = fields.filter_map(|field| it.child_by_field_name(field));
        names.any(|it| source.text(it) == name)
    };
    source.nodes(&kinds).into_iter().any(is_declared)
}

/// Returns the number of parameters of a type of functions; `None` for other types.
fn parameters_of(source: &Source, owner: &Definition) -> Option<Arity> {
    let is_named = |node: Node<'_>| {
        let mut inside = descendants(node).into_iter();
        inside.any(|it| it.child_count() == 0 && source.text(it) == &*owner.name)
    };
    let kinds =
        ["type_alias_declaration", "type_spec", "type_definition", "type_alias", "typealias_declaration"];
    let kinds = kinds.into_iter().chain(["delegate_declaration", "interface_declaration"]);
    let kinds: Vec<&str> = kinds.collect();
    let nodes = source.nodes(&kinds).into_iter();
    let whole = nodes.filter(|it| (owner.line.saturating_sub(2)..=owner.line).contains(&line_of(*it)));
    let whole = whole.into_iter().find(|it| is_named(*it))?;
    let list = match whole.kind() {
        "type_alias_declaration" => {
            let value = whole.child_by_field_name("value").filter(|it| it.kind() == "function_type")?;
            value.child_by_field_name("parameters")?
        }
        "type_spec" => {
            let value = whole.child_by_field_name("type").filter(|it| it.kind() == "function_type")?;
            value.child_by_field_name("parameters")?
        }
        "type_definition" => {
            let declarator = whole.child_by_field_name("declarator");
            let declarator = declarator.filter(|it| it.kind() == "function_declarator")?;
            declarator.child_by_field_name("parameters")?
        }
        "delegate_declaration" => whole.child_by_field_name("parameters")?,
        "interface_declaration" if source.language == Language::Java => only_method(whole)?,
        "type_alias" | "typealias_declaration" => {
            children(whole).into_iter().find(|it| it.kind() == "function_type")?.named_child(0)?
        }
        _ => return None,
    };
    Some(count_parameters(source, list))
}

/// Returns the parameters of the only abstract method of an interface of Java.
fn only_method(interface: Node<'_>) -> Option<Node<'_>> {
    let body = interface.child_by_field_name("body")?;
    let is_abstract =
        |it: &Node<'_>| it.kind() == "method_declaration" && it.child_by_field_name("body").is_none();
    let methods: Vec<Node<'_>> = children(body).into_iter().filter(is_abstract).collect();
    let [method] = methods.as_slice() else { return None };
    method.child_by_field_name("parameters")
}

fn count_parameters(source: &Source, list: Node<'_>) -> Arity {
    let (mut least, mut most, mut is_open) = (0_u16, 0_u16, false);
    for part in children(list).into_iter().filter(|it| !it.is_extra()) {
        let text = source.text(part);
        // Go declares several parameters with one type.
        let names = part.children_by_field_name("name", &mut part.walk()).count();
        let count = if source.language == Language::Go { names.max(1) } else { 1 };
        let count = u16::try_from(count).unwrap_or(u16::MAX);
        is_open |= part.kind().contains("variadic") || text.starts_with("...") || text == "...";
        if text == "void" && matches!(source.language, Language::C | Language::Cpp) {
            continue;
        }
        most = most.saturating_add(count);
        least += if part.kind().starts_with("optional") { 0 } else { count };
    }
    Arity { least, most: (!is_open).then_some(most) }
}

/// Returns the declaration whose type a name is.
fn declaration(leaf: Node<'_>) -> Option<Node<'_>> {
    for node in ancestors(leaf).take(6) {
        let kind = node.kind();
        if PARAMETERS.contains(&kind) || VARIABLES.contains(&kind) {
            return Some(node);
        }
        let is_part = ["argument", "array", "slice", "map", "function", "union", "pointer"];
        if is_part.iter().any(|part| kind.contains(part)) {
            return None;
        }
    }
    None
}

/// Returns the name that a declaration gives: behind the type in some languages, before it in others.
fn declared_name<'n>(language: Language, type_: Node<'n>, place: Node<'n>) -> Option<Node<'n>> {
    use Language::{C, CSharp, Cpp, Java};
    let names = descendants(place).into_iter().filter(|it| NAMES.contains(&it.kind()));
    match matches!(language, C | CSharp | Cpp | Java) {
        true => names.into_iter().find(|it| it.start_byte() > type_.end_byte()),
        false => names.into_iter().take_while(|it| it.start_byte() < type_.start_byte()).last(),
    }
}

/// Returns the value that is assigned to a field or given for it in a literal.
fn given_to(leaf: Node<'_>) -> Option<Node<'_>> {
    for node in ancestors(leaf).take(4) {
        let value = match node.kind() {
            "assignment_expression" | "assignment_statement" | "assignment" => {
                node.child_by_field_name("right")
            }
            "pair" | "initializer_pair" | "keyed_element" => node.child_by_field_name("value"),
            kind if CALLS.contains(&kind) => return None,
            _ => continue,
        };
        let mut value = value.filter(|it| it.start_byte() > leaf.start_byte())?;
        while matches!(value.kind(), "expression_list" | "literal_element") {
            value = value.named_child(0)?;
        }
        return Some(value);
    }
    None
}

/// Returns true if a call of Kotlin is the call before it with a function behind the parentheses.
fn is_continued(call: Node<'_>) -> bool {
    call.kind() == "call_expression" && call.named_child(0).is_some_and(|it| it.kind() == "call_expression")
}

/// Returns the name of the called function.
fn callee(call: Node<'_>) -> Option<Node<'_>> {
    if call.parent().is_some_and(is_continued) {
        return None;
    }
    let callee = ["function", "name"].iter().find_map(|field| call.child_by_field_name(field));
    let mut node = callee.or_else(|| call.named_child(0))?;
    if is_continued(call) {
        node = node.named_child(0)?;
    }
    while node.child_count() > 0 {
        node = children(node).pop()?;
    }
    Some(node)
}

/// Returns the values that a call passes, with functions behind the parentheses.
fn arguments(call: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut parts = children(call);
    if is_continued(call) {
        let inner = parts.remove(0);
        parts.splice(0..0, children(inner));
    }
    for part in parts {
        match part.kind() {
            "arguments" | "argument_list" | "value_arguments" => {
                let given = children(part).into_iter().filter(|it| !it.is_extra());
                found.extend(given.map(|it| match it.kind() {
                    "argument" | "value_argument" => children(it).pop().unwrap_or(it),
                    _ => it,
                }));
            }
            "annotated_lambda" => found.extend(part.named_child(0)),
            "call_suffix" => found.extend(arguments(part)),
            "lambda_literal" => found.push(part),
            _ => {}
        }
    }
    found
}

/// Returns the number of parameters that a function literal names; `None` if it names none and may use them all the same.
fn lambda_parameters(lambda: Node<'_>) -> Option<u16> {
    let count = |list: Node<'_>| {
        let parts: Vec<Node<'_>> = children(list).into_iter().filter(|it| !it.is_extra()).collect();
        let names = |it: &Node<'_>| it.children_by_field_name("name", &mut it.walk()).count().max(1);
        let is_go = lambda.kind() == "func_literal";
        let sum: usize = parts.iter().map(|it| if is_go { names(it) } else { 1 }).sum();
        u16::try_from(sum).ok()
    };
    if lambda.child_by_field_name("parameter").is_some() {
        return Some(1);
    }
    let lists = ["lambda_parameters", "lambda_function_type_parameters"];
    let written = || descendants(lambda).into_iter().take(6).find(|it| lists.contains(&it.kind()));
    let list = lambda.child_by_field_name("parameters").or_else(written)?;
    if list.named_child_count() == 0 && NAMES.contains(&list.kind()) || list.kind() == "implicit_parameter" {
        return Some(1);
    }
    count(list)
}
