//! Members that a type of the project certainly does not have.

use std::ops::Range;
use std::rc::Rc;

use super::names::{Query, Symbol, View};
use super::search::container_of;
use super::types::{Place, Value};
use super::{Packages, is_type};
use crate::facts::{Definition, DefinitionKind, Role, Shape, Use};
use crate::language::Language;
use crate::reference::{Kind, MissingName};
use crate::resolve::path_of;
use crate::syntax::TOKEN_END;
use crate::world::{FileId, World};

/// Annotations of Java whose processors add no members.
const PLAIN_ANNOTATIONS: &[&str] = &["Deprecated", "FunctionalInterface", "SafeVarargs", "SuppressWarnings"];

/// Members that every type of a language has, or every enumeration.
fn inherent(language: Language) -> &'static [&'static str] {
    match language {
        Language::Java => &[
            "class",
            "clone",
            "compareTo",
            "describeConstable",
            "equals",
            "finalize",
            "getClass",
            "getDeclaringClass",
            "hashCode",
            "length",
            "name",
            "notify",
            "notifyAll",
            "ordinal",
            "super",
            "this",
            "toString",
            "valueOf",
            "values",
            "wait",
        ],
        Language::Kotlin => &[
            "Companion",
            "also",
            "apply",
            "class",
            "compareTo",
            "copy",
            "entries",
            "equals",
            "hashCode",
            "java",
            "javaClass",
            "let",
            "name",
            "ordinal",
            "rangeTo",
            "run",
            "takeIf",
            "takeUnless",
            "to",
            "toString",
            "use",
            "valueOf",
            "values",
        ],
        Language::CSharp => &[
            "CompareTo",
            "Deconstruct",
            "Equals",
            "EqualityContract",
            "GetHashCode",
            "GetType",
            "GetValueOrDefault",
            "HasFlag",
            "HasValue",
            "Invoke",
            "MemberwiseClone",
            "ReferenceEquals",
            "ToString",
            "Value",
        ],
        Language::Go => &["_"],
        Language::Php => &["cases", "class", "from", "name", "tryFrom", "value"],
        Language::Ruby => &["VERSION"],
        Language::Swift => &[
            "Type",
            "allCases",
            "debugDescription",
            "description",
            "encode",
            "flatMap",
            "hash",
            "hashValue",
            "init",
            "localizedDescription",
            "map",
            "none",
            "rawValue",
            "self",
            "some",
            "unsafelyUnwrapped",
        ],
        _ => &[],
    }
}

/// Bases outside the project that add no other members than [`inherent`] ones.
fn plain_bases(language: Language) -> &'static [&'static str] {
    match language {
        Language::Java => &["Cloneable", "Comparable", "Serializable"],
        Language::CSharp => &["byte", "int", "long", "short", "uint"],
        Language::Kotlin => &["Comparable", "Serializable"],
        Language::Php => &["BackedEnum", "JsonSerializable", "Stringable", "UnitEnum"],
        Language::Swift => &[
            "CaseIterable",
            "Codable",
            "CustomStringConvertible",
            "Decodable",
            "Encodable",
            "Equatable",
            "Error",
            "Hashable",
            "Int",
            "Sendable",
            "String",
        ],
        _ => &[],
    }
}

/// Returns the members that uses on `lines` name and the types of their values certainly do not have.
pub(crate) fn missing_members(
    world: &dyn World,
    packages: &dyn Packages,
    file: FileId,
    lines: &[Range<u32>],
) -> Vec<MissingName> {
    let query = Query::new(world, packages);
    let Some(view) = query.view(file).filter(|view| !inherent(view.facts.language).is_empty()) else {
        return Vec::new();
    };
    let text = world.text(file).unwrap_or_default();
    let text: Vec<&str> = text.lines().collect();
    let search = Search { query: &query, file, view: &view };
    let is_asked = |used: &&Use| {
        let line = text.get((used.line as usize).saturating_sub(1)).copied().unwrap_or_default();
        matches!(used.role, Role::Call | Role::Value)
            && lines.iter().any(|range| range.contains(&used.line))
            && line.contains(&*used.name)
            && !inherent(view.facts.language).contains(&&*used.name)
            && !(view.facts.language == Language::Php && is_assigned(line, &used.name))
    };
    let uses = view.facts.uses.iter().filter(is_asked);
    uses.filter_map(|used| {
        let module = search.lacking_type(used)?;
        Some(MissingName { line: used.line, kind: Kind::Symbol, name: used.name.clone(), module })
    })
    .collect()
}

/// Returns true if a line assigns to a member, which creates it in PHP.
fn is_assigned(line: &str, name: &str) -> bool {
    let mut places = line.match_indices(name).map(|(at, _)| line[at + name.len()..].trim_start());
    places.any(|rest| rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>"))
}

struct Search<'q, 'w> {
    query: &'q Query<'w>,
    file: FileId,
    view: &'q View,
}

impl Search<'_, '_> {
    /// Returns the name of the type that should have the used member and does not.
    fn lacking_type(&self, used: &Use) -> Option<Box<str>> {
        let language = self.view.facts.language;
        let place = Place { file: self.file, container: container_of(self.view, used.within) };
        let Some(shape) = &used.of else {
            return self.lacking_around(place, used).filter(|_| language == Language::Java);
        };
        if !self.is_plain(place, shape) {
            return None;
        }
        let (class, is_static) = match self.query.value(place, shape) {
            Value::Of(class, _) => (class, false),
            Value::Path(path) => (self.query.type_of(self.file, place.container, &path)?, true),
            _ => return None,
        };
        // Only constants of Ruby are known: methods are often made at run time.
        let is_constant = is_static && used.name.starts_with(char::is_uppercase);
        if language == Language::Ruby && !is_constant {
            return None;
        }
        // A value may have been narrowed to a subtype, or an extension may have the member.
        let is_open = !is_static && language != Language::Java;
        if is_open && !self.query.all_definitions_of(&used.name).is_empty() {
            return None;
        }
        let is_own = matches!(shape, Shape::Itself);
        if is_own && matches!(language, Language::Kotlin | Language::Swift) {
            return None;
        }
        if !is_static && language == Language::CSharp && !self.has_standard_imports() {
            return None;
        }
        self.lacks(class, &used.name)
    }

    /// Returns true if nothing but the declared types decides the type of an expression: no choice among several functions.
    fn is_plain(&self, place: Place<'_>, shape: &Shape) -> bool {
        match shape {
            Shape::Of(_) | Shape::Name(_) | Shape::Itself => true,
            Shape::Member(of, _) => self.is_plain(place, of),
            Shape::Call(callee) => match &**callee {
                Shape::Name(path) => self.query.type_of(self.file, place.container, path).is_some(),
                Shape::Member(of, name) => {
                    let members = match self.query.value(place, of) {
                        Value::Of(class, _) => self.query.members(class, name),
                        Value::Path(path) => {
                            let class = self.query.type_of(self.file, place.container, &path);
                            class.map(|class| self.query.members(class, name)).unwrap_or_default()
                        }
                        _ => Rc::default(),
                    };
                    members.len() == 1 && self.is_plain(place, of)
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Returns the innermost type around a bare call, if neither that nor a type around it has such a method.
    fn lacking_around(&self, place: Place<'_>, used: &Use) -> Option<Box<str>> {
        let bindings = self.query.bindings(self.view);
        let imports_members = |glob: &String| {
            let last = glob.rsplit('.').next().unwrap_or(glob);
            last.starts_with(char::is_uppercase)
        };
        if used.role != Role::Call
            || !used.name.starts_with(char::is_lowercase)
            || bindings.names.iter().any(|bound| bound.local == used.name)
            || bindings.globs.iter().any(imports_members)
        {
            return None;
        }
        let mut path = place.container?;
        let innermost = self.type_at(path)?;
        let name = self.lacks(innermost, &used.name)?;
        while let Some((outer, _)) = path.rsplit_once('.') {
            self.lacks(self.type_at(outer)?, &used.name)?;
            path = outer;
        }
        Some(name)
    }

    fn type_at(&self, path: &str) -> Option<Symbol> {
        let is_it = |definition: &Definition| is_type(definition) && path_of(definition) == path;
        let at = self.view.facts.definitions.iter().position(is_it)?;
        Some(Symbol { file: self.file, at })
    }

    /// Returns true if no library whose extension methods are unknown is imported.
    fn has_standard_imports(&self) -> bool {
        let globs = &self.query.bindings(self.view).globs;
        globs.iter().all(|glob| glob == "System" || glob.starts_with("System."))
    }

    /// Returns the name of the type if it certainly has no such member.
    fn lacks(&self, class: Symbol, name: &str) -> Option<Box<str>> {
        let definition = self.query.definition(class)?;
        let is_closed = definition.gives.is_none()
            && self.has_members(class)
            && self.query.ancestors(class).iter().all(|symbol| self.is_closed(*symbol));
        // An embedded type of Go is also a field.
        let is_embedded = |symbol: &Symbol| {
            let definition = self.query.definition(*symbol);
            definition.is_some_and(|defined| {
                defined.extends.iter().any(|base| base.rsplit('.').next() == Some(name))
            })
        };
        let is_missing = || {
            self.query.members(class, name).is_empty()
                && !self.query.ancestors(class).iter().chain([&class]).any(is_embedded)
        };
        (is_closed && is_missing()).then(|| definition.name.clone())
    }

    /// Returns true if the file of a type shows members of it.
    fn has_members(&self, class: Symbol) -> bool {
        let (Some(definition), Some(view)) = (self.query.definition(class), self.query.view(class.file))
        else {
            return false;
        };
        let path = path_of(&definition);
        let is_value = |candidate: &Definition| {
            use DefinitionKind::{Field, Method, Variant};
            matches!(candidate.kind, Field | Method | Variant)
                && candidate.container.as_deref() == Some(&*path)
        };
        view.facts.definitions.iter().any(is_value)
    }

    /// Returns true if all members that a type adds to its bases are known.
    fn is_closed(&self, class: Symbol) -> bool {
        let Some(full) = self.query.full(class) else {
            return false;
        };
        let parts = self.query.types_with(&full);
        let is_swift = self.view.facts.language == Language::Swift;
        let is_single = parts.iter().all(|symbol| symbol.file == class.file);
        (is_swift || is_single) && parts.into_iter().chain([class]).all(|part| self.is_closed_part(part))
    }

    fn is_closed_part(&self, part: Symbol) -> bool {
        let Some(definition) = self.query.definition(part) else { return false };
        let Some(view) = self.query.view(part.file) else { return false };
        let language = view.facts.language;
        let path = path_of(&definition);
        let is_known = |base: &str| {
            let container = definition.container.as_deref();
            let found = self.query.type_of(part.file, container, base);
            let found = found.or_else(|| self.query.type_of(part.file, Some(&path), base));
            found.is_some() || plain_bases(language).contains(&base)
        };
        let tokens: Vec<&str> = definition.header.split(TOKEN_END).collect();
        let adds_members = match language {
            Language::Java => {
                let after_at = tokens.windows(2).filter(|window| window[0] == "@").map(|window| window[1]);
                let mut annotations = after_at.filter(|after_at| *after_at != "interface");
                annotations.any(|annotation| !PLAIN_ANNOTATIONS.contains(&annotation))
                    || self.has_generated_accessors(&view, &path)
            }
            Language::CSharp => tokens.contains(&"partial"),
            Language::Go | Language::Ruby => false,
            Language::Swift => tokens.contains(&"dynamicMemberLookup"),
            Language::Kotlin => tokens.iter().any(|token| matches!(*token, "expect" | "actual")),
            Language::Php => {
                let magic = ["__call", "__callStatic", "__get"];
                tokens.contains(&"trait")
                    || magic.iter().any(|name| !self.query.members(part, name).is_empty())
            }
            _ => true,
        };
        language == self.view.facts.language
            && view.facts.problems == 0
            && !tokens.iter().all(|token| token.is_empty())
            && !adds_members
            && definition.extends.iter().all(|base| is_known(base))
    }

    /// Returns true if an annotation of a field of Java generates its accessors.
    fn has_generated_accessors(&self, view: &View, path: &str) -> bool {
        let is_annotated = |definition: &Definition| {
            definition.kind == DefinitionKind::Field
                && definition.container.as_deref() == Some(path)
                && definition.header.split(TOKEN_END).any(|token| matches!(token, "Getter" | "Setter"))
        };
        view.facts.definitions.iter().any(is_annotated)
    }
}
