//! Ruby in small projects of several files: resolved and unresolved references, and effects of changes.

mod changes;
mod mixins;

use super::snake;
use crate::fixture::{outgoing, referrers};
use crate::language::facts;

const PROJECT: &str = r#"
=== lib/shop/store.rb
require 'json'
require_relative 'base'
require_relative 'gone'

module Shop
  class Store < Base
    LIMIT = 3
    attr_reader :name

    def initialize(name, size = 1)
      @name = name
      @item = Item.new(1)
    end

    def get(id)
      @item.cost(id)
    end

    def self.open(name)
      Store.new(name)
    end
  end

  Point = Struct.new(:x, :y)
end

def top_helper(a)
  a
end
=== lib/shop/base.rb
module Shop
  module Tagged
    def tag_line
      name
    end
  end

  class Base
    include Tagged
    def get(id); end
  end
end
=== lib/shop/item.rb
class Shop::Item
  def initialize(price); end

  def cost(n)
    n
  end
end
=== app/main.rb
require 'shop/store'

store = Shop::Store.new('a', 2)
store.get(Shop::Store::LIMIT)
puts store.tag_line, store.name
other = Shop::Store.open('b')
other.get(1)
top_helper(3)

def use(item)
  item.cost(4)
  Shop::Point.new(1, 2)
end
=== app/other.rb
class Store
  def get(id)
    id
  end
end

Store.new.get(1)
"#;

#[test]
fn constants_are_found_by_the_modules_around_them() {
    assert_eq!(
        referrers(PROJECT, "lib/shop/store.rb", "Shop.Store"),
        ["app/main.rb:3 Call(2)", "app/main.rb:4 Type", "app/main.rb:6 Owner"]
    );
    assert_eq!(referrers(PROJECT, "lib/shop/base.rb", "Shop.Base"), ["lib/shop/store.rb:6 Extend"]);
    assert_eq!(referrers(PROJECT, "lib/shop/item.rb", "Shop.Item"), ["lib/shop/store.rb:12 Call(1)"]);
    assert_eq!(referrers(PROJECT, "lib/shop/store.rb", "Shop.Store.LIMIT"), ["app/main.rb:4 Value"]);
    assert_eq!(referrers(PROJECT, "lib/shop/store.rb", "Shop.Point"), ["app/main.rb:12 Call(2)"]);
    assert_eq!(referrers(PROJECT, "lib/shop/store.rb", "top_helper"), ["app/main.rb:8 Call(1)"]);
}

#[test]
fn methods_follow_what_is_known_and_else_their_name() {
    assert_eq!(
        referrers(PROJECT, "lib/shop/store.rb", "Shop.Store.get"),
        ["app/main.rb:4 Call(1)", "app/main.rb:7 Call(1)"]
    );
    assert_eq!(referrers(PROJECT, "lib/shop/base.rb", "Shop.Base.get"), ["lib/shop/store.rb:15 Override"]);
    assert_eq!(referrers(PROJECT, "lib/shop/base.rb", "Shop.Tagged.tag_line"), ["app/main.rb:5 Call(0)"]);
    assert_eq!(
        referrers(PROJECT, "lib/shop/item.rb", "Shop.Item.cost"),
        ["app/main.rb:11 Call(1)?", "lib/shop/store.rb:16 Call(1)"]
    );
    assert_eq!(referrers(PROJECT, "lib/shop/store.rb", "Shop.Store.initialize"), ["app/main.rb:3 Call(2)"]);
    assert_eq!(referrers(PROJECT, "lib/shop/store.rb", "Shop.Store.open"), ["app/main.rb:6 Call(1)"]);
    assert_eq!(referrers(PROJECT, "lib/shop/store.rb", "Shop.Store.name"), ["app/main.rb:5 Call(0)"]);
}

#[test]
fn required_files_are_found_beside_and_on_the_load_path() {
    assert_eq!(
        outgoing(PROJECT, "lib/shop/store.rb"),
        (
            vec!["lib/shop/base.rb:2".into(), "lib/shop/base.rb:6".into(), "lib/shop/item.rb:12".into()],
            vec!["gone:3".into()],
            1
        )
    );
    assert_eq!(outgoing(PROJECT, "app/main.rb").0.first().map(String::as_str), Some("lib/shop/store.rb:1"));
    assert_eq!((snake("HTTPStore"), snake("Store")), ("http_store".to_owned(), "store".to_owned()));
}

#[test]
fn body_and_signature_changes_are_distinguished() {
    let of = |text: &str| {
        let definition = facts("a.rb", text).definitions.remove(0);
        (definition.signature, definition.body)
    };
    let one = of("def f(x)\n  x\nend\n");
    assert_eq!(one, of("def g(x)\n  # why\n  x\nend\n"));
    assert_eq!(one.0, of("def f(x)\n  x + 1\nend\n").0);
    assert_ne!(one.1, of("def f(x)\n  x + 1\nend\n").1);
    assert_ne!(one.0, of("def f(x, y)\n  x\nend\n").0);
}

#[test]
fn broken_code_gives_what_can_be_seen() {
    let facts = facts("a.rb", "def g\n  1\nend\nclass A\n  def (\n");
    assert!(facts.problems > 0);
    assert!(facts.definitions.iter().any(|definition| &*definition.name == "g"), "{:?}", facts.definitions);
}
