//! C++: members that other classes could use and no longer can.

use std::collections::{BTreeMap, BTreeSet};

use super::super::tree::{Source, descendants};
use super::{Search, Unmet};
use crate::facts::{Definition, Facts};
use crate::language::Language;
use crate::resolve::path_of;

/// The members of a class by name, with the most visible access of each.
type Accesses = BTreeMap<(String, String), u8>;

const PRIVATE: u8 = 0;
const PROTECTED: u8 = 1;
const PUBLIC: u8 = 2;

/// Adds the uses of members that are private or protected now and were not.
pub(super) fn find(search: &Search<'_>, former: &str, new: &Facts, found: &mut Vec<Unmet>) {
    if !matches!(new.language, Language::Cpp | Language::C) {
        return;
    }
    let Some(before) = Source::new(Language::Cpp, former.into()) else { return };
    let now = search.world.text(search.file).and_then(|text| Source::new(Language::Cpp, text));
    let Some(now) = now else { return };
    let (was, is) = (accesses(&before), accesses(&now));
    for ((class, name), access) in &is {
        if was.get(&(class.clone(), name.clone())).is_none_or(|was| was <= access) || *access == PUBLIC {
            continue;
        }
        let is_member = |definition: &&Definition| {
            *definition.name == **name && definition.container.as_deref().map(last) == Some(class)
        };
        let members: Vec<Definition> = new.definitions.iter().filter(is_member).cloned().collect();
        let Some(member) = members.first() else { continue };
        for reference in search.references(search.file, &members) {
            let Some(facts) = search.world.facts(reference.file) else { continue };
            let within = reference.within.and_then(|at| facts.definitions.get(at as usize));
            let holders: BTreeSet<&str> = within
                .into_iter()
                .flat_map(|definition| {
                    definition
                        .container
                        .as_deref()
                        .into_iter()
                        .flat_map(|path| path.split('.'))
                        .chain([&*definition.name])
                })
                .collect();
            // Derived classes may use protected members, and friends any member.
            let is_inside = holders.contains(class.as_str())
                || *access == PROTECTED
                    && !holders.is_empty()
                    && within.is_some_and(|definition| definition.container.is_some());
            if !is_inside && !has_friends(&now, class) {
                found.push(Unmet {
                    file: reference.file,
                    line: reference.line,
                    pattern: reference.pattern.clone(),
                    reason: format!(
                        "{name} is {} now",
                        if *access == PRIVATE { "private" } else { "protected" }
                    ),
                    owner: path_of(member),
                });
            }
        }
    }
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// The access of each member that a file declares in a class.
fn accesses(source: &Source) -> Accesses {
    let mut found = Accesses::new();
    for class in source.nodes(&["class_specifier", "struct_specifier"]) {
        let (Some(name), Some(body)) = (class.child_by_field_name("name"), class.child_by_field_name("body"))
        else {
            continue;
        };
        let mut access = if class.kind() == "class_specifier" { PRIVATE } else { PUBLIC };
        for part in body.named_children(&mut body.walk()) {
            if part.kind() == "access_specifier" {
                access = match source.text(part) {
                    "public" => PUBLIC,
                    "protected" => PROTECTED,
                    _ => PRIVATE,
                };
                continue;
            }
            for declarator in part.children_by_field_name("declarator", &mut part.walk()) {
                let names = descendants(declarator);
                let Some(member) = names.into_iter().find(|node| node.kind() == "field_identifier") else {
                    continue;
                };
                let key = (source.text(name).to_owned(), source.text(member).to_owned());
                let known = found.entry(key).or_insert(access);
                *known = access.max(*known);
            }
        }
    }
    found
}

fn has_friends(source: &Source, class: &str) -> bool {
    let classes = source.nodes(&["class_specifier", "struct_specifier"]);
    let own = classes
        .into_iter()
        .filter(|node| node.child_by_field_name("name").is_some_and(|name| source.text(name) == class));
    own.into_iter()
        .any(|node| descendants(node).into_iter().any(|descendant| descendant.kind() == "friend_declaration"))
}
