//! Calls of a name with several functions: by the types of its arguments, a call may mean one that did not change.

use tree_sitter::Node;

use super::results::call_of;
use super::tree::{Source, Trees, descendants};
use crate::change::{SymbolChange, What};
use crate::facts::{Definition, Facts, Role};
use crate::language::Language;
use crate::reference::Reference;
use crate::signature;
use crate::syntax::children;

/// The nodes that declare a variable with its type.
const DECLARATIONS: &[&str] = &[
    "catch_formal_parameter",
    "class_parameter",
    "enhanced_for_statement",
    "field_declaration",
    "formal_parameter",
    "local_variable_declaration",
    "parameter",
    "parameter_declaration",
    "variable_declaration",
];

/// Returns true if every call on the line of a reference fits an unchanged function of the same name, and does not fit the changed
/// one. `after` has the functions that are left.
pub(super) fn mean_another(
    trees: &Trees<'_>,
    change: &SymbolChange,
    after: Option<&Facts>,
    reference: &Reference,
) -> bool {
    let Some(after) = after else { return false };
    let language = after.language;
    let was = &change.was;
    if change.what == What::Removed && is_one_of_several(after, was) && !matches!(reference.role, Role::Call)
    {
        return true;
    }
    let (Role::Call, Some(count)) = (reference.role, reference.arguments) else { return false };
    let is_left = |it: &&Definition| {
        it.name == was.name
            && it.kind == was.kind
            && it.container == was.container
            && it.header != was.header
            && it.arity.is_some_and(|arity| arity.takes(count))
    };
    let left: Vec<&Definition> = after.definitions.iter().filter(is_left).collect();
    if left.is_empty() {
        return false;
    }
    if was.arity.is_some_and(|arity| !arity.takes(count)) {
        return true;
    }
    use Language::{CSharp, Cpp, Java, Kotlin, Tsx, TypeScript};
    if !matches!(language, Java | CSharp | Kotlin | Cpp | TypeScript | Tsx) {
        return false;
    }
    let Some(source) = trees.get(reference.file) else { return false };
    let calls: Vec<Node<'_>> =
        source.leaves(reference.line, &reference.pattern).into_iter().filter_map(call_of).collect();
    !calls.is_empty()
        && calls.into_iter().all(|call| {
            let types = argument_types(&source, call);
            let best = left.iter().filter_map(|it| fitness(language, it, &types)).max();
            best.is_some() && best > fitness(language, was, &types)
        })
}

/// Returns true if a function of the same name is left.
fn is_one_of_several(after: &Facts, was: &Definition) -> bool {
    let is_left =
        |it: &Definition| it.name == was.name && it.kind == was.kind && it.container == was.container;
    was.arity.is_some() && after.definitions.iter().any(is_left)
}

/// Returns the number of arguments that have exactly the type of their parameter; `None` if one does not fit.
fn fitness(language: Language, function: &Definition, types: &[Option<String>]) -> Option<usize> {
    let mut exact = 0;
    for (at, given) in types.iter().enumerate() {
        let wanted = signature::parameter_type(language, function, at);
        let (Some(given), Some(wanted)) = (given, wanted) else { continue };
        let wanted = wanted.rsplit('.').next().unwrap_or(&wanted);
        is_accepted(given, wanted).then_some(())?;
        exact += usize::from(given == wanted);
    }
    Some(exact)
}

/// Returns true if a value of a type is accepted for another one. A named type may extend another named type.
fn is_accepted(given: &str, wanted: &str) -> bool {
    const NUMBERS: &[&str] = &[
        "Double", "Float", "Int", "Integer", "Long", "Number", "byte", "double", "float", "int", "long",
        "number", "short",
    ];
    const TEXTS: &[&str] = &["CharSequence", "String", "string"];
    const TRUTHS: &[&str] = &["Boolean", "bool", "boolean"];
    let group = |it: &str| [NUMBERS, TEXTS, TRUTHS, &["char"]].iter().position(|them| them.contains(&it));
    let is_wide = matches!(wanted, "Any" | "Object" | "object") || wanted.len() == 1;
    given == wanted || is_wide || group(given) == group(wanted)
}

fn argument_types(source: &Source, call: Node<'_>) -> Vec<Option<String>> {
    let list = call.child_by_field_name("arguments").or_else(|| {
        children(call).into_iter().find(|it| matches!(it.kind(), "value_arguments" | "argument_list"))
    });
    let given = list.map(children).unwrap_or_default().into_iter().filter(|it| !it.is_extra());
    given
        .map(|it| match it.kind() {
            "argument" | "value_argument" => children(it).pop().unwrap_or(it),
            _ => it,
        })
        .map(|it| type_of(source, it))
        .collect()
}

/// Returns the type of an argument, if the text of its file shows it.
fn type_of(source: &Source, value: Node<'_>) -> Option<String> {
    match value.kind() {
        "string" | "template_string" => Some("string".into()),
        "number" => Some("number".into()),
        "arrow_function" | "function_expression" => Some("Function".into()),
        "object" => Some("object".into()),
        "array" => Some("Array".into()),
        "string_literal" | "multiline_string_literal" | "interpolated_string_expression" => {
            Some("String".into())
        }
        "decimal_integer_literal" | "integer_literal" | "number_literal" => Some("int".into()),
        "decimal_floating_point_literal" | "real_literal" => Some("double".into()),
        "character_literal" => Some("char".into()),
        "true" | "false" | "boolean_literal" => Some("boolean".into()),
        "object_creation_expression" => {
            value.child_by_field_name("type").map(|it| simple(source.text(it)).to_owned())
        }
        "identifier" => declared_type(source, value),
        _ => None,
    }
}

/// Returns the type with which a variable is declared, if all declarations of that name in the file have the same.
fn declared_type(source: &Source, variable: Node<'_>) -> Option<String> {
    let name = source.text(variable);
    let mut types: Vec<String> = Vec::new();
    for node in source.nodes(DECLARATIONS) {
        let declares = |it: &Node<'_>| {
            it.kind() == "identifier"
                && source.text(*it) == name
                && it.parent().is_some_and(|around| around.child_by_field_name("name") == Some(*it))
        };
        let is_declared = descendants(node).into_iter().take(24).any(|it| declares(&it));
        if let Some(type_) = node.child_by_field_name("type").filter(|_| is_declared) {
            types.push(simple(source.text(type_)).to_owned());
        }
    }
    types.sort();
    types.dedup();
    let [only] = types.as_slice() else { return None };
    (only != "var" && only != "auto").then(|| only.clone())
}

/// Returns a type without its arguments and its package.
fn simple(type_: &str) -> &str {
    let type_ = type_.split('<').next().unwrap_or(type_);
    type_.rsplit('.').next().unwrap_or(type_)
}
