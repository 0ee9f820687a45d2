//! Java in small projects of several files: resolved and unresolved references, and effects of changes.

mod changes;

use crate::fixture::{outgoing, referrers};
use crate::language::facts;

const PROJECT: &str = r#"
=== src/main/java/com/shop/store/Store.java
package com.shop.store;

import java.util.List;

public class Store extends Base {
    public static final int LIMIT = 3;
    private List<Item> items;
    Item first;

    public Store(String name) { super(name); }

    public Item get(int id) { return items.get(id); }

    public static Store open(String name) { return new Store(name); }

    public enum Kind { SMALL, LARGE }
}
=== src/main/java/com/shop/store/Base.java
package com.shop.store;

public abstract class Base {
    protected Base(String name) {}

    public abstract Item get(int id);

    public String tag() { return ""; }
}
=== src/main/java/com/shop/store/Item.java
package com.shop.store;

public class Item {
    public int price;

    public int cost(int n) { return price * n; }

    void touch(Store store) { store.first.touch(store); }
}
=== src/main/java/com/shop/app/Main.java
package com.shop.app;

import com.shop.store.Item;
import com.shop.store.Store;
import static com.shop.store.Store.LIMIT;
import com.shop.store.Gone;
import org.other.Thing;

class Main {
    private final Store store = new Store("a");

    void run(java.util.List<Item> all) {
        Item item = store.get(LIMIT);
        var other = Store.open("b");
        other.get(1).cost(2);
        System.out.println(item.price + store.tag());
        for (var one : all) { one.cost(3); }
        Store.Kind kind = Store.Kind.SMALL;
    }
}
=== src/main/java/com/shop/app/Wild.java
package com.shop.app;

import com.shop.store.*;

class Wild extends Store {
    Wild() { super("w"); }

    @Override
    public Item get(int id) { return super.get(id); }

    String twice() { return tag() + tag(); }
}
=== src/main/java/com/shop/app/Anonymous.java
package com.shop.app;

import com.shop.store.*;

class Anonymous {
    Base make(Item item) {
        return new Base("x") {
            @Override
            public Item get(int id) { item.cost(7); tag(); return item; }
        };
    }
}
=== src/main/java/com/other/Store.java
package com.other;

public class Store {
    public int get(int id) { return id; }
}
=== src/main/java/com/other/User.java
package com.other;

class User {
    int use(Store store, com.shop.store.Store full) {
        full.tag();
        return store.get(1);
    }
}
"#;
const STORE: &str = "src/main/java/com/shop/store/Store.java";
const BASE: &str = "src/main/java/com/shop/store/Base.java";
const ITEM: &str = "src/main/java/com/shop/store/Item.java";

/// The references without the directories of the project.
fn to(path: &str, symbol: &str) -> Vec<String> {
    referrers(PROJECT, path, symbol)
        .into_iter()
        .map(|referrer| referrer.replace("src/main/java/com/", ""))
        .collect()
}

#[test]
fn types_are_found_by_import_package_wildcard_and_full_name() {
    assert_eq!(
        to(STORE, "Store"),
        [
            "other/User.java:4 Type",
            "shop/app/Main.java:4 Import",
            "shop/app/Main.java:5 Import",
            "shop/app/Main.java:10 Call(1)",
            "shop/app/Main.java:10 Type",
            "shop/app/Main.java:14 Owner",
            "shop/app/Main.java:18 Type",
            "shop/app/Main.java:18 Owner",
            "shop/app/Wild.java:5 Extend",
            "shop/store/Item.java:8 Type",
        ]
    );
    assert_eq!(to(STORE, "Store.Kind"), ["shop/app/Main.java:18 Type", "shop/app/Main.java:18 Owner"]);
    assert_eq!(to(STORE, "Store.Kind.SMALL"), ["shop/app/Main.java:18 Value"]);
}

#[test]
fn members_follow_the_types_of_their_values() {
    assert_eq!(
        to(STORE, "Store.get"),
        [
            "shop/app/Main.java:13 Call(1)",
            "shop/app/Main.java:15 Call(1)",
            "shop/app/Wild.java:9 Call(1)",
            "shop/app/Wild.java:9 Redefine",
        ]
    );
    assert_eq!(
        to(BASE, "Base.get"),
        [
            "shop/app/Anonymous.java:9 Override",
            "shop/app/Wild.java:9 Redefine",
            "shop/store/Store.java:12 Override"
        ]
    );
    assert_eq!(
        to(BASE, "Base.tag"),
        [
            "other/User.java:5 Call(0)",
            "shop/app/Anonymous.java:9 Call(0)",
            "shop/app/Main.java:16 Call(0)",
            "shop/app/Wild.java:11 Call(0)",
        ]
    );
    assert_eq!(
        to(ITEM, "Item.cost"),
        [
            "shop/app/Anonymous.java:9 Call(1)",
            "shop/app/Main.java:15 Call(1)",
            "shop/app/Main.java:17 Call(1)"
        ]
    );
    assert_eq!(to(ITEM, "Item.price"), ["shop/app/Main.java:16 Value"]);
    assert_eq!(to(STORE, "Store.first"), ["shop/store/Item.java:8 Value"]);
    assert_eq!(to(STORE, "Store.LIMIT"), ["shop/app/Main.java:5 Import", "shop/app/Main.java:13 Value"]);
    assert_eq!(to(STORE, "Store.open"), ["shop/app/Main.java:14 Call(1)"]);
}

#[test]
fn constructors_are_called_by_the_name_of_the_type() {
    assert_eq!(to(STORE, "Store.Store"), ["shop/app/Main.java:10 Call(1)", "shop/app/Wild.java:6 Call(1)"]);
}

#[test]
fn outgoing_references_mirror_incoming_ones() {
    let (to, missing, outside) = outgoing(PROJECT, "src/main/java/com/shop/app/Main.java");
    assert!(to.contains(&format!("{STORE}:4")) && to.contains(&format!("{ITEM}:3")), "{to:?}");
    assert_eq!(missing, ["com.shop.store.Gone:6"]);
    assert_eq!(outside, 1);
    let same = outgoing(PROJECT, ITEM).0;
    assert_eq!(same, [format!("{STORE}:8")]);
}

#[test]
fn body_and_signature_changes_are_distinguished() {
    let of = |method: &str| {
        let facts = facts("A.java", &format!("class A {{ {method} }}"));
        let method =
            facts.definitions.iter().find(|definition| definition.container.is_some()).cloned().unwrap();
        (facts.definitions[0].signature, facts.definitions[0].body, method.signature, method.body)
    };
    let one = of("public int f(int x) { return x; }");
    assert_eq!(one, of("public int f(int x) { /* why */ return x; }"));
    let body = of("public int f(int x) { return x + 1; }");
    assert!((one.0, one.1, one.2) == (body.0, body.1, body.2) && one.3 != body.3);
    assert_ne!(one.2, of("public int f(int x, int y) { return x; }").2);
}

#[test]
fn broken_code_gives_what_can_be_seen() {
    let facts = facts("A.java", "class A { int f( { } int g() { return 1; } }\nclass B { }\n");
    assert!(facts.problems > 0);
    assert!(facts.definitions.iter().any(|definition| &*definition.name == "B"), "{:?}", facts.definitions);
}
