//! PHP: breaks by changes other than that of the written name.

use crate::fixture::breaking;

const FILES: &str = r#"
=== src/Shape.php
<?php
namespace Geo;
abstract class Shape {
    public function __construct(string $label) {}
    abstract public function area(): float;
}
=== src/Circle.php
<?php
namespace Geo;
class Circle extends Shape { public function area(): float { return 1; } }
=== src/Square.php
<?php
namespace Geo;
class Square extends Shape {
    public function __construct() { parent::__construct('s'); }
    public function area(): float { return 2; }
}
=== src/Use.php
<?php
namespace App;
use Geo\Circle;
use Geo\Square;
class Draw {
    public function one() { return new Circle('c'); }
}
class Make {
    public function two() { return new Square(); }
}
"#;

#[test]
fn a_constructor_is_that_of_who_extends_and_has_none() {
    let broken = breaking(FILES, "src/Shape.php", "string $label", "string $label, int $n");
    assert_eq!(broken, ["src/Square.php", "src/Use.php"]);
    assert_eq!(breaking(FILES, "src/Square.php", "__construct()", "__construct(int $n)"), ["src/Use.php"]);
}

#[test]
fn another_namespace_is_another_name() {
    let moved = breaking(FILES, "src/Shape.php", "namespace Geo;", "namespace Geometry;");
    assert_eq!(moved, ["src/Circle.php", "src/Square.php"]);
}

#[test]
fn new_abstract_member_breaks_implementers() {
    let more = "area(): float;\n    abstract public function sides(): int;";
    assert_eq!(
        breaking(FILES, "src/Shape.php", "area(): float;", more),
        ["src/Circle.php", "src/Square.php"]
    );
}
