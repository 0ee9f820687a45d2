//! Functions of Go and Rust whose declared result changed while what they return did not.

use tree_sitter::Node;

use super::super::results::result_types;
use super::super::tree::{Source, Trees, ancestors, descendants};
use super::unbound::UnboundName;
use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Definition, DefinitionKind, Facts, Role};
use crate::language::Language;
use crate::signature::{result_count, result_type};
use crate::syntax::{children, line_of};
use crate::world::{FileId, World, words};

/// Types of Rust that hold a value of another type.
const WRAPPERS: &[&str] = &["Arc", "Box", "Option", "Rc", "Result", "Vec"];
/// Methods and functions of Rust whose result depends on the expected type.
const FLEXIBLE: &[&str] = &[
    "collect",
    "default",
    "from",
    "into",
    "parse",
    "product",
    "sum",
    "try_from",
    "try_into",
    "unwrap_or_default",
];
/// Macros of Rust that return to no caller.
const DIVERGING: &[&str] = &["panic", "todo", "unimplemented", "unreachable"];

/// Statements of Go after which a function goes on.
const GOES_ON: &[&str] =
    &["assignment_statement", "short_var_declaration", "inc_statement", "defer_statement", "go_statement"];

/// Returns the places in the changed functions that return something else than their function declares.
pub(super) fn unfit_returns(
    trees: &Trees<'_>,
    file: FileId,
    present: &Facts,
    changed: &[SymbolChange],
) -> Vec<UnboundName> {
    if !matches!(present.language, Language::Go | Language::Rust) {
        return Vec::new();
    }
    let is_concerned = |change: &&SymbolChange| {
        matches!(change.what, DefinitionChangeKind::SignatureChanged { .. })
            && matches!(change.was.kind, DefinitionKind::Function | DefinitionKind::Method)
    };
    let resigned = changed.iter().filter(is_concerned);
    let unfit = resigned.filter_map(|change| {
        let was = &change.was;
        let same = |definition: &&Definition| {
            definition.name == was.name
                && definition.kind == was.kind
                && definition.container == was.container
        };
        let mut now = present.definitions.iter().filter(same);
        let (Some(is), None) = (now.next(), now.next()) else { return None };
        let line = match present.language {
            Language::Go => unfit_in_go(trees, file, was, is),
            _ => unfit_in_rust(trees, file, was, is),
        }?;
        let reason = format!("{} declares another result", is.name);
        Some(UnboundName { line, name: is.name.clone(), role: Role::Value, reason })
    });
    unfit.collect()
}

fn body_of<'s>(source: &'s Source, function: &Definition) -> Option<Node<'s>> {
    let named = |node: &Node<'_>| {
        let name = node.child_by_field_name("name");
        name.is_some_and(|name| line_of(name) == function.line && source.text(name) == &*function.name)
    };
    let kinds = ["function_declaration", "method_declaration", "function_item"];
    source.nodes(&kinds).into_iter().find(named)?.child_by_field_name("body")
}

/// The line of a return statement with other values than the function has results.
fn unfit_in_go(trees: &Trees<'_>, file: FileId, was: &Definition, is: &Definition) -> Option<u32> {
    let (before, now) = (result_count(was)?, result_count(is)?);
    let source = trees.get(file)?;
    let body = body_of(&source, is)?;
    let is_own = |node: &Node<'_>| {
        let mut around = ancestors(*node).skip(1).take_while(|ancestor| *ancestor != body);
        node.kind() == "return_statement" && !around.any(|node| node.kind() == "func_literal")
    };
    let returns: Vec<Node<'_>> = descendants(body).into_iter().filter(is_own).collect();
    if before == now {
        return unfit_value_in_go(trees.world, &source, (was, is), &returns);
    }
    let is_named = || {
        let result = body.parent().and_then(|parent| parent.child_by_field_name("result"));
        let first = result.and_then(|result| result.named_child(0));
        first.is_some_and(|node| node.child_by_field_name("name").is_some())
    };
    let is_unfit = |node: &&Node<'_>| {
        let Some(list) = node.named_child(0).filter(|child| child.kind() == "expression_list") else {
            return now > 0 && !is_named();
        };
        let is_call = list.named_child_count() == 1
            && list.named_child(0).is_some_and(|child| child.kind() == "call_expression");
        // The called function may have several results.
        list.named_child_count() != now && !(is_call && now > 1)
    };
    if let Some(unfit) = returns.iter().find(is_unfit) {
        return Some(line_of(*unfit));
    }
    // A function without results ends without a return.
    let last = last_child(body)?;
    let last = if last.kind() == "statement_list" { last_child(last)? } else { last };
    let goes_on = match last.kind() {
        "expression_statement" => !source.text(last).starts_with("panic("),
        "if_statement" => last.child_by_field_name("alternative").is_none(),
        // A loop without a condition has only a body.
        "for_statement" => last.named_child_count() > 1,
        kind => GOES_ON.contains(&kind),
    };
    (before == 0 && goes_on).then(|| line_of(last))
}

/// The line of a return statement whose value is a pointer where the function declares none now, or the other way round; or which
/// returns all results of a call in an unchanged body.
fn unfit_value_in_go(
    world: &dyn World,
    source: &Source,
    (was, is): (&Definition, &Definition),
    returns: &[Node<'_>],
) -> Option<u32> {
    let (before, now) = (result_type(Language::Go, was)?, result_type(Language::Go, is)?);
    let (before, now) = (result_types(&before), result_types(&now));
    let is_open = |type_: &str| matches!(type_, "any" | "error") || type_.starts_with("interface");
    let is_unfit = |statement: &&Node<'_>| {
        let values = statement.named_child(0).map(children).unwrap_or_default();
        let pairs = || before.iter().zip(&now).filter(|(before, now)| before != now && !is_open(now));
        if let [call] = values.as_slice()
            && call.kind() == "call_expression"
            && now.len() > 1
        {
            let name = call.child_by_field_name("function").map_or("", |function| source.text(function));
            let name = words(name).last().unwrap_or_default();
            return was.body == is.body && pairs().next().is_some() && !gives(world, name, &now);
        }
        values.len() == now.len()
            && values.iter().zip(before.iter().zip(&now)).any(|(value, (before, now))| {
                let text = source.text(*value);
                let gains = now.strip_prefix("* ") == Some(before);
                let loses = before.strip_prefix("* ") == Some(now);
                gains && value.kind() == "composite_literal"
                    || loses && (text == "nil" || text.starts_with('&') && text.ends_with('}'))
            })
    };
    returns.iter().find(is_unfit).map(|node| line_of(*node))
}

/// Returns true if a function of a name has these results.
fn gives(world: &dyn World, name: &str, results: &[String]) -> bool {
    let mut files = world.defining(name).into_iter().filter_map(|file| world.facts(file));
    files.any(|facts| {
        let mut functions = facts.definitions.iter().filter(|definition| *definition.name == *name);
        functions.any(|definition| {
            result_type(Language::Go, definition)
                .is_some_and(|result_type| result_types(&result_type) == results)
        })
    })
}

/// The line of the last expression of an unchanged body, if the function now declares a type around the former result, or the one
/// inside it.
fn unfit_in_rust(trees: &Trees<'_>, file: FileId, was: &Definition, is: &Definition) -> Option<u32> {
    let (before, now) = (result_type(Language::Rust, was)?, result_type(Language::Rust, is)?);
    let is_other = holds(&now, &before) || holds(&before, &now);
    if was.body != is.body || !is_other {
        return None;
    }
    let source = trees.get(file)?;
    let body = body_of(&source, is)?;
    let last = last_child(body)?;
    let is_flexible = || {
        descendants(last).into_iter().any(|descendant| {
            descendant.kind() == "macro_invocation"
                && descendant
                    .child_by_field_name("macro")
                    .is_some_and(|macro_node| DIVERGING.contains(&source.text(macro_node)))
                || descendant.kind().ends_with("identifier") && FLEXIBLE.contains(&source.text(descendant))
        })
    };
    let is_value = last.kind().ends_with("expression")
        || last.kind().ends_with("literal")
        || matches!(last.kind(), "identifier" | "self" | "macro_invocation");
    (is_value && !is_flexible()).then(|| line_of(last))
}

/// Returns true if a type is a wrapper around another one.
fn holds(outer: &str, inner: &str) -> bool {
    let Some((head, arguments)) = outer.split_once('<') else { return false };
    let name = head.rsplit("::").next().unwrap_or(head).trim();
    let rest = arguments.trim().strip_prefix(inner.trim());
    let is_whole = rest.is_some_and(|text| text.trim_start().starts_with(['>', ',']));
    WRAPPERS.contains(&name) && is_whole && !inner.trim().is_empty()
}

fn last_child(node: Node<'_>) -> Option<Node<'_>> {
    node.named_children(&mut node.walk()).last()
}
