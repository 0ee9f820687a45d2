//! Calls that do not depend on the type of the result: nothing uses it, or it goes where every value fits.

mod tuples;
mod value_places;
mod variables;

use tree_sitter::Node;

use super::tree::{Source, Trees, ancestors, descendants};
use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Definition, DefinitionKind, Facts, Role};
use crate::language::Language;
use crate::reference::Reference;
use crate::signature;
use crate::syntax::{OWN_NAME, TOKEN_END};
pub(super) use tuples::result_types;
use value_places::Value;
pub(super) use variables::is_made_for_members;
use variables::{is_guarded, uses_of_variable};

/// Functions of the languages that accept a value of any type.
const CONSUMERS: &[&str] = &[
    "Console.Write",
    "Console.WriteLine",
    "JSON.stringify",
    "Objects.toString",
    "String",
    "String.valueOf",
    "System.err.println",
    "System.out.print",
    "System.out.println",
    "console.debug",
    "console.error",
    "console.info",
    "console.log",
    "console.warn",
    "debugPrint",
    "fmt.Fprint",
    "fmt.Fprintf",
    "fmt.Fprintln",
    "fmt.Print",
    "fmt.Printf",
    "fmt.Println",
    "fmt.Sprint",
    "fmt.Sprintf",
    "fmt.Sprintln",
    "log.Print",
    "log.Printf",
    "log.Println",
    "print",
    "println",
    "repr",
    "str",
];
/// Macros of Rust that print every type that can be displayed.
const FORMATS: &[&str] = &[
    "debug", "eprint", "eprintln", "error", "format", "info", "panic", "print", "println", "trace", "warn",
    "write", "writeln",
];
/// Types of Rust that can be displayed.
const DISPLAYED: &[&str] = &[
    "String", "bool", "char", "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize", "str", "u128", "u16",
    "u32", "u64", "u8", "usize",
];

/// Returns true if only the result of a function changed, and no call on the line of the reference depends on it. `after` has the
/// present function.
pub(super) fn is_indifferent(
    trees: &Trees<'_>,
    change: &SymbolChange,
    after: Option<&Facts>,
    reference: &Reference,
    keywords: &[Box<str>],
) -> bool {
    let was = &change.was;
    if reference.role == Role::Call && is_awaited_now(trees, was, after, reference) {
        return true;
    }
    let is_field = matches!(was.kind, DefinitionKind::Field | DefinitionKind::Value);
    let is_read = is_field
        && reference.role == Role::Value
        && matches!(change.what, DefinitionChangeKind::SignatureChanged { .. });
    if !is_read && !change.fits_besides_result(reference, keywords) {
        return false;
    }
    let same = |definition: &&Definition| {
        definition.name == was.name && definition.kind == was.kind && definition.container == was.container
    };
    let Some(after) = after else { return false };
    let mut present = after.definitions.iter().filter(same);
    let (Some(now), None) = (present.next(), present.next()) else { return false };
    let result =
        if is_read { Some(String::from("a value")) } else { signature::result_type(after.language, now) };
    let Some(result) = result else { return false };
    let Some(source) = trees.get(reference.file) else { return false };
    let leaves = source.leaves(reference.line, &reference.pattern);
    let former = signature::result_type(after.language, was).unwrap_or_default();
    let value = Value { world: trees.world, source: &source, former: &former, result: &result };
    let (unwrapped_from, unwrapped_to) = match is_read {
        true => optional_types(was, now).unwrap_or_default(),
        false => (former.clone(), result.clone()),
    };
    let is_fine = |leaf| {
        is_read && is_dereferenced(&source, leaf, was, now)
            || is_unused_or_consumed(&source, leaf, &result, is_read)
            || is_read && reads_kept_key(&source, leaf, was, now)
            || handles_absence(&source, leaf, &unwrapped_from, &unwrapped_to, is_read)
            || !is_read
                && call_of(leaf).is_some_and(|call| {
                    value.fits(call)
                        || is_forwarded(&source, call, &result)
                        || tuples::drops_changed_results(&source, call, &former, &result)
                })
    };
    !leaves.is_empty() && leaves.into_iter().all(is_fine)
}

/// Returns true if a function of Go returns all results of a call, and declares the same ones.
fn is_forwarded(source: &Source, call: Node<'_>, results: &str) -> bool {
    let list =
        call.parent().filter(|parent| parent.kind() == "expression_list" && parent.named_child_count() == 1);
    let statement = list.and_then(|list| list.parent()).filter(|node| node.kind() == "return_statement");
    let Some(statement) = statement.filter(|_| source.language == Language::Go) else { return false };
    let functions = ["function_declaration", "method_declaration", "func_literal"];
    let around = ancestors(statement).find(|ancestor| functions.contains(&ancestor.kind()));
    let declared = around.and_then(|node| node.child_by_field_name("result"));
    let types = |list: &str| {
        let is_part = |c: &char| !c.is_whitespace() && !matches!(c, '(' | ')');
        list.chars().filter(is_part).collect::<String>().trim_end_matches(',').to_owned()
    };
    declared.is_some_and(|declared| types(source.text(declared)) == types(results))
}

/// Returns true if a field of Go became a pointer, or is none any more, and only a member of it is used.
fn is_dereferenced(source: &Source, leaf: Node<'_>, was: &Definition, now: &Definition) -> bool {
    let type_of = |definition: &Definition| -> Vec<String> {
        definition.header.split(TOKEN_END).filter(|token| !token.is_empty()).map(str::to_owned).collect()
    };
    let (was, now) = (type_of(was), type_of(now));
    let without = |slice: &[String]| slice.iter().filter(|token| *token != "*").cloned().collect::<Vec<_>>();
    let is_pointer = was.len().abs_diff(now.len()) == 1 && without(&was) == without(&now);
    let member = member_of(leaf);
    let around = member.parent().filter(|parent| parent.kind() == "selector_expression");
    source.language == Language::Go
        && is_pointer
        && around.is_some_and(|node| node.child_by_field_name("operand") == Some(member))
}

/// The former type of a property that may now be missing, and the present one.
fn optional_types(was: &Definition, now: &Definition) -> Option<(String, String)> {
    let type_of = |definition: &Definition, from: &[&str]| {
        let tokens: Vec<&str> = definition.header.split(TOKEN_END).collect();
        let at = tokens.windows(from.len()).position(|part| part == from)?;
        Some(tokens[at + from.len()..].concat().trim_end_matches(';').to_owned())
    };
    let former = type_of(was, &[OWN_NAME, ":"])?;
    let present = type_of(now, &[OWN_NAME, "?", ":"])?;
    (present == former).then(|| (former, format!("{present}|undefined")))
}

/// Returns true if a function became asynchronous, and every call on the line of the reference is awaited.
fn is_awaited_now(trees: &Trees<'_>, was: &Definition, after: Option<&Facts>, reference: &Reference) -> bool {
    let is_async = |definition: &Definition| definition.header.split(TOKEN_END).any(|word| word == "async");
    let same = |definition: &&Definition| {
        definition.name == was.name
            && definition.kind == was.kind
            && definition.container == was.container
            && definition.arity == was.arity
    };
    let now = after.and_then(|facts| facts.definitions.iter().find(same));
    if is_async(was) || !now.is_some_and(is_async) {
        return false;
    }
    let Some(source) = trees.get(reference.file) else { return false };
    let leaves = source.leaves(reference.line, &reference.pattern);
    let is_awaited = |leaf| {
        let around = call_of(leaf).and_then(|call| call.parent());
        around.is_some_and(|node| matches!(node.kind(), "await_expression" | "await"))
    };
    !leaves.is_empty() && leaves.into_iter().all(is_awaited)
}

/// Returns true if a call awaits a result that is now a promise, or handles one that may now be missing, in TypeScript and Python.
fn handles_absence(source: &Source, leaf: Node<'_>, former: &str, result: &str, is_read: bool) -> bool {
    let spaceless = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let (former, result) = (spaceless(former), spaceless(result));
    let call = if is_read { Some(member_of(leaf)) } else { call_of(leaf) };
    let Some(call) = call.filter(|_| !former.is_empty()) else { return false };
    let may_be_missing = match source.language {
        Language::TypeScript | Language::Tsx => {
            if result == format!("Promise<{former}>") {
                return call.parent().is_some_and(|parent| parent.kind() == "await_expression");
            }
            ["|undefined", "|null"].iter().any(|end| result == format!("{former}{end}"))
        }
        Language::Python => result == format!("{former}|None") || result == format!("Optional[{former}]"),
        _ => false,
    };
    let is_handled = |node: Node<'_>| {
        is_unwrapped(source, node) || is_consumed(source, node, &result) || is_guarded(source, node)
    };
    may_be_missing
        && (is_unwrapped(source, call)
            || uses_of_variable(source, call).is_some_and(|uses| uses.into_iter().all(is_handled)))
}

/// Returns true if an expression stands where its value may be missing.
fn is_unwrapped(source: &Source, expression: Node<'_>) -> bool {
    let Some(around) = expression.parent() else { return false };
    let is_default = |node: Node<'_>| node.children(&mut node.walk()).any(|child| child.kind() == "??");
    match around.kind() {
        "member_expression" => {
            around.children(&mut around.walk()).any(|child| child.kind() == "optional_chain")
        }
        "binary_expression" if is_default(around) => around.named_child(0) == Some(expression),
        "binary_expression" => is_test(source, around),
        "comparison_operator" => [" is ", "==", "!="].iter().any(|name| source.text(around).contains(name)),
        "boolean_operator" | "not_operator" => true,
        "unary_expression" => source.text(around).starts_with('!'),
        "if_statement" | "elif_clause" | "while_statement" => true,
        "parenthesized_expression" => {
            let statement = around.parent().map_or("", |parent| parent.kind());
            matches!(statement, "if_statement" | "while_statement")
        }
        "return_statement" | "arrow_function" => {
            let function =
                ancestors(expression).find(|ancestor| ancestor.child_by_field_name("body").is_some());
            function.is_some_and(|function| function.child_by_field_name("return_type").is_none())
                && !ancestors(expression).any(|ancestor| {
                    ancestor.kind() == "arguments" || ancestor.child_by_field_name("type").is_some()
                })
        }
        "ternary_expression" => around.child_by_field_name("condition") == Some(expression),
        "non_null_expression" => true,
        _ => false,
    }
}

/// Returns true if only a property of an object in TypeScript is read, and the written type of the object has it as before.
fn reads_kept_key(source: &Source, leaf: Node<'_>, was: &Definition, now: &Definition) -> bool {
    let around = member_of(leaf).parent().filter(|parent| parent.kind() == "member_expression");
    let Some(key) = around.and_then(|node| node.child_by_field_name("property")) else { return false };
    let declared = |of: &Definition| -> Option<String> {
        let tokens: Vec<&str> = of.header.split(TOKEN_END).collect();
        let at = tokens.windows(2).position(|pair| pair == [source.text(key), ":"])?;
        let is_end = |name: &&&str| !matches!(**name, "," | ";" | "}");
        Some(tokens[at..].iter().take_while(is_end).copied().collect())
    };
    let is_plain = |type_: &String| !type_.contains(['{', '('].as_slice());
    let former = declared(was).filter(|declared| is_plain(declared));
    former.is_some() && former == declared(now)
}

/// Returns true if an operator takes a value that may be missing: a comparison for equality, `a && b`.
fn is_test(source: &Source, binary: Node<'_>) -> bool {
    const TESTS: &[&str] = &["===", "!==", "==", "!=", "&&"];
    let operator = binary.child_by_field_name("operator").map(|operator| source.text(operator));
    operator.is_some_and(|operator| TESTS.contains(&operator))
}

fn is_unused_or_consumed(source: &Source, leaf: Node<'_>, result: &str, is_read: bool) -> bool {
    if source.language == Language::Rust && ancestors(leaf).any(|ancestor| ancestor.kind() == "token_tree") {
        return is_formatted(source, leaf) && words_of(result).all(|word| DISPLAYED.contains(&word));
    }
    let call = if is_read { Some(member_of(leaf)) } else { call_of(leaf) };
    let Some(call) = call else { return false };
    let is_value = !matches!(result, "" | "void" | "Void" | "()");
    is_unused(source, call)
        || is_value && (is_consumed(source, call, result) || is_kept_for_consumers(source, call, result))
        || is_value
            && uses_of_variable(source, call)
                .is_some_and(|uses| uses.into_iter().all(|usage| is_consumed(source, usage, result)))
        || result.ends_with('?') && is_checked_for_null(source, call)
}

/// Returns true if a call initialises a variable without a written type, and each use of that is unused or consumed.
fn is_kept_for_consumers(source: &Source, call: Node<'_>, result: &str) -> bool {
    use Language::{CSharp, Java, Kotlin, Swift};
    let declaration = call.parent().filter(|parent| parent.kind() == "variable_declarator");
    let declaration = declaration.and_then(|declaration| declaration.parent()).or_else(|| call.parent());
    let Some(declaration) = declaration.filter(|declaration| declaration.kind().ends_with("declaration"))
    else {
        return false;
    };
    let written = source.text.get(declaration.start_byte()..call.start_byte()).unwrap_or_default();
    let tokens: Vec<&str> = written.split_whitespace().collect();
    let name = match (source.language, tokens.as_slice()) {
        (Java | CSharp, ["var", name, "="]) | (Kotlin, ["val" | "var", name, "="]) => *name,
        (Swift, ["let" | "var", name, "="]) => *name,
        _ => return false,
    };
    let block = ancestors(declaration)
        .find(|ancestor| matches!(ancestor.kind(), "block" | "statements" | "function_body"));
    let is_use = |node: &Node<'_>| {
        node.child_count() == 0 && node.start_byte() > call.end_byte() && source.text(*node) == name
    };
    let Some(block) = block else { return false };
    descendants(block).into_iter().filter(is_use).all(|descendant| is_consumed(source, descendant, result))
}

/// Returns true if a call of Kotlin is used in a way that allows null.
fn is_checked_for_null(source: &Source, call: Node<'_>) -> bool {
    const CHECKS: &[&str] = &["!!", "?.", "?:"];
    let rest = source.text.get(call.end_byte()..).unwrap_or_default().trim_start();
    source.language == Language::Kotlin && CHECKS.iter().any(|name| rest.starts_with(name))
}

fn words_of(result: &str) -> impl Iterator<Item = &str> {
    result.split([' ', '&', '\'']).filter(|word| !word.is_empty() && *word != "static")
}

/// The call of the function that a leaf names.
pub(super) fn call_of(leaf: Node<'_>) -> Option<Node<'_>> {
    let mut inner = leaf;
    for node in ancestors(leaf) {
        let kind = node.kind();
        if kind.contains("argument") || kind == "call_suffix" {
            return None;
        }
        if kind.contains("call") && kind != "call_suffix" || kind.contains("invocation") {
            return Some(node);
        }
        let is_path = kind.contains("member")
            || kind.contains("selector")
            || kind.contains("attribute")
            || kind.contains("navigation")
            || kind.contains("field_expression")
            || kind.contains("qualified")
            || kind.contains("scoped");
        // The name is the last part of the path.
        if !is_path || node.end_byte() != inner.end_byte() {
            return None;
        }
        inner = node;
    }
    None
}

/// Returns the expression of which a leaf is the last name: `a.b` for `b`.
pub(super) fn member_of(leaf: Node<'_>) -> Node<'_> {
    let mut inner = leaf;
    for node in ancestors(leaf) {
        let is_path = ["member", "field_access", "navigation", "field_expression", "selector"];
        if !is_path.iter().any(|name| node.kind().contains(name)) || node.end_byte() != inner.end_byte() {
            break;
        }
        inner = node;
    }
    inner
}

/// Returns true if a call is a statement of its own.
fn is_unused(source: &Source, call: Node<'_>) -> bool {
    let mut inner = call;
    for node in ancestors(call) {
        match node.kind() {
            "await_expression" | "await" | "parenthesized_expression" => {}
            "go_statement" | "defer_statement" => return true,
            // `let _ = f();`
            "let_declaration" => {
                let pattern = node.child_by_field_name("pattern").map(|pattern| source.text(pattern));
                return pattern == Some("_") && node.child_by_field_name("type").is_none();
            }
            // `_ = f()`.
            kind if kind.contains("assignment") => {
                let target = source.text(node).strip_prefix('_').unwrap_or_default();
                return target.trim_start().starts_with('=');
            }
            // The last expression of a block of Rust is its value.
            "expression_statement" => {
                return source.language != Language::Rust || source.text(node).ends_with(';');
            }
            "block" if source.language == Language::Kotlin => return is_dropped(source, inner, node),
            "statements" if source.language == Language::Swift => return is_dropped(source, inner, node),
            _ => return false,
        }
        inner = node;
    }
    false
}

/// Returns true if a statement of Kotlin or Swift is not the value of its block: the last one of a lambda may be, and the only one
/// of a function of Swift.
fn is_dropped(source: &Source, statement: Node<'_>, block: Node<'_>) -> bool {
    let is_last = statement.next_named_sibling().is_none();
    let is_body = block.parent().is_some_and(|parent| parent.kind() == "function_body");
    let is_only = source.language == Language::Swift && block.named_child_count() == 1;
    !is_last || is_body && !is_only
}

/// Returns true if the result is passed to something that accepts every value.
fn is_consumed(source: &Source, call: Node<'_>, result: &str) -> bool {
    let mut inner = call;
    for node in ancestors(call).take(4) {
        match node.kind() {
            "template_substitution" | "interpolation" | "interpolated_expression" => return true,
            "binary_expression" | "additive_expression" => return is_joined(source, node),
            "argument" | "value_argument" | "value_arguments" | "parenthesized_expression" => inner = node,
            // Several results of Go can only be all arguments of a call.
            "arguments" | "argument_list" if result.starts_with('(') && node.named_child_count() > 1 => {
                return false;
            }
            "arguments" | "argument_list" | "call_suffix" => inner = node,
            kind if kind.contains("call") || kind.contains("invocation") => {
                let end = inner.start_byte();
                let text = source.text.get(node.start_byte()..end).unwrap_or_default();
                let name: String = text.chars().filter(|c| !c.is_whitespace()).collect();
                let name = name.trim_end_matches('(');
                let short =
                    name.strip_prefix("System.").filter(|strip_prefix| strip_prefix.starts_with("Console."));
                return CONSUMERS.contains(&short.unwrap_or(name)) || is_assertion(source, name, result);
            }
            _ => return false,
        }
    }
    false
}

/// Returns true for an assertion of JUnit that compares any two objects or numbers. A boxed number is ambiguous there.
fn is_assertion(source: &Source, callee: &str, result: &str) -> bool {
    const ASSERTIONS: &[&str] =
        &["assertEquals", "assertNotEquals", "assertNotNull", "assertNotSame", "assertNull", "assertSame"];
    const BOXED: &[&str] = &["Byte", "Character", "Double", "Float", "Integer", "Long", "Short"];
    let name = callee.rsplit('.').next().unwrap_or(callee);
    let name = name.split(['(', ',']).next().unwrap_or(name);
    source.language == Language::Java && ASSERTIONS.contains(&name) && !BOXED.contains(&result)
}

/// Returns true if a value is joined with a text before it.
fn is_joined(source: &Source, sum: Node<'_>) -> bool {
    use Language::{CSharp, Java, JavaScript, Kotlin, Tsx, TypeScript};
    if !matches!(source.language, CSharp | Java | JavaScript | Kotlin | Tsx | TypeScript) {
        return false;
    }
    let is_sum = sum.children(&mut sum.walk()).any(|child| child.kind() == "+");
    let mut first = sum;
    while let Some(left) = first.named_child(0).filter(|_| first.kind() == sum.kind()) {
        first = left;
    }
    is_sum && first.kind().contains("string")
}

/// Returns true if a call inside a macro of Rust is one of the values that the macro prints.
fn is_formatted(source: &Source, leaf: Node<'_>) -> bool {
    let Some(tokens) = leaf.parent().filter(|parent| parent.kind() == "token_tree") else { return false };
    let name = tokens.parent().filter(|parent| parent.kind() == "macro_invocation");
    let name =
        name.and_then(|name| name.child_by_field_name("macro")).map(|macro_node| source.text(macro_node));
    let is_format =
        name.and_then(|name| name.rsplit("::").next()).is_some_and(|text| FORMATS.contains(&text));
    let passed = leaf.next_sibling().filter(|sibling| sibling.kind() == "token_tree");
    let ends =
        passed.and_then(|passed| passed.next_sibling()).is_some_and(|node| matches!(node.kind(), "," | ")"));
    let mut before = leaf.prev_sibling();
    while let Some(node) =
        before.filter(|node| matches!(node.kind(), "::" | "identifier" | "crate" | "self" | "super"))
    {
        before = node.prev_sibling();
    }
    is_format && ends && before.is_some_and(|node| node.kind() == ",")
}
