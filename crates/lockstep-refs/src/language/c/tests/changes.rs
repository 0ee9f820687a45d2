//! C and C++: breaks by changes other than that of the written name.

use crate::fixture::breaking;

const SHAPES: &str = r#"
=== geo/shape.hpp
#include <memory>
#include <vector>
namespace geo {
class Shape {
 public:
  Shape(int id);
  virtual double area() const = 0;
  int number() const { return 1; }
};
using ShapePtr = std::shared_ptr<Shape>;
inline namespace v1 { int version(); }
}
=== geo/circle.hpp
#include "shape.hpp"
class Circle : public geo::Shape {
 public:
  Circle() : Shape(1) {}
  double area() const override { return 1; }
};
=== geo/sum.cpp
#include "shape.hpp"
int sum(const std::vector<geo::ShapePtr>& all, std::unique_ptr<geo::Shape> one) {
  int sum = one->number();
  for (auto& shape : all) sum += shape->number();
  return sum + geo::version();
}
"#;

#[test]
fn members_resolve_through_pointer_types() {
    assert_eq!(breaking(SHAPES, "geo/shape.hpp", "int number", "int count"), ["geo/sum.cpp"]);
}

#[test]
fn an_inline_namespace_needs_no_name() {
    assert_eq!(breaking(SHAPES, "geo/shape.hpp", "int version", "int release"), ["geo/sum.cpp"]);
}

#[test]
fn subclass_calls_base_constructor_and_implements_pure_methods() {
    assert_eq!(
        breaking(SHAPES, "geo/shape.hpp", "Shape(int id)", "Shape(int id, int n)"),
        ["geo/circle.hpp"]
    );
    let more = "const = 0;\n  virtual int sides() const = 0;";
    assert_eq!(breaking(SHAPES, "geo/shape.hpp", "const = 0;", more), ["geo/circle.hpp"]);
}

const PROMISED: &str = r#"
=== src/add.h
int add(int a, int b);
=== src/add.c
#include "add.h"
int add(int a, int b) { return a + b; }
=== src/promise.c
extern int add(int a, int b);
int use(void) { return add(1, 2); }
=== src/apart.c
int add(int a, int b) { return a - b; }
int other(void) { return add(1, 2); }
"#;

#[test]
fn renamed_definition_breaks_its_declarations() {
    assert_eq!(breaking(PROMISED, "src/add.c", "int add", "int sum"), ["src/add.h", "src/promise.c"]);
    assert_eq!(breaking(PROMISED, "src/add.h", "int add", "int sum"), ["src/add.c"]);
}
