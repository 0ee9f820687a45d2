//! C# in small projects of several files: resolved and unresolved references, and effects of changes.

mod changes;
mod statics;

use crate::fixture::{outgoing, referrers};
use crate::language::facts;

const PROJECT: &str = r#"
=== Shop/Store.cs
using System.Collections.Generic;

namespace Shop.Store;

public partial class Store : Base
{
    public const int Limit = 3;
    private List<Item> items = new();
    public string Name { get; set; }

    public Store(string name) : base(name) { Name = name; }

    public override Item Get(int id) => items[id];

    public static Store Open(string name) { return new Store(name); }
}

public enum Kind { Small, Large }

public static class Extensions
{
    public static int Twice(this Item item, int n) => item.Cost(n) * 2;
}
=== Shop/Parts.cs
namespace Shop.Store
{
    public partial class Store
    {
        public int Count() { return items.Count; }
    }

    public abstract class Base
    {
        protected Base(string name) { }
        public abstract Item Get(int id);
        public string Tag() { return ""; }
    }

    public class Item
    {
        public int Price;
        public int Cost(int n) { return Price * n; }
    }
}
=== Shop/Store/Inner/Near.cs
namespace Shop.Store.Inner;

class Near
{
    int Use(Item item) { return item.Cost(1); }
}
=== App/Globals.cs
global using Shop.Store;
=== App/Main.cs
using static Shop.Store.Kind;
using Al = Shop.Store.Store;
using Outside.Thing;

namespace App;

class Main
{
    private readonly Store store = new Store("a");

    void Run(List<Item> all)
    {
        var item = store.Get(Store.Limit);
        foreach (var one in all) { one.Cost(2); }
        System.Console.WriteLine(item?.Price + store.Tag() + Small);
        Al other = Al.Open("b");
        other.Get(1)?.Cost(3);
        item.Twice(4);
        var made = new Item { Price = 5 };
    }
}
=== App/Wild.cs
namespace App
{
    class Wild : Store
    {
        public Wild() : base("w") { }
        public override Item Get(int id) => base.Get(id);
    }
}
=== Other/Store.cs
namespace Other;

public class Store { public int Get(int id) { return id; } }

class User { int Use(Store store) { return store.Get(1); } }
"#;

#[test]
fn types_are_found_by_using_alias_and_namespaces_around() {
    assert_eq!(
        referrers(PROJECT, "Shop/Store.cs", "Store"),
        [
            "App/Main.cs:2 Import",
            "App/Main.cs:9 Call(1)",
            "App/Main.cs:9 Type",
            "App/Main.cs:13 Owner",
            "App/Main.cs:16 Type",
            "App/Main.cs:16 Owner",
            "App/Wild.cs:3 Extend",
        ]
    );
    assert_eq!(
        referrers(PROJECT, "Shop/Parts.cs", "Shop.Store.Item"),
        [
            "App/Main.cs:11 Type",
            "App/Main.cs:19 Call",
            "App/Wild.cs:6 Type",
            "Shop/Store.cs:8 Type",
            "Shop/Store.cs:13 Type",
            "Shop/Store.cs:22 Type",
            "Shop/Store/Inner/Near.cs:5 Type",
        ]
    );
    assert_eq!(referrers(PROJECT, "Shop/Store.cs", "Kind.Small"), ["App/Main.cs:15 Value"]);
}

#[test]
fn members_follow_the_types_of_their_values() {
    assert_eq!(
        referrers(PROJECT, "Shop/Store.cs", "Store.Get"),
        [
            "App/Main.cs:13 Call(1)",
            "App/Main.cs:17 Call(1)",
            "App/Wild.cs:6 Call(1)",
            "App/Wild.cs:6 Redefine"
        ]
    );
    assert_eq!(
        referrers(PROJECT, "Shop/Parts.cs", "Shop.Store.Base.Get"),
        ["App/Wild.cs:6 Redefine", "Shop/Store.cs:13 Override"]
    );
    assert_eq!(
        referrers(PROJECT, "Shop/Parts.cs", "Shop.Store.Item.Cost"),
        [
            "App/Main.cs:14 Call(1)",
            "App/Main.cs:17 Call(1)",
            "Shop/Store.cs:22 Call(1)",
            "Shop/Store/Inner/Near.cs:5 Call(1)"
        ]
    );
    assert_eq!(
        referrers(PROJECT, "Shop/Parts.cs", "Shop.Store.Item.Price"),
        ["App/Main.cs:15 Value", "App/Main.cs:19 Value"]
    );
    assert_eq!(referrers(PROJECT, "Shop/Store.cs", "Store.items"), ["Shop/Parts.cs:5 Value"]);
    assert_eq!(referrers(PROJECT, "Shop/Store.cs", "Extensions.Twice"), ["App/Main.cs:18 Call(1)"]);
    assert_eq!(
        referrers(PROJECT, "Shop/Store.cs", "Store.Store"),
        ["App/Main.cs:9 Call(1)", "App/Wild.cs:5 Call(1)"]
    );
}

#[test]
fn outgoing_references_mirror_incoming_ones() {
    let (to, missing, outside) = outgoing(PROJECT, "App/Main.cs");
    assert!(to.contains(&"Shop/Store.cs:9".into()) && to.contains(&"Shop/Parts.cs:11".into()), "{to:?}");
    assert_eq!((missing.len(), outside), (0, 1));
}

#[test]
fn body_and_signature_changes_are_distinguished() {
    let of = |text: &str| {
        let method = facts("a.cs", &format!("class A {{ {text} }}")).definitions.remove(1);
        (method.signature, method.body)
    };
    let one = of("public int F(int x) { return x; }");
    assert_eq!(one, of("public int G(int x) { /* why */ return x; }"));
    assert_eq!(one.0, of("public int F(int x) { return x + 1; }").0);
    assert_ne!(one.1, of("public int F(int x) { return x + 1; }").1);
    assert_ne!(one.0, of("public int F(int x, int y) { return x; }").0);
}

#[test]
fn broken_code_gives_what_can_be_seen() {
    let facts = facts("a.cs", "class A { int F( { } int G() { return 1; } }\nclass B { }\n");
    assert!(facts.problems > 0);
    assert!(
        facts.definitions.iter().any(|definition| &*definition.name == "B" || &*definition.name == "A"),
        "{:?}",
        facts.definitions
    );
}
