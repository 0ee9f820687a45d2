//! Uses that a changed modifier does not affect: another visibility, `static`, exceptions. The place of a use decides.

mod header_words;

use tree_sitter::Node;

use super::obligations::is_anonymous_base;
use super::results::{call_of, member_of};
use super::tree::{Source, Trees, ancestors};
use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Definition, DefinitionKind, Facts, Role, Shape, Use};
use crate::language::Language;
use crate::reference::Reference;
use crate::resolve::path_of;
use crate::syntax::{TOKEN_END, children};
use crate::world::{FileId, World, base, parent, words};
use header_words::{BROAD, Difference, IO_EXCEPTIONS, VISIBILITIES, has_word, permits};
pub(super) use header_words::{covers, may_override, present};

/// Words that decide whether a field can be assigned.
const MUTABILITIES: &[&str] = &["const", "final", "let", "readonly", "val", "var"];

/// Functions of Kotlin whose lambda may suspend.
const SUSPENDING: &[&str] = &[
    "async",
    "channelFlow",
    "coroutineScope",
    "flow",
    "launch",
    "runBlocking",
    "runTest",
    "supervisorScope",
    "withContext",
    "withTimeout",
];

/// Returns true if a reference is a member that may no longer override the changed one, by the visibility and the exceptions of both.
pub(super) fn is_forbidden_override(
    trees: &Trees<'_>,
    home: FileId,
    (change, after): (&SymbolChange, Option<&Facts>),
    reference: &Reference,
) -> bool {
    use Language::{CSharp, Java, Kotlin, Php};
    let Some(after) = after.filter(|facts| matches!(facts.language, CSharp | Java | Kotlin | Php)) else {
        return false;
    };
    let Some(now) = present(after, &change.was).filter(|_| reference.role == Role::Override) else {
        return false;
    };
    let difference = Difference::new(&change.was, now);
    let place = Site { trees, home, world: trees.world, after, reference };
    !difference.is_empty()
        && difference.is_about_overrides()
        && place.redefinition().is_some_and(|other| !may_override(after.language, &other, now))
}

/// Returns true if only modifiers of a definition changed, and the place of a reference does not depend on them. `after` has the
/// present definition, in the file `home`.
pub(super) fn is_unaffected(
    trees: &Trees<'_>,
    home: FileId,
    (change, after): (&SymbolChange, Option<&Facts>),
    reference: &Reference,
) -> bool {
    let Some(after) = after.filter(|_| {
        matches!(
            change.what,
            DefinitionChangeKind::SignatureChanged { .. } | DefinitionChangeKind::VisibilityReduced
        )
    }) else {
        return false;
    };
    let Some(now) = present(after, &change.was) else { return false };
    let difference = Difference::new(&change.was, now);
    if difference.is_empty() {
        return false;
    }
    let place = Site { trees, home, world: trees.world, after, reference };
    if matches!(reference.role, Role::Override | Role::Redefine)
        && let Some(other) = place.redefinition()
        && difference.is_about_overrides()
    {
        return may_override(after.language, &other, now);
    }
    if let (Some(former), Some(heirs)) = (permits(&change.was), permits(now))
        && former != heirs
        && reference.role == Role::Extend
    {
        return place.heir().is_some_and(|heir| heirs.contains(&heir.as_str()));
    }
    if difference.removed.is_empty() && difference.added == ["abstract"] {
        return place.only_extends();
    }
    if difference.removed.is_empty() && difference.added == ["[", "]"] && place.is_element_of_annotation() {
        return true;
    }
    if matches!(after.language, Language::CSharp | Language::Kotlin | Language::Swift)
        && difference.is_about_accessors(&change.was, now)
    {
        return place.only_reads() || difference.removed.iter().any(|name| VISIBILITIES.contains(name));
    }
    if difference.is_within(VISIBILITIES) {
        return place.sees(now);
    }
    if difference.is_within(&["static"]) {
        return place.fits_static(difference.adds("static"));
    }
    if difference.is_within(MUTABILITIES) {
        return matches!(change.was.kind, DefinitionKind::Field | DefinitionKind::Value)
            && place.only_reads();
    }
    difference.all_in_suffix(after.language) && place.handles(&difference)
}

/// The place of a reference.
struct Site<'a> {
    trees: &'a Trees<'a>,
    /// The file of the definition.
    home: FileId,
    world: &'a dyn World,
    after: &'a Facts,
    reference: &'a Reference,
}

impl Site<'_> {
    /// Returns true if a member with other visibility can still be named here.
    fn sees(&self, now: &Definition) -> bool {
        let is_constructor =
            now.container.as_deref().and_then(|path| path.rsplit('.').next()) == Some(&now.name);
        let is_inside = || match is_constructor {
            true => self.only_makes_bases(),
            false => self.is_own_member(),
        };
        let visibility = now.header.split(TOKEN_END).find(|token| VISIBILITIES.contains(token));
        let is_redefined = matches!(self.reference.role, Role::Override | Role::Redefine);
        match (self.after.language, visibility) {
            (_, Some("public")) => true,
            (Language::Ruby, _) => self.is_own_member(),
            (Language::CSharp, Some("private")) => self.is_in_part_of(now),
            (Language::Php, Some("private")) => self.is_in_trait(now) && self.is_own_member(),
            (_, Some("private" | "fileprivate")) => false,
            _ if is_redefined => false,
            (Language::Java, None) => self.is_in_package(),
            (Language::Java, Some("protected")) => self.is_in_package() || is_inside(),
            (_, Some("protected")) => is_inside(),
            (Language::CSharp | Language::Kotlin, Some("internal")) => self.is_in_module(),
            (Language::Swift, Some("internal") | None) => self.is_in_module(),
            (Language::CSharp, None) if now.container.is_none() => self.is_in_module(),
            (Language::Kotlin | Language::Php, None) => true,
            _ => false,
        }
    }

    /// The member that defines the changed one again.
    fn redefinition(&self) -> Option<Definition> {
        let facts = self.world.facts(self.reference.file)?;
        let found = facts.definitions.get(self.reference.within? as usize)?;
        (*found.name == *self.reference.pattern).then(|| found.clone())
    }

    /// Returns true if every use here is a constructor's call of the one that it extends, or makes an object of a class without a name.
    fn only_makes_bases(&self) -> bool {
        let uses = self.uses();
        let is_base = |usage: &Use| matches!(usage.of, Some(Shape::Parent | Shape::Of(_)));
        !uses.is_empty() && uses.iter().all(is_base) || self.only_extends()
    }

    /// The name of the type that extends the changed one.
    fn heir(&self) -> Option<String> {
        let facts = self.world.facts(self.reference.file)?;
        let around = facts.definitions.get(self.reference.within? as usize)?;
        Some(around.name.to_string())
    }

    /// Returns true if the type is extended here, by a named class or one without a name, and no object of the type itself is made.
    fn only_extends(&self) -> bool {
        let Some(source) = self.trees.get(self.reference.file) else { return false };
        let leaves = source.leaves(self.reference.line, &self.reference.pattern);
        // The name of a type may have arguments or a package: `new shop.Adapter<String>()`.
        let is_part = |node: &Node<'_>| {
            matches!(node.kind(), "generic_name" | "generic_type" | "scoped_type_identifier")
        };
        let extends = |leaf: &Node<'_>| match ancestors(*leaf).find(|ancestor| !is_part(ancestor))?.kind() {
            "object_creation_expression" => Some(is_anonymous_base(*leaf)),
            "base_list" | "superclass" => Some(true),
            _ => None,
        };
        let mut found = leaves.iter().filter_map(extends).peekable();
        found.peek().is_some() && found.all(|flag| flag)
    }

    /// Returns true if the place is in another part of the type of a member.
    fn is_in_part_of(&self, member: &Definition) -> bool {
        let facts = self.world.facts(self.reference.file);
        let around = |at: u32| facts.as_deref()?.definitions.get(at as usize)?.container.clone();
        member.container.is_some() && self.reference.within.and_then(around) == member.container
    }

    /// Returns true if a member is one of a trait of PHP: it belongs to the types that use it.
    fn is_in_trait(&self, member: &Definition) -> bool {
        let holder = member.container.as_deref();
        self.after
            .definitions
            .iter()
            .any(|definition| Some(&*path_of(definition)) == holder && has_word(definition, "trait"))
    }

    fn is_in_package(&self) -> bool {
        self.world.facts(self.reference.file).is_some_and(|facts| facts.package == self.after.package)
    }

    /// Returns true if every use here is of a member of the enclosing type or of its base.
    fn is_own_member(&self) -> bool {
        let uses = self.uses();
        !uses.is_empty()
            && uses.iter().all(|usage| matches!(usage.of, None | Some(Shape::Itself | Shape::Parent)))
    }

    /// Returns true if the file belongs to the same build as the definition's.
    fn is_in_module(&self) -> bool {
        const BUILDS: &[&str] = &["build.gradle", "build.gradle.kts", "pom.xml"];
        let is_build = |path: &str| BUILDS.contains(&base(path)) || path.ends_with(".csproj");
        if self.after.language == Language::Swift {
            let target_of = |file| swift_target(self.world.path(file));
            return target_of(self.home) == target_of(self.reference.file);
        }
        let files = self.world.files();
        let roots: Vec<&str> = files
            .into_iter()
            .map(|file| self.world.path(file))
            .filter(|name| is_build(name))
            .map(parent)
            .collect();
        let root_of = |path: &str| {
            let inside = |root: &&&str| root.is_empty() || path.starts_with(&format!("{root}/"));
            roots.iter().filter(inside).max_by_key(|root| root.len()).copied()
        };
        root_of(self.world.path(self.home)) == root_of(self.world.path(self.reference.file))
    }

    fn uses(&self) -> Vec<Use> {
        let here = |usage: &&Use| usage.line == self.reference.line && usage.name == self.reference.pattern;
        let facts = self.world.facts(self.reference.file);
        facts.iter().flat_map(|candidate| &candidate.uses).filter(here).cloned().collect()
    }

    /// Returns true if the uses here fit a member that is static now, or no longer is.
    fn fits_static(&self, is_static: bool) -> bool {
        let (uses, language) = (self.uses(), self.after.language);
        if matches!(self.reference.role, Role::Override | Role::Redefine) || uses.is_empty() {
            return false;
        }
        // A reference to a method of the type takes the object as its first argument.
        if is_static && self.is_method_reference() {
            return false;
        }
        let names_type = |shape: &Shape| match shape {
            Shape::Name(path) => {
                path.rsplit('.').next().is_some_and(|name| name.starts_with(char::is_uppercase))
                    || matches!(&**path, "self" | "static" | "parent")
            }
            _ => false,
        };
        let is_implicit = language == Language::Swift && !is_static && self.is_implicit_member();
        !is_implicit
            && uses.iter().all(|usage| match &usage.of {
                None | Some(Shape::Itself) if !is_static => !self.is_in_static_function(),
                // An instance method of Swift names a static member by its type.
                None => language != Language::Swift,
                Some(of) if is_static => names_type(of) || matches!(language, Language::Java | Language::Php),
                Some(of) => !names_type(of),
            })
    }

    /// Returns true if a member of Swift is named behind a dot without its type.
    fn is_implicit_member(&self) -> bool {
        let Some(source) = self.trees.get(self.reference.file) else { return false };
        let leaves = source.leaves(self.reference.line, &self.reference.pattern);
        leaves.iter().any(|leaf| {
            let before = source.text.get(..leaf.start_byte()).and_then(|text| text.strip_suffix('.'));
            before.is_some_and(|text| {
                !text.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ')' | ']' | '?' | '!'))
            })
        })
    }

    fn is_method_reference(&self) -> bool {
        let Some(source) = self.trees.get(self.reference.file) else { return false };
        let leaves = source.leaves(self.reference.line, &self.reference.pattern);
        leaves.iter().any(|leaf| leaf.parent().is_some_and(|parent| parent.kind() == "method_reference"))
    }

    /// Returns true if a value is given for an element of an annotation: one value is an array with it.
    fn is_element_of_annotation(&self) -> bool {
        let Some(source) = self.trees.get(self.reference.file) else { return false };
        let leaves = source.leaves(self.reference.line, &self.reference.pattern);
        leaves.iter().any(|leaf| leaf.parent().is_some_and(|parent| parent.kind() == "element_value_pair"))
    }

    /// Returns true if nothing here assigns the field.
    fn only_reads(&self) -> bool {
        let Some(source) = self.trees.get(self.reference.file) else { return false };
        let leaves = source.leaves(self.reference.line, &self.reference.pattern);
        !leaves.is_empty() && leaves.into_iter().all(|leaf| !is_assigned(&source, member_of(leaf)))
    }

    fn is_in_static_function(&self) -> bool {
        let facts = self.world.facts(self.reference.file);
        let around = |at: u32| {
            let definition = facts.as_deref()?.definitions.get(at as usize)?;
            Some(definition.header.split(TOKEN_END).any(|token| token == "static"))
        };
        self.reference.within.and_then(around).unwrap_or(true)
    }

    /// Returns true if every call here handles the exceptions, or is where it may wait.
    fn handles(&self, difference: &Difference<'_>) -> bool {
        let Some(source) = self.trees.get(self.reference.file) else { return false };
        let leaves = source.leaves(self.reference.line, &self.reference.pattern);
        let handles = |leaf: &Node<'_>| {
            let Some(call) = call_of(*leaf).or_else(|| creation_of(*leaf)) else { return false };
            let text = |node: Node<'_>| source.text(node).to_owned();
            match source.language {
                Language::Java => {
                    let thrown: Vec<&str> =
                        difference.added.iter().filter(|name| ends_like_type(name)).copied().collect();
                    !thrown.is_empty() && thrown.iter().all(|name| is_caught(call, name, &text))
                }
                Language::Swift => difference.added.iter().all(|word| {
                    let mark = if *word == "async" { "await" } else { "try" };
                    ancestors(call).take(4).any(|ancestor| ancestor.kind() == format!("{mark}_expression"))
                }),
                Language::Kotlin => difference.added == ["suspend"] && may_suspend(call, &text),
                _ => false,
            }
        };
        !leaves.is_empty() && leaves.iter().all(handles)
    }
}

/// The directory of the target of Swift that a file is in: `Sources/NAME`, `Tests/NAME`.
fn swift_target(path: &str) -> Option<&str> {
    let parts: Vec<&str> = path.split('/').collect();
    let at = parts.iter().position(|part| matches!(*part, "Sources" | "Tests"))?;
    let length = parts.get(..at + 2)?.join("/").len();
    path.get(..length).filter(|_| parts.len() > at + 2)
}

/// Returns true if an expression is the target of an assignment.
pub(super) fn is_assigned(source: &Source, expression: Node<'_>) -> bool {
    let Some(around) = expression.parent() else { return false };
    let is_first = around.named_child(0) == Some(expression);
    let kind = around.kind();
    let written = source.text(around);
    match kind {
        _ if kind.contains("assignable") => is_assigned(source, around),
        _ if kind.contains("assignment") => is_first,
        _ if kind.contains("update") || kind.contains("unary") || kind.contains("prefix") => {
            ["++", "--", "&"].iter().any(|name| written.starts_with(name) || written.ends_with(name))
        }
        "postfix_expression" => written.ends_with("++") || written.ends_with("--"),
        _ => false,
    }
}

fn ends_like_type(word: &str) -> bool {
    word.starts_with(char::is_uppercase)
}

/// The creation of an object of the type that a leaf names.
fn creation_of(leaf: Node<'_>) -> Option<Node<'_>> {
    leaf.parent().filter(|parent| parent.kind() == "object_creation_expression")
}

/// Returns true if an exception of Java that a call throws is caught or declared around it.
fn is_caught(call: Node<'_>, exception: &str, text: &dyn Fn(Node<'_>) -> String) -> bool {
    let catches = |written: &str| {
        words(written).any(|word| {
            word == exception
                || BROAD.contains(&word)
                || word == "IOException" && IO_EXCEPTIONS.contains(&exception)
        })
    };
    let mut inner = call;
    for node in ancestors(call) {
        match node.kind() {
            "lambda_expression" => return is_asserted(node, text),
            "class_body" => return false,
            "try_statement" | "try_with_resources_statement" => {
                let is_tried = node.child_by_field_name("body") == Some(inner)
                    || node.child_by_field_name("resources") == Some(inner);
                let clauses = children(node).into_iter().filter(|child| child.kind() == "catch_clause");
                let mut types = clauses.filter_map(|clause| clause.named_child(0));
                if is_tried && types.any(|child| catches(&text(child))) {
                    return true;
                }
            }
            "method_declaration" | "constructor_declaration" => {
                return children(node)
                    .into_iter()
                    .any(|child| child.kind() == "throws" && catches(&text(child)));
            }
            _ => {}
        }
        inner = node;
    }
    false
}

/// Returns true if a lambda of Java is given to an assertion of a test library, which takes lambdas that throw anything.
fn is_asserted(lambda: Node<'_>, text: &dyn Fn(Node<'_>) -> String) -> bool {
    let call =
        lambda.parent().filter(|parent| parent.kind() == "argument_list").and_then(|parent| parent.parent());
    let name = call.and_then(|call| call.child_by_field_name("name")).map(text).unwrap_or_default();
    name.starts_with("assert") || name.starts_with("catchThrowable")
}

/// Returns true if a call of Kotlin is in a function or lambda that may suspend.
fn may_suspend(call: Node<'_>, text: &dyn Fn(Node<'_>) -> String) -> bool {
    ancestors(call).any(|node| match node.kind() {
        "function_declaration" => {
            let modifiers = children(node).into_iter().filter(|child| child.kind() == "modifiers");
            modifiers.into_iter().any(|modifier| words(&text(modifier)).any(|word| word == "suspend"))
        }
        "call_expression" => {
            let written = node.named_child(0).map(text).unwrap_or_default();
            let name = written.split(['(', '<']).next().unwrap_or_default();
            let name = name.rsplit('.').next().unwrap_or(name);
            node != call && SUSPENDING.contains(&name)
        }
        _ => false,
    })
}
