//! Calls of a name with several functions: by the types of its arguments, a call may mean one that did not change.

use tree_sitter::Node;

use super::results::call_of;
use super::tree::{Source, Trees, ancestors, descendants};
use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Definition, Facts, Role};
use crate::language::Language;
use crate::reference::{Certainty, Reference};
use crate::signature::{self, Fit};
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
    if change.what == DefinitionChangeKind::Removed
        && is_one_of_several(after, was)
        && !matches!(reference.role, Role::Call)
    {
        return true;
    }
    let (Role::Call, Some(count)) = (reference.role, reference.arguments) else { return false };
    // A declaration of C and its definition have one name, but are no overloads.
    if language == Language::C {
        return false;
    }
    let is_left = |definition: &&Definition| {
        definition.name == was.name
            && definition.kind == was.kind
            && definition.container == was.container
            && definition.header != was.header
            && definition.arity.is_some_and(|arity| arity.takes(count))
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
    let calls = calls(&source, reference);
    !calls.is_empty()
        && calls.into_iter().all(|call| {
            let types = argument_types(&source, call);
            let best = left.iter().filter_map(|definition| fitness(language, definition, &types)).max();
            best.is_some() && best > fitness(language, was, &types)
        })
}

/// Returns true if every call on the line of a reference meant a function that takes other arguments now, by the types of its
/// arguments, and fits neither that nor one of the others. `former` has the functions before the edit, and `after` those after it.
pub(super) fn misfits(
    trees: &Trees<'_>,
    change: &SymbolChange,
    (former, after): (&Facts, Option<&Facts>),
    reference: &Reference,
) -> bool {
    use Language::{CSharp, Cpp, Java, Kotlin};
    let was = &change.was;
    let (Some(after), Some(count)) = (after, reference.arguments) else { return false };
    let takes = |definition: &Definition| definition.arity.is_some_and(|arity| arity.takes(count));
    let is_asked = matches!(change.what, DefinitionChangeKind::SignatureChanged { .. })
        && reference.role == Role::Call
        && reference.certainty <= Certainty::Resolved
        && matches!(after.language, CSharp | Cpp | Java | Kotlin)
        && takes(was);
    let same = |definition: &&Definition| {
        definition.name == was.name && definition.kind == was.kind && definition.container == was.container
    };
    let before: Vec<&Definition> = former.definitions.iter().filter(same).collect();
    if !is_asked || before.len() < 2 {
        return false;
    }
    let is_kept = |definition: &&Definition| before.iter().any(|was| was.header == definition.header);
    let (left, new): (Vec<&Definition>, Vec<&Definition>) =
        after.definitions.iter().filter(same).partition(is_kept);
    let fits = |definition: &&Definition| {
        let effect = signature::compare(after.language, was, definition);
        takes(definition)
            && match effect.map(|effect| effect.call(Some(count), &[])) {
                Some(Fit::Breaks) => false,
                // The place decides whether another visibility or result matters.
                Some(Fit::Unknown) if takes_same(after.language, was, definition) => false,
                Some(Fit::Unknown) => !rejects(trees, after.language, definition, reference),
                Some(Fit::Fits) | None => true,
            }
    };
    if new.is_empty() || new.iter().any(fits) {
        return false;
    }
    let left: Vec<&Definition> = left.into_iter().filter(|definition| takes(definition)).collect();
    left.is_empty() || is_best(trees, after.language, (was, &left), reference)
}

/// Returns true if two functions have the same parameters.
fn takes_same(language: Language, one: &Definition, other: &Definition) -> bool {
    signature::parameters(language, one) == signature::parameters(language, other)
}

/// Returns true if the arguments of every call on the line of a reference fit a function better than the others of its name.
pub(super) fn is_best(
    trees: &Trees<'_>,
    language: Language,
    (function, others): (&Definition, &[&Definition]),
    reference: &Reference,
) -> bool {
    let Some(source) = trees.get(reference.file) else { return false };
    let calls = calls(&source, reference);
    !calls.is_empty()
        && calls.into_iter().all(|call| {
            let types = argument_types(&source, call);
            let best = others.iter().filter_map(|definition| fitness(language, definition, &types)).max();
            fitness(language, function, &types) > best
        })
}

/// Returns true if no call on the line of a reference passes arguments that a function takes.
fn rejects(trees: &Trees<'_>, language: Language, function: &Definition, reference: &Reference) -> bool {
    let Some(source) = trees.get(reference.file) else { return false };
    let calls = calls(&source, reference);
    let fits = |call: Node<'_>| fitness(language, function, &argument_types(&source, call)).is_some();
    !calls.is_empty() && !calls.into_iter().any(fits)
}

/// The calls and creations on the line of a reference that its name is of.
fn calls<'s>(source: &'s Source, reference: &Reference) -> Vec<Node<'s>> {
    let creation = |leaf: Node<'s>| {
        let mut around = ancestors(leaf).take(3);
        around
            .find(|node| node.kind() == "object_creation_expression")
            .filter(|node| node.end_byte() > leaf.end_byte())
    };
    let leaves = source.leaves(reference.line, &reference.pattern).into_iter();
    leaves.filter_map(|leaf| call_of(leaf).or_else(|| creation(leaf))).collect()
}

/// Returns true if a function of the same name is left.
fn is_one_of_several(after: &Facts, was: &Definition) -> bool {
    let is_left = |definition: &Definition| {
        definition.name == was.name && definition.kind == was.kind && definition.container == was.container
    };
    was.arity.is_some() && after.definitions.iter().any(is_left)
}

/// Returns the number of arguments that have exactly the type of their parameter; `None` if one does not fit.
fn fitness(language: Language, function: &Definition, types: &[Option<String>]) -> Option<usize> {
    let mut exact = 0;
    for (at, given) in types.iter().enumerate() {
        let wanted = match language {
            Language::Java => signature::parameters(language, function)
                .get(at)
                .map(|parameter| parameter.1.replace(' ', "")),
            Language::Cpp => {
                let parameters = signature::parameters(language, function);
                parameters.get(at).and_then(|parameters| type_of_cpp(&parameters.1)).map(str::to_owned)
            }
            _ => signature::parameter_type(language, function, at),
        };
        let (Some(given), Some(wanted)) = (given, wanted) else { continue };
        let wanted = simple(&wanted);
        is_accepted(given, wanted).then_some(())?;
        exact += usize::from(given == wanted);
    }
    Some(exact)
}

/// Returns true if both types are simple ones, and a value of the first is certainly none of the second.
pub(super) fn conflict(given: &str, wanted: &str) -> bool {
    const HOLDERS: &[&str] = &["List", "Map", "Optional", "Set", "Stream"];
    let given = simple(given.trim());
    if wanted.contains('[') {
        return group_of(given).is_some() || HOLDERS.contains(&given);
    }
    let wanted = simple(wanted.trim()).trim_end_matches(['?', ' ']);
    let holds = |one: &str, other: &str| HOLDERS.contains(&one) && group_of(other).is_some();
    let groups = group_of(given).zip(group_of(wanted));
    groups.is_some_and(|(one, other)| one != other && !(one == 3 && other == 0))
        || holds(given, wanted)
        || holds(wanted, given)
        || HOLDERS.contains(&given) && given != wanted && HOLDERS.contains(&wanted)
}

/// The group of a simple type, whose values may be converted into each other.
fn group_of(type_: &str) -> Option<usize> {
    const NUMBERS: &[&str] = &[
        "Double", "Float", "Int", "Integer", "Long", "Number", "byte", "double", "float", "int", "long",
        "number", "short",
    ];
    const TEXTS: &[&str] = &["CharSequence", "String", "string"];
    const TRUTHS: &[&str] = &["Boolean", "bool", "boolean"];
    [NUMBERS, TEXTS, TRUTHS, &["char"]].iter().position(|them| them.contains(&type_))
}

/// Returns the kind of a parameter of C++; `None` if values of many types are converted to it.
fn type_of_cpp(written: &str) -> Option<&'static str> {
    const NUMBERS: &[&str] = &["const", "double", "float", "int", "long", "short", "size_t", "unsigned"];
    let mut words = crate::world::words(written);
    if words.any(|word| matches!(word, "char" | "string" | "string_view")) {
        return Some("String");
    }
    if written.contains('*') {
        return Some("*");
    }
    crate::world::words(written).all(|word| NUMBERS.contains(&word)).then_some("int")
}

/// Returns true if a value of a type is accepted for another one. A named type may extend another named type.
fn is_accepted(given: &str, wanted: &str) -> bool {
    let is_wide = matches!(wanted, "Any" | "Object" | "object") || wanted.len() == 1;
    given == wanted || is_wide || group_of(given) == group_of(wanted)
}

fn argument_types(source: &Source, call: Node<'_>) -> Vec<Option<String>> {
    let list = call.child_by_field_name("arguments").or_else(|| {
        children(call).into_iter().find(|child| matches!(child.kind(), "value_arguments" | "argument_list"))
    });
    let given = list.map(children).unwrap_or_default().into_iter().filter(|node| !node.is_extra());
    given
        .map(|node| match node.kind() {
            "argument" | "value_argument" => children(node).pop().unwrap_or(node),
            _ => node,
        })
        .map(|node| type_of(source, node))
        .collect()
}

/// Returns the type of an argument, if the text of its file shows it.
pub(super) fn type_of(source: &Source, value: Node<'_>) -> Option<String> {
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
            value.child_by_field_name("type").map(|annotation| simple(source.text(annotation)).to_owned())
        }
        "identifier" => declared_type(source, value),
        "class_literal" => Some("Class".into()),
        "lambda_expression" | "method_reference" => Some("Function".into()),
        "cast_expression" => {
            value.child_by_field_name("type").map(|annotation| simple(source.text(annotation)).to_owned())
        }
        "parenthesized_expression" => type_of(source, value.named_child(0)?),
        "ternary_expression" | "conditional_expression" => {
            type_of(source, value.child_by_field_name("consequence")?)
        }
        "binary_expression" => type_of_operation(source, value),
        "method_invocation" => {
            let name = source.text(value.child_by_field_name("name")?);
            known_result(name).or_else(|| own_result(source, name))
        }
        _ => None,
    }
}

/// The type of a comparison, of a joined text, of a sum.
fn type_of_operation(source: &Source, operation: Node<'_>) -> Option<String> {
    const TRUTHS: &[&str] = &["==", "!=", "<", "<=", ">", ">=", "&&", "||"];
    let parts: Vec<Node<'_>> = operation.children(&mut operation.walk()).collect();
    if parts.iter().any(|part| TRUTHS.contains(&part.kind())) {
        return Some("boolean".into());
    }
    let types: Vec<Option<String>> =
        children(operation).into_iter().map(|child| type_of(source, child)).collect();
    let is_text = |name: &Option<String>| name.as_deref() == Some("String");
    let text = types.iter().any(is_text) && parts.iter().any(|part| part.kind() == "+");
    if text {
        return Some("String".into());
    }
    types.into_iter().reduce(|a, b| if a == b { a } else { None }).flatten()
}

/// The result of a method of the same file, if all of that name have the same.
fn own_result(source: &Source, name: &str) -> Option<String> {
    let is_named = |node: &Node<'_>| {
        node.child_by_field_name("name").is_some_and(|name_node| source.text(name_node) == name)
    };
    let methods = source.nodes(&["method_declaration"]).into_iter().filter(is_named);
    let mut types: Vec<&str> = methods
        .filter_map(|method| method.child_by_field_name("type"))
        .map(|annotation| simple(source.text(annotation)))
        .collect();
    types.dedup();
    let [only] = types.as_slice() else { return None };
    Some((*only).to_owned())
}

/// The result of methods that have the same one in every class that is known to have them.
fn known_result(name: &str) -> Option<String> {
    let type_ = match name {
        "toString" | "getMessage" | "getSimpleName" | "substring" | "toLowerCase" | "toUpperCase"
        | "trim" => "String",
        "hashCode" | "length" | "size" | "indexOf" => "int",
        "contains" | "endsWith" | "equals" | "isEmpty" | "startsWith" => "boolean",
        "getClass" => "Class",
        "toList" => "List",
        _ => return None,
    };
    Some(type_.to_owned())
}

/// Returns the type with which a variable is declared, if all declarations of that name in the file have the same.
fn declared_type(source: &Source, variable: Node<'_>) -> Option<String> {
    let name = source.text(variable);
    let kinds = ["method_declaration", "constructor_declaration"];
    let function = ancestors(variable).find(|ancestor| kinds.contains(&ancestor.kind()));
    let inside = function.map(descendants).unwrap_or_default();
    let is_declaration = |node: &Node<'_>| DECLARATIONS.contains(&node.kind());
    let local = inside.into_iter().filter(is_declaration).collect();
    declared_among(source, name, local)
        .or_else(|| declared_among(source, name, source.nodes(&["field_declaration"])))
        .or_else(|| declared_among(source, name, source.nodes(DECLARATIONS)))
}

/// Returns the type of a variable of a name, if all of these declarations that declare it have the same.
fn declared_among(source: &Source, name: &str, declarations: Vec<Node<'_>>) -> Option<String> {
    let mut types: Vec<String> = Vec::new();
    for node in declarations {
        let declares = |child: &Node<'_>| {
            child.kind() == "identifier"
                && source.text(*child) == name
                && child.parent().is_some_and(|around| around.child_by_field_name("name") == Some(*child))
        };
        let is_declared = descendants(node).into_iter().take(24).any(|descendant| declares(&descendant));
        let type_ = node
            .child_by_field_name("type")
            .or_else(|| children(node).into_iter().find(|child| child.kind() == "catch_type"));
        if let Some(type_) = type_.filter(|_| is_declared) {
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
    type_.rsplit('.').next().unwrap_or(type_).trim()
}
