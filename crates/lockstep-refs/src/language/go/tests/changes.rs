//! Go: names of packages and of modules.

use crate::fixture::breaking;

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
