//! C and C++ in small projects of several files: resolved and unresolved references, and effects of changes.

mod changes;

use crate::fixture::{outgoing, referrers};
use crate::language::facts;

const PLAIN: &str = r#"
=== include/store.h
#ifndef STORE_H
#define STORE_H
#define STORE_LIMIT 3
#define STORE_MAX(a, b) ((a) > (b) ? (a) : (b))

typedef struct {
    int price;
    const char *name;
} item_t;

struct store {
    item_t *items;
    int count;
};

enum kind { KIND_SMALL, KIND_LARGE };

struct store *store_open(const char *name, int size);
item_t *store_get(struct store *s, int id);
extern int store_total;
#endif
=== include/all.h
#include <store.h>
=== src/store.c
#include "store.h"
#include "gone.h"
#include <stdio.h>

int store_total = 0;

static int helper(void) { return 1; }

struct store *store_open(const char *name, int size) { return 0; }

item_t *store_get(struct store *s, int id) { return &s->items[id]; }
=== src/main.c
#include "../include/all.h"

static int helper(void) { return 2; }

int main(void) {
    struct store *s = store_open("a", STORE_LIMIT);
    item_t *it = store_get(s, STORE_MAX(1, 2));
    item_t made = { .price = 1 };
    enum kind k = KIND_SMALL;
    store_total += it->price + s->count + made.price;
    s->items[0].price = 2;
    return helper();
}
=== src/other.c
int store_open(int x) { return x; }

int use(void) { return store_open(1); }
"#;

#[test]
fn declarations_are_visible_through_nested_headers() {
    assert_eq!(
        referrers(PLAIN, "include/store.h", "store_open"),
        ["src/main.c:6 Call(2)", "src/store.c:9 Override"]
    );
    assert_eq!(
        referrers(PLAIN, "src/store.c", "store_get"),
        ["include/store.h:19 Override", "src/main.c:7 Call(2)"]
    );
    assert_eq!(referrers(PLAIN, "include/store.h", "STORE_MAX"), ["src/main.c:7 Call(2)"]);
    assert_eq!(referrers(PLAIN, "include/store.h", "STORE_LIMIT"), ["src/main.c:6 Value"]);
    assert_eq!(referrers(PLAIN, "include/store.h", "KIND_SMALL"), ["src/main.c:9 Value"]);
    assert_eq!(
        referrers(PLAIN, "include/store.h", "store_total"),
        ["src/main.c:10 Value", "src/store.c:5 Override"]
    );
}

#[test]
fn fields_follow_the_types_of_their_values() {
    assert_eq!(
        referrers(PLAIN, "include/store.h", "item_t"),
        ["src/main.c:7 Type", "src/main.c:8 Type", "src/store.c:11 Type"]
    );
    assert_eq!(
        referrers(PLAIN, "include/store.h", "item_t.price"),
        ["src/main.c:8 Value?", "src/main.c:10 Value", "src/main.c:11 Value"]
    );
    assert_eq!(referrers(PLAIN, "include/store.h", "store.count"), ["src/main.c:10 Value"]);
}

#[test]
fn includes_lead_beside_the_file_and_into_directories_for_includes() {
    let (to, missing, outside) = outgoing(PLAIN, "src/store.c");
    assert_eq!(to.first().map(String::as_str), Some("include/store.h:1"));
    assert_eq!((missing, outside), (vec!["gone.h:2".to_owned()], 1));
    assert_eq!(outgoing(PLAIN, "include/all.h").0, ["include/store.h:1"]);
}

const PLUS: &str = r#"
=== shop/base.hpp
#pragma once
namespace shop {
class Item {
 public:
  explicit Item(int price);
  int cost(int n) const;
  int price;
};

class Base {
 public:
  virtual ~Base() {}
  virtual Item* get(int id) = 0;
  void tag();
};
}
=== shop/store.hpp
#pragma once
#include "base.hpp"
#include <vector>

namespace shop {
class Store : public Base {
 public:
  Item* get(int id) override;
  static Store open(const char* name);
  std::vector<Item> items;
  enum class Kind { Small, Large };
};

int helper(int a, int b = 1);
}
=== shop/store.cpp
#include "store.hpp"

namespace shop {
Item* Store::get(int id) { return &items[id]; }
Store Store::open(const char* name) { return Store(); }
int helper(int a, int b) { return a + b; }
}
=== shop/item.cpp
#include "base.hpp"

shop::Item::Item(int price) : price(price) {}
int shop::Item::cost(int n) const { return price * n; }
=== app/main.cpp
#include "shop/store.hpp"

using namespace shop;

int main() {
  Store s = Store::open("a");
  Item* item = s.get(1);
  auto other = shop::Store::open("b");
  other.tag();
  for (auto& one : s.items) one.cost(2);
  Item made(3);
  Store::Kind kind = Store::Kind::Small;
  return item->cost(4) + helper(5) + made.price;
}
=== app/alone.cpp
struct Item { int cost(int n); };
int helper(int a);
int use(Item item) { return item.cost(1) + helper(2); }
"#;

#[test]
fn namespaces_and_classes_are_followed() {
    assert_eq!(
        referrers(PLUS, "shop/base.hpp", "shop.Item"),
        [
            "app/main.cpp:7 Type",
            "app/main.cpp:11 Call(1)",
            "app/main.cpp:11 Type",
            "shop/item.cpp:3 Type",
            "shop/item.cpp:4 Type",
            "shop/store.cpp:4 Type",
            "shop/store.hpp:8 Type",
            "shop/store.hpp:10 Type",
        ]
    );
    assert_eq!(
        referrers(PLUS, "shop/base.hpp", "shop.Item.cost"),
        ["app/main.cpp:10 Call(1)", "app/main.cpp:13 Call(1)", "shop/item.cpp:4 Override"]
    );
    // The definition outside its class follows the declaration inside.
    assert_eq!(referrers(PLUS, "shop/base.hpp", "shop.Base.get"), ["shop/store.hpp:8 Override"]);
    assert_eq!(referrers(PLUS, "shop/base.hpp", "shop.Base.tag"), ["app/main.cpp:9 Call(0)"]);
    assert_eq!(
        referrers(PLUS, "shop/store.hpp", "shop.Store.get"),
        ["app/main.cpp:7 Call(1)", "shop/store.cpp:4 Override"]
    );
    assert_eq!(
        referrers(PLUS, "shop/store.hpp", "shop.helper"),
        ["app/main.cpp:13 Call(1)", "shop/store.cpp:6 Override"]
    );
    assert_eq!(referrers(PLUS, "shop/store.hpp", "shop.Store.Kind.Small"), ["app/main.cpp:12 Value"]);
    assert_eq!(
        referrers(PLUS, "shop/base.hpp", "shop.Item.Item"),
        ["app/main.cpp:11 Call(1)", "shop/item.cpp:3 Override"]
    );
}

#[test]
fn body_and_signature_changes_are_distinguished() {
    let of = |text: &str| {
        let definition = facts("a.c", text).definitions.remove(0);
        (definition.signature, definition.body)
    };
    let one = of("int f(int x) { return x; }");
    assert_eq!(one, of("int g(int x) { /* why */ return x; }"));
    assert_eq!(one.0, of("int f(int x) { return x + 1; }").0);
    assert_ne!(one.1, of("int f(int x) { return x + 1; }").1);
    assert_ne!(one.0, of("int f(int x, int y) { return x; }").0);
}

#[test]
fn broken_code_gives_what_can_be_seen() {
    for path in ["a.c", "a.cpp"] {
        let facts = facts(path, "int g(void) { return 1; }\nint f( { ]\n");
        assert!(facts.problems > 0);
        assert!(
            facts.definitions.iter().any(|definition| &*definition.name == "g"),
            "{:?}",
            facts.definitions
        );
    }
}
