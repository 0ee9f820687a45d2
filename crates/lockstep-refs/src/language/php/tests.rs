//! PHP in small projects of several files: resolved and unresolved references, and effects of changes.

mod changes;

use crate::fixture::{outgoing, referrers};
use crate::language::facts;

const PROJECT: &str = r#"
=== composer.json
{"autoload": {"psr-4": {"Shop\\": "src/"}}}
=== src/Store.php
<?php
namespace Shop;

use Shop\Base\Item;

const LIMIT = 3;

class Store extends Base\Base
{
    const SIZE = 2;
    public static int $count = 0;
    private ?Item $first = null;

    public function __construct(private string $name, int $n = 1) {}

    public function get(int $id): ?Item { return $this->first; }

    public static function open(string $name): self { return new Store($name); }
}

function helper(int $a, int $b = 2): int { return $a; }
=== src/Base/Base.php
<?php
namespace Shop\Base;

abstract class Base
{
    use Tagged;

    abstract public function get(int $id): ?Item;
}

trait Tagged { public function tag() {} }
=== src/Base/Item.php
<?php
namespace Shop\Base;

class Item
{
    public int $price = 0;

    public function cost(int $n): int { return $this->price * $n; }
}
=== app/main.php
<?php
namespace App;

require_once __DIR__ . '/lib.php';
require 'gone.php';

use Shop\{Store as Shelf, Gone};
use Shop\Base\Item;
use Other\Thing;
use function Shop\helper;
use const Shop\LIMIT;

function run(Item $item, Shelf $shelf, $any)
{
    $shelf->get(LIMIT)->cost(2);
    $made = new Shelf('a');
    $made->tag();
    echo $item->price, Shelf::SIZE, Shelf::$count, helper(1);
    $other = Shelf::open('b');
    $other->get(4);
    $any->cost(5);
    \Shop\helper(6, 7);
    local_helper();
}
=== app/lib.php
<?php
function local_helper() {}

class Store { public function get($id) { return $id; } }

(new Store)->get(1);
=== app/Wild.php
<?php
namespace App;

class Wild extends \Shop\Store
{
    public function get(int $id): ?\Shop\Base\Item { return parent::get($id); }
}
"#;

#[test]
fn names_are_found_by_use_alias_group_and_full_name() {
    assert_eq!(
        referrers(PROJECT, "src/Store.php", "Store"),
        [
            "app/Wild.php:4 Extend",
            "app/main.php:7 Import",
            "app/main.php:13 Type",
            "app/main.php:16 Call(1)",
            "app/main.php:18 Owner",
            "app/main.php:19 Owner",
        ]
    );
    assert_eq!(
        referrers(PROJECT, "src/Store.php", "helper"),
        ["app/main.php:10 Import", "app/main.php:18 Call(1)", "app/main.php:22 Call(2)"]
    );
    assert_eq!(
        referrers(PROJECT, "src/Store.php", "LIMIT"),
        ["app/main.php:11 Import", "app/main.php:15 Value"]
    );
    assert_eq!(referrers(PROJECT, "app/lib.php", "local_helper"), ["app/main.php:23 Call(0)"]);
}

#[test]
fn members_follow_the_types_of_their_values() {
    assert_eq!(
        referrers(PROJECT, "src/Store.php", "Store.get"),
        [
            "app/Wild.php:6 Call(1)",
            "app/Wild.php:6 Redefine",
            "app/main.php:15 Call(1)",
            "app/main.php:20 Call(1)"
        ]
    );
    assert_eq!(
        referrers(PROJECT, "src/Base/Base.php", "Base.get"),
        ["app/Wild.php:6 Redefine", "src/Store.php:16 Override"]
    );
    assert_eq!(
        referrers(PROJECT, "src/Base/Item.php", "Item.cost"),
        ["app/main.php:15 Call(1)", "app/main.php:21 Call(1)?"]
    );
    assert_eq!(referrers(PROJECT, "src/Base/Item.php", "Item.price"), ["app/main.php:18 Value"]);
    assert_eq!(referrers(PROJECT, "src/Base/Base.php", "Tagged.tag"), ["app/main.php:17 Call(0)"]);
    assert_eq!(referrers(PROJECT, "src/Store.php", "Store.SIZE"), ["app/main.php:18 Value"]);
    assert_eq!(referrers(PROJECT, "src/Store.php", "Store.count"), ["app/main.php:18 Value"]);
    assert_eq!(referrers(PROJECT, "src/Store.php", "Store.__construct"), ["app/main.php:16 Call(1)"]);
}

#[test]
fn required_files_and_namespaces_resolve_to_files() {
    let (to, missing, outside) = outgoing(PROJECT, "app/main.php");
    assert!(to.contains(&"app/lib.php:4".into()) && to.contains(&"src/Store.php:7".into()), "{to:?}");
    assert_eq!(missing, ["gone.php:5", "Shop.Gone:7"]);
    assert_eq!(outside, 1);
}

#[test]
fn body_and_signature_changes_are_distinguished() {
    let of = |text: &str| {
        let definition = facts("a.php", &format!("<?php {text}")).definitions.remove(0);
        (definition.signature, definition.body)
    };
    let one = of("function f(int $x) { return $x; }");
    assert_eq!(one, of("function g(int $x) { /* why */ return $x; }"));
    assert_eq!(one.0, of("function f(int $x) { return $x + 1; }").0);
    assert_ne!(one.1, of("function f(int $x) { return $x + 1; }").1);
    assert_ne!(one.0, of("function f(int $x, $y) { return $x; }").0);
}

#[test]
fn broken_code_gives_what_can_be_seen() {
    let facts = facts("a.php", "<?php function g() { return 1; }\nclass A { function ( { }\n");
    assert!(facts.problems > 0);
    assert!(facts.definitions.iter().any(|definition| &*definition.name == "g"), "{:?}", facts.definitions);
}
