//! Swift: breaks by changes other than that of the written name.

use crate::fixture::breaking;

const FILES: &str = r#"
=== Sources/App/Shape.swift
class Shape {
    init(id: Int) {}
}
=== Sources/App/Circle.swift
class Circle: Shape {
    func radius() -> Int { 1 }
}
=== Sources/App/Square.swift
class Square: Shape {
    init() { super.init(id: 1) }
}
=== Sources/App/Use.swift
let circle = Circle(id: 1)
=== Sources/App/Other.swift
let square = Square()
"#;

#[test]
fn an_initializer_is_that_of_who_extends_and_has_none() {
    let broken = breaking(FILES, "Sources/App/Shape.swift", "init(id: Int)", "init(id: Int, n: Int)");
    assert_eq!(broken, ["Sources/App/Square.swift", "Sources/App/Use.swift"]);
}
