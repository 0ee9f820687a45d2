//! Swift in small projects of several files: resolved and unresolved references, and effects of changes.

mod changes;

use crate::fixture::{outgoing, referrers};
use crate::language::facts;

const PROJECT: &str = r#"
=== Sources/Shop/Store.swift
import Foundation

public let limit = 3

public class Store: Base {
    public let name: String
    private var items: [Item] = []
    static var count = 0

    public init(name: String, size: Int = 1) {
        self.name = name
    }

    override func get(_ id: Int) -> Item? {
        return items[id]
    }

    static func open(_ name: String) -> Store {
        return Store(name: name)
    }
}

enum Kind {
    case small, large
}

func helper(_ a: Int, by b: Int = 2) -> Int {
    return a
}
=== Sources/Shop/Base.swift
public class Base {
    func get(_ id: Int) -> Item? { return nil }
    func tag() -> String { return "" }
}

protocol Priced {
    func cost(_ n: Int) -> Int
}
=== Sources/Shop/Item.swift
public struct Item: Priced {
    public var price: Int

    public func cost(_ n: Int) -> Int {
        return price * n
    }
}

extension Store {
    func extra() -> Int {
        return helper(1)
    }
}
=== Sources/App/Main.swift
import Shop

struct Main {
    let store: Store

    func run(all: [Item]) {
        if let item = store.get(limit) {
            _ = item.cost(2)
        }
        for one in all {
            _ = one.cost(3)
        }
        let other = Store.open("b")
        other.get(4)
        print(store.name, other.tag())
        all.map { $0.cost(5) }
        let kind = Kind.small
        let made = Store(name: "a")
        made.extra()
    }
}
=== Sources/Else/Store.swift
class Store {
    func get(_ id: Int) -> Int { return id }
}

func use(store: Store) -> Int { return store.get(1) }
"#;

#[test]
fn a_module_is_seen_without_imports_inside_and_with_them_outside() {
    assert_eq!(
        referrers(PROJECT, "Sources/Shop/Store.swift", "Store"),
        [
            "Sources/App/Main.swift:4 Type",
            "Sources/App/Main.swift:13 Owner",
            "Sources/App/Main.swift:18 Call(1)",
            "Sources/Shop/Item.swift:9 Type",
        ]
    );
    assert_eq!(
        referrers(PROJECT, "Sources/Shop/Store.swift", "helper"),
        ["Sources/Shop/Item.swift:11 Call(1)"]
    );
    assert_eq!(referrers(PROJECT, "Sources/Shop/Store.swift", "limit"), ["Sources/App/Main.swift:7 Value"]);
}

#[test]
fn members_follow_the_types_of_their_values() {
    assert_eq!(
        referrers(PROJECT, "Sources/Shop/Store.swift", "Store.get"),
        ["Sources/App/Main.swift:7 Call(1)", "Sources/App/Main.swift:14 Call(1)"]
    );
    assert_eq!(
        referrers(PROJECT, "Sources/Shop/Base.swift", "Base.get"),
        ["Sources/Shop/Store.swift:14 Override"]
    );
    assert_eq!(
        referrers(PROJECT, "Sources/Shop/Base.swift", "Base.tag"),
        ["Sources/App/Main.swift:15 Call(0)"]
    );
    assert_eq!(
        referrers(PROJECT, "Sources/Shop/Item.swift", "Item.cost"),
        [
            "Sources/App/Main.swift:8 Call(1)",
            "Sources/App/Main.swift:11 Call(1)",
            "Sources/App/Main.swift:16 Call(1)?",
        ]
    );
    assert_eq!(
        referrers(PROJECT, "Sources/Shop/Base.swift", "Priced.cost"),
        ["Sources/App/Main.swift:16 Call(1)?", "Sources/Shop/Item.swift:4 Override"]
    );
    assert_eq!(
        referrers(PROJECT, "Sources/Shop/Item.swift", "Store.extra"),
        ["Sources/App/Main.swift:19 Call(0)"]
    );
    assert_eq!(
        referrers(PROJECT, "Sources/Shop/Store.swift", "Kind.small"),
        ["Sources/App/Main.swift:17 Value"]
    );
    assert_eq!(
        referrers(PROJECT, "Sources/Shop/Store.swift", "Store.init"),
        ["Sources/App/Main.swift:18 Call(1)"]
    );
}

#[test]
fn outgoing_references_mirror_incoming_ones() {
    let (to, missing, outside) = outgoing(PROJECT, "Sources/Shop/Store.swift");
    assert!(
        to.contains(&"Sources/Shop/Base.swift:5".into()) && to.contains(&"Sources/Shop/Item.swift:7".into()),
        "{to:?}"
    );
    assert_eq!((missing.len(), outside), (0, 1));
}

#[test]
fn body_and_signature_changes_are_distinguished() {
    let of = |text: &str| {
        let definition = facts("a.swift", text).definitions.remove(0);
        (definition.signature, definition.body)
    };
    let one = of("func f(x: Int) -> Int { return x }");
    assert_eq!(one, of("func g(x: Int) -> Int { /* why */ return x }"));
    assert_eq!(one.0, of("func f(x: Int) -> Int { return x + 1 }").0);
    assert_ne!(one.1, of("func f(x: Int) -> Int { return x + 1 }").1);
    assert_ne!(one.0, of("func f(x: Int, y: Int) -> Int { return x }").0);
}

#[test]
fn broken_code_gives_what_can_be_seen() {
    let facts = facts("a.swift", "func g() -> Int { return 1 }\nfunc f(x: { ]\n");
    assert!(facts.problems > 0);
    assert!(facts.definitions.iter().any(|definition| &*definition.name == "g"), "{:?}", facts.definitions);
}
