//! Relations between types of Go's standard library.

use super::Relation;

/// Interfaces of Go's package `io`, by the methods that they ask for.
const INTERFACES: &[(&str, &str)] = &[
    ("Reader", "r"),
    ("Writer", "w"),
    ("Closer", "c"),
    ("ReadCloser", "rc"),
    ("WriteCloser", "wc"),
    ("ReadWriter", "rw"),
    ("ReadWriteCloser", "rwc"),
];

/// Types of Go's standard library, by the methods that they have.
const TYPES: &[(&str, &str)] = &[
    ("* os . File", "rwc"),
    ("* bytes . Buffer", "rw"),
    ("* bytes . Reader", "r"),
    ("* strings . Builder", "w"),
    ("* strings . Reader", "r"),
    ("* bufio . Reader", "r"),
    ("* bufio . Writer", "w"),
    ("net . Conn", "rwc"),
    ("http . ResponseWriter", "w"),
];

/// Relates types of Go's standard library to interfaces of its package `io`.
pub(super) fn relate(old: &[&str], new: &[&str]) -> Option<Relation> {
    let ["io", ".", wanted] = new else { return None };
    let asked = |name: &str| INTERFACES.iter().find(|(text, _)| *text == name).map(|(_, methods)| *methods);
    let has = match old {
        ["io", ".", name] => asked(name)?,
        _ => TYPES.iter().find(|(name, _)| *name == old.join(" ")).map(|(_, methods)| *methods)?,
    };
    let is_met = asked(wanted)?.chars().all(|c| has.contains(c));
    Some(if is_met { Relation::Wider } else { Relation::Unknown })
}
