//! Go in small projects of several files: resolved and unresolved references, and effects of changes.

mod changes;

use crate::facts::Facts;
use crate::fixture::{outgoing, referrers};
use crate::language::facts;

const PROJECT: &str = r#"
=== go.mod
module example.com/shop // the shop

=== store/store.go
package store

type Base struct{ Label string }

type Store struct {
	Base
	Name  string
	items []*Item
}

type Item struct{ Price int }

const Limit = 3

func New(name string) *Store { return &Store{Name: name} }

func Open(name string) (*Store, error) { return New(name), nil }

func hidden() {}
=== store/methods.go
package store

func (s *Store) Get(id int) *Item {
	hidden()
	return s.items[id]
}

func (i *Item) Cost(n int) int { return i.Price * n }

func (b *Base) Tag() string { return b.Label }
=== cmd/main.go
package main

import (
	"fmt"

	"example.com/shop/store"
)

func main() {
	s := store.New("a")
	item := s.Get(store.Limit)
	fmt.Println(item.Cost(2), s.Name, s.Tag())
	other, err := store.Open("b")
	_ = err
	other.Get(1)
	for _, it := range []*store.Item{item} {
		it.Cost(1)
	}
}
=== other/other.go
package other

import st "example.com/shop/store"
import "example.com/gone"
import "example.com/shop/gone"

type Cache struct{ st.Store }

type Own struct{ Name string }

func (o Own) Get(id int) int { return id }

func use(c *Cache, o Own, unknown interface{}) {
	c.Get(1)
	o.Get(2)
	fmt := st.Store{Name: "x"}
	_ = fmt.Name
	_ = o.Name
	var New = 1
	_ = New
}
=== dots/dots.go
package dots

import . "example.com/shop/store"

var made = New("x")
=== store/store_test.go
package store_test

import "example.com/shop/store"

var made = store.New("x")

func hidden() {}
"#;

#[test]
fn packages_are_found_by_module_path_alias_and_dot() {
    assert_eq!(
        referrers(PROJECT, "store/store.go", "New"),
        ["cmd/main.go:10 Call(1)", "dots/dots.go:5 Call(1)", "store/store_test.go:5 Call(1)"]
    );
    assert_eq!(referrers(PROJECT, "store/store.go", "Limit"), ["cmd/main.go:11 Value"]);
    assert_eq!(
        referrers(PROJECT, "store/store.go", "Store"),
        ["other/other.go:7 Extend", "other/other.go:16 Construct", "store/methods.go:3 Type"]
    );
}

#[test]
fn same_package_needs_no_import_and_external_tests_see_only_exports() {
    assert_eq!(referrers(PROJECT, "store/store.go", "hidden"), ["store/methods.go:4 Call(0)"]);
    assert_eq!(referrers(PROJECT, "store/store.go", "Store.items"), ["store/methods.go:5 Value"]);
}

#[test]
fn methods_follow_their_receivers() {
    assert_eq!(
        referrers(PROJECT, "store/methods.go", "Store.Get"),
        ["cmd/main.go:11 Call(1)", "cmd/main.go:15 Call(1)", "other/other.go:14 Call(1)"]
    );
    assert_eq!(
        referrers(PROJECT, "store/methods.go", "Item.Cost"),
        ["cmd/main.go:12 Call(1)", "cmd/main.go:17 Call(1)"]
    );
    assert_eq!(referrers(PROJECT, "store/methods.go", "Base.Tag"), ["cmd/main.go:12 Call(0)"]);
    assert_eq!(
        referrers(PROJECT, "store/store.go", "Store.Name"),
        ["cmd/main.go:12 Value", "other/other.go:16 Value", "other/other.go:17 Value"]
    );
}

#[test]
fn outgoing_references_mirror_incoming_ones() {
    let (to, missing, outside) = outgoing(PROJECT, "other/other.go");
    assert_eq!(to, ["store/store.go:7", "store/store.go:16"]);
    assert_eq!(missing, ["example.com/shop/gone:5"]);
    assert_eq!(outside, 1);
    assert_eq!(
        outgoing(PROJECT, "store/methods.go").0,
        ["store/store.go:3", "store/store.go:4", "store/store.go:8", "store/store.go:10"]
    );
}

fn read(text: &str) -> Facts {
    facts("a/a.go", text)
}

#[test]
fn body_and_signature_changes_are_distinguished() {
    let of = |text: &str| {
        let definition = read(text).definitions.remove(0);
        (definition.signature, definition.body)
    };
    let one = of("package a\nfunc F(x int) int { return x }");
    let body = of("package a\nfunc F(x int) int { // why\n return x + 1 }");
    let comment = of("package a\nfunc F(x int) int { /* why */ return x }");
    let other = of("package a\nfunc F(x, y int) int { return x }");
    let renamed = of("package a\nfunc G(x int) int { return x }");
    assert_eq!(one, comment);
    assert_eq!(one, renamed);
    assert!(one.0 == body.0 && one.1 != body.1);
    assert_ne!(one.0, other.0);
}

#[test]
fn broken_code_gives_what_can_be_seen() {
    let facts = read("package a\nfunc F() { x := := 1 }\n\ntype T struct { A int }\nfunc G() {}\n");
    assert!(facts.problems > 0);
    assert!(facts.definitions.iter().any(|definition| &*definition.name == "G"), "{:?}", facts.definitions);
}
