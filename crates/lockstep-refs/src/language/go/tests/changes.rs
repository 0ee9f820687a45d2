//! Go: names of packages and of modules.

use crate::fixture::{breaking, dependents};

const FILES: &str = r#"
=== go.mod
module example.com/app
=== store/store.go
package store

func New() int { return 1 }
=== api/api.go
package api

import "example.com/app/store"

func Run() int { return store.New() }
=== api/named.go
package api

import st "example.com/app/store"

func Other() int { return st.New() }
=== far/far.go
package far

import "example.com/application/store"

func Far() int { return store.New() }
"#;

#[test]
fn a_package_that_calls_itself_otherwise_is_named_otherwise() {
    assert_eq!(breaking(FILES, "store/store.go", "package store", "package storage"), ["api/api.go"]);
}

#[test]
fn imports_begin_with_the_name_of_the_module() {
    let renamed = breaking(FILES, "go.mod", "example.com/app", "example.com/other");
    assert_eq!(renamed, ["api/api.go", "api/named.go"]);
}

const INTERFACES: &str = r#"
=== go.mod
module example.com/app
=== shape/shape.go
package shape

type Sized interface { Area() int }

type Box struct{}

func (b Box) Area() int { return 1 }

func (b Box) Paint() {}
=== use/use.go
package use

import "example.com/app/shape"

func Run() shape.Sized { return shape.Box{} }
"#;

#[test]
fn a_value_that_is_used_for_an_interface_breaks_with_its_method() {
    let renamed = ("func (b Box) Area", "func (b Box) Surface");
    assert_eq!(dependents(INTERFACES, "shape/shape.go", renamed.0, renamed.1), ["use/use.go"]);
    assert_eq!(breaking(INTERFACES, "shape/shape.go", renamed.0, renamed.1), ["use/use.go"]);
    assert_eq!(dependents(INTERFACES, "shape/shape.go", "Paint()", "Colour()"), [""; 0]);
}
