//! Values in a changed file that no longer fit what the file declares: what a function returns, what is assigned to a field.

use tree_sitter::Node;

use super::super::modifiers::{is_assigned, may_override};
use super::super::overloads::{conflict, type_of};
use super::super::results::member_of;
use super::super::tree::{Source, Trees, ancestors, descendants};
use super::requirements::bases;
use super::unbound::UnboundName;
use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Definition, DefinitionKind, Facts, Reach, Role};
use crate::language::Language;
use crate::package::is_type;
use crate::resolve::path_of;
use crate::signature::result_type;
use crate::syntax::{TOKEN_END, children, line_of};
use crate::world::{FileId, World};

const FUNCTIONS: &[&str] = &["constructor_declaration", "function_declaration", "method_declaration"];
/// Functions inside others: what they return is theirs.
const INNER: &[&str] = &[
    "anonymous_function",
    "anonymous_function_creation_expression",
    "anonymous_method_expression",
    "class_body",
    "function_declaration",
    "lambda_expression",
    "lambda_literal",
    "local_function_statement",
    "method_declaration",
];
/// Words of a field that can be assigned once.
const FIXED: &[&str] = &["const", "final", "let", "readonly", "val"];

/// Returns the places of the file that no longer fit a changed declaration in it.
pub(super) fn unfit_values(
    trees: &Trees<'_>,
    file: FileId,
    present: &Facts,
    changed: &[SymbolChange],
) -> Vec<UnboundName> {
    use Language::{CSharp, Java, Kotlin, Php, Swift};
    if !matches!(present.language, CSharp | Java | Kotlin | Php | Swift) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for change in changed {
        let was = &change.was;
        let same = |definition: &&Definition| {
            definition.name == was.name
                && definition.kind == was.kind
                && definition.container == was.container
        };
        let mut now =
            present.definitions.iter().filter(same).filter(|definition| definition.header != was.header);
        let (Some(is), None) = (now.next(), now.next()) else { continue };
        let pair = Pair { language: present.language, was, is };
        if !matches!(
            change.what,
            DefinitionChangeKind::SignatureChanged { .. } | DefinitionChangeKind::Compatible
        ) {
            continue;
        }
        if let Some(base) = overridden(trees.world, present, is)
            && !may_override(present.language, is, &base)
            && may_override(present.language, was, &base)
        {
            let reason = format!("{} may not override {} any more", is.name, path_of(&base));
            found.push(UnboundName { line: is.line, name: is.name.clone(), role: Role::Override, reason });
        }
        let Some(source) = trees.get(file) else { return found };
        let unfit = match was.kind {
            DefinitionKind::Function | DefinitionKind::Method => pair.unfit_return(&source),
            DefinitionKind::Field => pair.unfit_assignment(&source),
            _ => None,
        };
        found.extend(unfit.map(|(line, reason)| UnboundName {
            line,
            name: is.name.clone(),
            role: Role::Value,
            reason,
        }));
    }
    found.extend(incomplete_types(present));
    found
}

/// The method of a base that a method overrides, if one is known.
fn overridden(world: &dyn World, facts: &Facts, is: &Definition) -> Option<Definition> {
    let path = is.container.as_deref().filter(|_| is.kind == DefinitionKind::Method)?;
    let owner =
        facts.definitions.iter().find(|definition| is_type(definition) && path_of(definition) == path)?;
    let class = path.rsplit('.').next();
    let is_constructor = class == Some(&is.name) || matches!(&*is.name, "__construct" | "constructor");
    if owner.extends.is_empty() || is_constructor || facts.language == Language::Swift {
        return None;
    }
    let bases = bases(world, owner);
    let is_base = |definition: &Definition| {
        let holder = definition.container.as_deref().and_then(|path| path.rsplit('.').next());
        definition.name == is.name
            && definition.kind == is.kind
            && definition.arity == is.arity
            && definition.reach > Reach::File
            && holder.is_some_and(|holder| bases.iter().any(|base| **base == *holder))
    };
    let files = world.defining(&is.name).into_iter().filter_map(|file| world.facts(file));
    files.into_iter().find_map(|file| file.definitions.iter().find(|definition| is_base(definition)).cloned())
}

/// A definition before and after the edit.
struct Pair<'d> {
    language: Language,
    was: &'d Definition,
    is: &'d Definition,
}

impl Pair<'_> {
    /// The line of a return statement that does not fit the declared result.
    fn unfit_return(&self, source: &Source) -> Option<(u32, String)> {
        let (before, now) = (result_type(self.language, self.was)?, result_type(self.language, self.is)?);
        if before == now || self.is.header.split(TOKEN_END).any(|token| token == "async") {
            return None;
        }
        let body = body_of(source, self.is)?;
        let is_own = |node: &Node<'_>| {
            !ancestors(*node)
                .take_while(|ancestor| *ancestor != body)
                .any(|ancestor| INNER.contains(&ancestor.kind()))
        };
        let nodes: Vec<Node<'_>> = descendants(body).into_iter().filter(is_own).collect();
        let kinds =
            ["return_statement", "return_expression", "control_transfer_statement", "jump_expression"];
        let is_return =
            |node: &&Node<'_>| kinds.contains(&node.kind()) && source.text(**node).starts_with("return");
        let returns: Vec<Node<'_>> = nodes.iter().filter(is_return).copied().collect();
        let name = &self.is.name;
        match (gives_nothing(self.language, &before), gives_nothing(self.language, &now)) {
            (false, true) => {
                let unfit = returns.iter().find(|node| value_of(**node).is_some())?;
                Some((line_of(*unfit), format!("{name} declares no result")))
            }
            (true, false) => {
                if let Some(empty) = returns.iter().find(|node| value_of(**node).is_none()) {
                    return Some((line_of(*empty), format!("{name} must return a value")));
                }
                let ends = ["throw_statement", "throw_expression", "while_statement", "yield_statement"];
                let goes_on = !nodes.iter().any(|node| ends.contains(&node.kind()));
                let is_block = !matches!(self.language, Language::Kotlin | Language::Swift)
                    || self.language == Language::Kotlin && source.text(body).starts_with('{');
                (returns.is_empty() && goes_on && is_block)
                    .then(|| (self.is.line, format!("{name} must return a value")))
            }
            _ => {
                let unfit = returns.iter().find(|node| {
                    let given = value_of(**node).and_then(|node| type_of(source, node));
                    given.is_some_and(|given| conflict(&given, &now))
                })?;
                Some((line_of(*unfit), format!("{name} declares another result")))
            }
        }
    }

    /// The line of an assignment that the field does not take.
    fn unfit_assignment(&self, source: &Source) -> Option<(u32, String)> {
        let has = |definition: &Definition, word: &str| {
            definition.header.split(TOKEN_END).any(|token| token == word)
        };
        let is_fixed = FIXED.iter().any(|name| has(self.is, name) && !has(self.was, name));
        let type_ = declared_type(source, self.is);
        let name = &*self.is.name;
        let class = self.is.container.as_deref().and_then(|path| path.rsplit('.').next());
        let is_here = |node: &Node<'_>| node.child_count() == 0 && source.text(*node) == name;
        for leaf in descendants(source.root()).into_iter().filter(is_here) {
            let expression = member_of(leaf);
            if !is_assigned(source, expression) || !self.is_meant(source, leaf, expression, class) {
                continue;
            }
            if is_fixed && (has(self.is, "static") || !is_in_constructor(source, leaf, class)) {
                return Some((line_of(leaf), format!("{name} cannot be assigned any more")));
            }
            let right = expression.parent().and_then(|parent| parent.child_by_field_name("right"));
            let given = right.and_then(|node| type_of(source, node));
            if let Some((given, type_)) = given.zip(type_.as_ref())
                && conflict(&given, type_)
            {
                return Some((line_of(leaf), format!("{name} has another type")));
            }
        }
        None
    }

    /// Returns true if an assigned name is that of the field: in its class, and no local variable.
    fn is_meant(&self, source: &Source, leaf: Node<'_>, expression: Node<'_>, class: Option<&str>) -> bool {
        let owner = ancestors(leaf).find(|ancestor| {
            ancestor.kind().ends_with("class_declaration")
                || ancestor.kind().ends_with("record_declaration")
                || ancestor.kind().ends_with("struct_declaration")
                || ancestor.kind().ends_with("enum_declaration")
        });
        let named = owner.and_then(|owner| owner.child_by_field_name("name")).map(|name| source.text(name));
        let written = source.text(expression);
        let is_own =
            written == format!("this.{}", self.is.name) || written == format!("self.{}", self.is.name);
        named == class && (is_own || expression == leaf && !is_local(source, leaf))
    }
}

/// Returns true if a function around a name has a parameter or variable of that name.
fn is_local(source: &Source, leaf: Node<'_>) -> bool {
    let Some(function) = ancestors(leaf).find(|ancestor| FUNCTIONS.contains(&ancestor.kind())) else {
        return false;
    };
    let declares = |node: &Node<'_>| {
        let is_name =
            node.child_by_field_name("name").is_some_and(|name| source.text(name) == source.text(leaf));
        is_name
            && (node.kind().contains("parameter")
                || node.kind().contains("declarator")
                || node.kind().contains("variable"))
    };
    descendants(function).iter().any(declares)
}

/// Returns true if a name is in a constructor or initializer of the class.
fn is_in_constructor(source: &Source, leaf: Node<'_>, class: Option<&str>) -> bool {
    ancestors(leaf).any(|ancestor| {
        let kind = ancestor.kind();
        let named = || ancestor.child_by_field_name("name").map(|name| source.text(name));
        kind.contains("constructor")
            || kind.contains("initializer")
            || kind == "init_declaration"
            || kind == "method_declaration" && (named() == class || named() == Some("__construct"))
    }) && !ancestors(leaf).any(|ancestor| ancestor.kind() == "lambda_expression")
}

/// Returns the type with which a field of Java or C# is declared.
fn declared_type(source: &Source, field: &Definition) -> Option<String> {
    let nodes = source.nodes(&["field_declaration"]);
    let own = nodes
        .into_iter()
        .find(|node| line_of(*node) <= field.line && field.line <= crate::syntax::end_line_of(*node))?;
    let type_ = own
        .child_by_field_name("type")
        .or_else(|| children(own).into_iter().find_map(|child| child.child_by_field_name("type")))?;
    Some(source.text(type_).to_owned())
}

/// Returns the value behind `return`.
fn value_of(statement: Node<'_>) -> Option<Node<'_>> {
    children(statement).into_iter().find(|child| !child.is_extra())
}

fn gives_nothing(language: Language, result: &str) -> bool {
    match language {
        Language::Kotlin => result.is_empty() || result == "Unit",
        Language::Swift => matches!(result, "" | "Void" | "( )"),
        // Without a type a function of PHP may return anything.
        Language::Php => matches!(result, "void" | "never"),
        _ => result == "void",
    }
}

fn body_of<'s>(source: &'s Source, function: &Definition) -> Option<Node<'s>> {
    let named = |node: &Node<'_>| {
        let name = node.child_by_field_name("name").or_else(|| {
            children(*node)
                .into_iter()
                .find(|child| matches!(child.kind(), "identifier" | "simple_identifier"))
        });
        name.is_some_and(|name| line_of(name) == function.line && source.text(name) == &*function.name)
    };
    let function = source.nodes(FUNCTIONS).into_iter().find(named)?;
    let body = function.child_by_field_name("body");
    let body = body.or_else(|| children(function).into_iter().find(|child| child.kind() == "function_body"));
    // A body of Kotlin is a block or an expression.
    body.map(|body| if body.kind() == "function_body" { body.named_child(0).unwrap_or(body) } else { body })
}

/// Returns the classes that are not abstract and have an abstract member of their own, and the constants of an enumeration of Java
/// without a body for one.
pub(super) fn incomplete_types(facts: &Facts) -> Vec<UnboundName> {
    use DefinitionKind::{Method, Type, Variant};
    let has =
        |definition: &Definition, word: &str| definition.header.split(TOKEN_END).any(|token| token == word);
    let mut found = Vec::new();
    for owner in facts
        .definitions
        .iter()
        .filter(|definition| is_type(definition) && definition.kind == Type && !definition.header.is_empty())
    {
        let path = path_of(owner);
        let inside = |definition: &&Definition| definition.container.as_deref() == Some(&*path);
        let is_open = ["abstract", "interface", "@interface", "sealed", "trait", "protocol", "enum"];
        let is_open = is_open.iter().any(|word| has(owner, word));
        let mut members = facts.definitions.iter().filter(inside);
        let Some(missing) =
            members.find(|definition| definition.kind == Method && has(definition, "abstract"))
        else {
            continue;
        };
        let constants =
            facts.definitions.iter().filter(inside).filter(|definition| definition.kind == Variant);
        let has_body = |constant: &Definition| {
            let name = format!("_{}", constant.line);
            facts
                .definitions
                .iter()
                .filter(inside)
                .any(|definition| definition.kind == Type && *definition.name == *name)
        };
        let is_enum =
            facts.language == Language::Java && (has(owner, "enum") || constants.clone().next().is_some());
        let line = match is_enum {
            true => {
                constants.clone().find(|definition| !has_body(definition)).map(|definition| definition.line)
            }
            false => (!is_open).then_some(owner.line),
        };
        found.extend(line.map(|line| UnboundName {
            line,
            name: owner.name.clone(),
            role: Role::Value,
            reason: format!("{} does not implement {}", owner.name, missing.name),
        }));
    }
    found
}
