//! Places that accept a value of another type: a variable, a result or a parameter of a wider type, a comparison, a member that both types
//! have.

use tree_sitter::Node;

use super::super::tree::{Source, ancestors};
use crate::facts::DefinitionKind;
use crate::language::Language;
use crate::limits::Limit;
use crate::signature;
use crate::syntax::children;
use crate::world::{World, words};

/// Members of every object.
const OF_OBJECTS: &[&str] =
    &["Equals", "GetHashCode", "ToString", "equals", "getClass", "hashCode", "toString"];
const COLLECTIONS: &[&str] = &[
    "ArrayDeque",
    "ArrayList",
    "Collection",
    "Deque",
    "HashSet",
    "ImmutableList",
    "ImmutableSet",
    "LinkedHashSet",
    "LinkedList",
    "List",
    "MutableCollection",
    "MutableList",
    "MutableSet",
    "NavigableSet",
    "Queue",
    "Set",
    "SortedSet",
    "TreeSet",
];
const OF_COLLECTIONS: &[&str] = &[
    "addAll",
    "all",
    "any",
    "clear",
    "contains",
    "containsAll",
    "filter",
    "forEach",
    "isEmpty",
    "isNotEmpty",
    "iterator",
    "joinToString",
    "map",
    "none",
    "parallelStream",
    "removeAll",
    "removeIf",
    "retainAll",
    "size",
    "stream",
    "toArray",
    "toList",
    "toSet",
];
const MAPS: &[&str] = &[
    "ConcurrentHashMap",
    "ConcurrentMap",
    "HashMap",
    "ImmutableMap",
    "LinkedHashMap",
    "Map",
    "MutableMap",
    "SortedMap",
    "TreeMap",
];
const OF_MAPS: &[&str] = &[
    "clear",
    "computeIfAbsent",
    "containsKey",
    "containsValue",
    "entries",
    "entrySet",
    "forEach",
    "get",
    "getOrDefault",
    "isEmpty",
    "keySet",
    "keys",
    "merge",
    "put",
    "putAll",
    "putIfAbsent",
    "size",
    "values",
];
const TEXTS: &[&str] = &["CharSequence", "String", "StringBuffer", "StringBuilder"];
const OF_TEXTS: &[&str] = &["charAt", "chars", "isEmpty", "length", "subSequence"];
/// Types of functions whose result is dropped.
const ACTIONS: &[&str] = &["Action", "BiConsumer", "Consumer", "Runnable"];
/// Functions that drop the result of the function that they are given.
const CALLERS: &[&str] = &["Thread", "execute", "forEach", "ifPresent", "invokeLater", "runLater"];
/// Functions of the standard libraries that accept a value of any type.
const OPEN_FUNCTIONS: &[&str] =
    &["Equals", "append", "equals", "format", "hash", "printf", "requireNonNull", "valueOf"];
const COMPARISONS: &[&str] = &["<", "<=", "==", "!=", ">", ">="];
const CALCULATIONS: &[&str] = &["+", "-", "*", "/", "%"];
/// A name that more files contain is looked up in the first ones only.
const MAX_FILES: usize = 50;

/// The result of a call whose type changed.
pub(super) struct Value<'v> {
    pub(super) world: &'v dyn World,
    pub(super) source: &'v Source,
    /// The types before and after.
    pub(super) former: &'v str,
    pub(super) result: &'v str,
}

impl Value<'_> {
    /// Returns true if the place of an expression accepts the value.
    pub(super) fn fits(&self, expression: Node<'_>) -> bool {
        use Language::{CSharp, Java, Kotlin, Swift};
        if !matches!(self.source.language, CSharp | Java | Kotlin | Swift) {
            return false;
        }
        let Some(around) = expression.parent() else { return false };
        if matches!(self.result, "" | "void" | "Void" | "Unit") {
            return around.kind() == "lambda_expression" && self.is_dropped(around);
        }
        match around.kind() {
            "parenthesized_expression" => self.fits(around),
            "binary_expression" => self.fits_operation(around),
            // A compound assignment of Java converts its value.
            "assignment_expression" if self.source.language == Java => {
                let is_compound = children_of(around)
                    .iter()
                    .any(|node| node.kind().len() == 2 && node.kind().ends_with('='));
                is_compound && self.rank(self.result).is_some()
            }
            "lambda_expression" => self.is_dropped(around),
            "throw_statement" => self.source.language == Java && signature::is_unchecked(self.result),
            "enhanced_for_statement" | "for_statement" | "foreach_statement" => self.shares(COLLECTIONS),
            "method_invocation" | "field_access" | "member_access_expression" | "navigation_expression" => {
                around.named_child(0) == Some(expression) && self.has_member(around)
            }
            "argument_list" | "argument" | "value_argument" => self.fits_parameter(expression),
            _ => {
                expected_type(self.source, around).is_some_and(|expected_type| self.fits_type(expected_type))
            }
        }
    }

    fn fits_operation(&self, operation: Node<'_>) -> bool {
        let operator = children_of(operation).into_iter().map(|node| node.kind());
        let operators: Vec<&str> = operator.collect();
        let has = |known: &[&str]| operators.iter().any(|name| known.contains(name));
        let is_number = self.rank(self.result).is_some();
        let compares_with_null =
            children(operation).iter().any(|child| matches!(self.source.text(*child), "null" | "nil"));
        let is_kotlin = self.source.language == Language::Kotlin;
        has(COMPARISONS) && (is_number || compares_with_null && (is_kotlin || !is_primitive(self.result)))
            || is_number && has(CALCULATIONS) && self.fits(operation)
    }

    /// Returns true if a function is given where its result is dropped.
    fn is_dropped(&self, lambda: Node<'_>) -> bool {
        let Some(around) = lambda.parent() else { return false };
        let is_action = |type_: &str| words(type_).next().is_some_and(|word| ACTIONS.contains(&word));
        match around.kind() {
            "argument_list" => {
                let name = around.parent().and_then(|parent| {
                    parent.child_by_field_name("name").or(parent.child_by_field_name("type"))
                });
                name.is_some_and(|name| CALLERS.contains(&self.source.text(name)))
            }
            _ => expected_type(self.source, around).is_some_and(is_action),
        }
    }

    /// Returns true if both types are of one family, and hold the same.
    fn shares(&self, family: &[&str]) -> bool {
        let parts = |type_: &str| {
            let type_: String = type_.chars().filter(|c| !c.is_whitespace()).collect();
            let (head, arguments) =
                type_.split_once('<').map_or((&*type_, ""), |(head, rest_of_type)| (head, rest_of_type));
            (head.rsplit('.').next().unwrap_or(head).to_owned(), arguments.to_owned())
        };
        let ((was, arguments_before), (is, holds)) = (parts(self.former), parts(self.result));
        family.contains(&&*was) && family.contains(&&*is) && arguments_before == holds
    }

    /// Returns true if both types have the member that is named behind the value.
    fn has_member(&self, access: Node<'_>) -> bool {
        let name = ["name", "field"].iter().find_map(|name| access.child_by_field_name(name));
        let Some(name) = name.or_else(|| children(access).pop()) else { return false };
        let name = self.source.text(name);
        OF_OBJECTS.contains(&name) && !is_primitive(self.result)
            || OF_COLLECTIONS.contains(&name) && self.shares(COLLECTIONS)
            || OF_MAPS.contains(&name) && self.shares(MAPS)
            || OF_TEXTS.contains(&name) && self.shares(TEXTS)
    }

    /// Returns true if every function of the called name in the project accepts the value as this argument.
    fn fits_parameter(&self, argument: Node<'_>) -> bool {
        let outer = argument.parent().filter(|parent| matches!(parent.kind(), "argument" | "value_argument"));
        let argument = outer.unwrap_or(argument);
        let Some(list) = argument.parent() else { return false };
        let Some(at) = children(list).iter().position(|child| *child == argument) else { return false };
        let Some(call) = ancestors(list).find(|ancestor| ancestor.kind() != "call_suffix") else {
            return false;
        };
        let fields = ["name", "type", "function"];
        let callee =
            fields.iter().find_map(|field| call.child_by_field_name(field)).or_else(|| call.named_child(0));
        let Some(name) = callee.and_then(|callee| words(self.source.text(callee)).last()) else {
            return false;
        };
        if OPEN_FUNCTIONS.contains(&name) {
            return true;
        }
        let files = Limit::Files.take(self.world.containing(name), MAX_FILES);
        let facts: Vec<_> = files.filter_map(|file| self.world.facts(file)).collect();
        let functions =
            facts.iter().flat_map(|candidate| candidate.definitions.iter()).filter(|definition| {
                *definition.name == *name
                    && matches!(definition.kind, DefinitionKind::Function | DefinitionKind::Method)
            });
        let mut found = false;
        for function in functions {
            found = true;
            let parameters = signature::parameters(self.source.language, function);
            if parameters.get(at).is_some_and(|(_, type_)| !self.fits_type(type_)) {
                return false;
            }
        }
        found
    }

    /// Returns true if a value of the type is one of the written type, or is converted to it.
    fn fits_type(&self, expected: &str) -> bool {
        let ranks = self.rank(self.result).zip(self.rank(expected));
        let is_boxed = self.source.language == Language::Java && boxed(self.result) == boxed(expected);
        is_boxed
            || ranks.is_some_and(|(from, to)| from <= to)
            || signature::accepts(self.source.language, self.result, expected)
    }

    /// The position of a numeric type among those that its values are converted to without a cast.
    fn rank(&self, type_: &str) -> Option<usize> {
        const NUMBERS: &[&str] = &["byte", "short", "int", "long", "float", "double"];
        let is_converted = matches!(self.source.language, Language::Java | Language::CSharp);
        let type_ = type_.trim();
        // A boxed result is unboxed before it is converted.
        let is_it = |name: &&str| *name == type_ || type_ == self.result.trim() && boxed(name) == type_;
        NUMBERS.iter().position(is_it).filter(|_| is_converted)
    }
}

/// The class of Java for a primitive type.
fn boxed(type_: &str) -> &str {
    match type_.trim() {
        "boolean" => "Boolean",
        "byte" => "Byte",
        "char" => "Character",
        "double" => "Double",
        "float" => "Float",
        "int" => "Integer",
        "long" => "Long",
        "short" => "Short",
        other => other,
    }
}

fn children_of(node: Node<'_>) -> Vec<Node<'_>> {
    node.children(&mut node.walk()).collect()
}

fn is_primitive(type_: &str) -> bool {
    !type_.contains('<') && type_.starts_with(char::is_lowercase) && !matches!(type_, "string" | "object")
}

/// The type that is written for a value: of the variable that it initialises, of the function that returns it.
fn expected_type<'s>(source: &'s Source, around: Node<'s>) -> Option<&'s str> {
    let typed = |node: Node<'s>| {
        let fields = ["type", "returns", "return_type"];
        let field = fields.iter().find_map(|field| node.child_by_field_name(field));
        let written = ["user_type", "nullable_type", "optional_type"];
        field.or_else(|| children(node).into_iter().find(|child| written.contains(&child.kind())))
    };
    let declaration = match around.kind() {
        "variable_declarator" => around.parent()?,
        "equals_value_clause" => around.parent()?.parent()?,
        "statements" if around.named_child_count() > 1 => return None,
        "return_statement"
        | "return_expression"
        | "control_transfer_statement"
        | "arrow_expression_clause"
        | "function_body"
        | "statements" => {
            let is_function = |node: &Node<'_>| {
                let kind = node.kind();
                kind.contains("lambda") || kind.ends_with("declaration") || kind.contains("function")
            };
            ancestors(around).find(|ancestor| is_function(ancestor) && ancestor.kind() != "function_body")?
        }
        _ => return None,
    };
    typed(declaration).map(|node| source.text(node))
}
