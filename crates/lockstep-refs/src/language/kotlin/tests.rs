//! Kotlin in small projects of several files: resolved and unresolved references, and effects of changes.

mod changes;

use crate::fixture::{outgoing, referrers};
use crate::language::facts;

const PROJECT: &str = r#"
=== src/shop/Store.kt
package shop

const val LIMIT = 3

typealias Shelf = Store

open class Store(val name: String, size: Int = 1) : Base() {
    var first: Item? = null

    open fun get(id: Int): Item? = first

    companion object {
        fun open(name: String) = Store(name)
    }
}

fun make(name: String): Store {
    return Store(name)
}

fun Item.twice(n: Int): Int = cost(n) * 2

private fun hidden() = 1
=== src/shop/Base.kt
package shop

abstract class Base {
    fun tag(): String = ""
}

enum class Kind {
    SMALL,
    LARGE
}
=== src/shop/Item.java
package shop;

public class Item {
    public int cost(int n) { return n; }

    static int price(Store store) { return store.get(1).cost(2); }
}
=== src/app/Main.kt
package app

import shop.Item
import shop.Kind
import shop.LIMIT
import shop.Store
import shop.make as build
import shop.twice
import shop.gone

class Main(private val store: Store) {
    fun run(all: List<Item>) {
        val made = build("a")
        made.get(LIMIT)?.cost(2)
        store.first?.twice(1)
        println(store.name + store.tag())
        for (one in all) {
            one.cost(3)
        }
        val other = Store.open("b")
        other.get(id = 4)
        val kind = Kind.SMALL
        all.forEach { it.cost(5) }
        hidden()
    }

    fun hidden() = 2
}
=== src/app/Wild.kt
package app

import shop.*

class Wild : Store("w", 2) {
    override fun get(id: Int): Item? = super.get(id)

    fun use(shelf: Shelf) = shelf.tag() + tag()
}
"#;

#[test]
fn names_are_found_by_import_alias_wildcard_and_package() {
    assert_eq!(
        referrers(PROJECT, "src/shop/Store.kt", "make"),
        ["src/app/Main.kt:7 Import", "src/app/Main.kt:13 Call(1)"]
    );
    assert_eq!(
        referrers(PROJECT, "src/shop/Store.kt", "Store"),
        [
            "src/app/Main.kt:6 Import",
            "src/app/Main.kt:11 Type",
            "src/app/Main.kt:20 Owner",
            "src/app/Wild.kt:5 Extend",
            "src/shop/Item.java:6 Type",
        ]
    );
    assert_eq!(
        referrers(PROJECT, "src/shop/Store.kt", "LIMIT"),
        ["src/app/Main.kt:5 Import", "src/app/Main.kt:14 Value"]
    );
    assert_eq!(referrers(PROJECT, "src/shop/Store.kt", "Shelf"), ["src/app/Wild.kt:8 Type"]);
    assert_eq!(referrers(PROJECT, "src/shop/Base.kt", "Kind.SMALL"), ["src/app/Main.kt:22 Value"]);
}

#[test]
fn members_follow_the_types_of_their_values_across_both_languages() {
    assert_eq!(
        referrers(PROJECT, "src/shop/Store.kt", "Store.get"),
        [
            "src/app/Main.kt:14 Call(1)",
            "src/app/Main.kt:21 Call(1)",
            "src/app/Wild.kt:6 Call(1)",
            "src/app/Wild.kt:6 Override",
            "src/shop/Item.java:6 Call(1)",
        ]
    );
    assert_eq!(
        referrers(PROJECT, "src/shop/Item.java", "Item.cost"),
        [
            "src/app/Main.kt:14 Call(1)",
            "src/app/Main.kt:18 Call(1)",
            "src/app/Main.kt:23 Call(1)?",
            "src/shop/Store.kt:21 Call(1)"
        ]
    );
    assert_eq!(
        referrers(PROJECT, "src/shop/Base.kt", "Base.tag"),
        ["src/app/Main.kt:16 Call(0)", "src/app/Wild.kt:8 Call(0)"]
    );
    assert_eq!(referrers(PROJECT, "src/shop/Store.kt", "Store.name"), ["src/app/Main.kt:16 Value"]);
}

#[test]
fn functions_that_extend_a_type_are_called_like_members() {
    assert_eq!(
        referrers(PROJECT, "src/shop/Store.kt", "twice"),
        ["src/app/Main.kt:8 Import", "src/app/Main.kt:15 Call(1)"]
    );
}

#[test]
fn outgoing_references_mirror_incoming_ones() {
    let (to, missing, outside) = outgoing(PROJECT, "src/app/Main.kt");
    assert!(
        to.contains(&"src/shop/Store.kt:6".into()) && to.contains(&"src/shop/Item.java:3".into()),
        "{to:?}"
    );
    assert_eq!((missing, outside), (vec!["shop.gone:9".to_owned()], 0));
    assert!(outgoing(PROJECT, "src/shop/Item.java").0.contains(&"src/shop/Store.kt:6".into()));
}

#[test]
fn body_and_signature_changes_are_distinguished() {
    let of = |text: &str| {
        let definition = facts("a.kt", text).definitions.remove(0);
        (definition.signature, definition.body)
    };
    let one = of("fun f(x: Int): Int { return x }");
    assert_eq!(one, of("fun g(x: Int): Int { /* why */ return x }"));
    assert_eq!(one.0, of("fun f(x: Int): Int { return x + 1 }").0);
    assert_ne!(one.1, of("fun f(x: Int): Int { return x + 1 }").1);
    assert_ne!(one.0, of("fun f(x: Int, y: Int): Int { return x }").0);
}

#[test]
fn broken_code_gives_what_can_be_seen() {
    let facts = facts("a.kt", "fun g() = 1\nfun f(x: Int { }}\n");
    assert!(facts.problems > 0);
    assert!(facts.definitions.iter().any(|definition| &*definition.name == "g"), "{:?}", facts.definitions);
}
