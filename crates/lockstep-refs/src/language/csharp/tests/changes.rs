//! C#: breaks by changes other than that of the written name.

use crate::fixture::breaking;

const FILES: &str = r#"
=== Core/Shape.cs
namespace Acme.Core
{
    public abstract class Shape
    {
        public Shape(int id) {}
        public abstract double Area();
        public virtual string Title { get; set; }
        public static int Count() => 1;
    }
    public static class Extensions
    {
        public static int Twice(this Shape shape) => 2;
    }
}
=== Core/Circle.cs
namespace Acme.Core
{
    public class Circle : Shape
    {
        public Circle() : base(1) {}
        public override double Area() => 1;
        public override string Title { get; set; }
    }
}
=== Ui/Panel.cs
using Acme.Core;
namespace Acme.Ui
{
    class Panel
    {
        int Run(Shape shape) { return shape.Twice() + Shape.Count(); }
    }
}
"#;

#[test]
fn a_function_extends_a_type_of_its_own_namespace() {
    assert_eq!(breaking(FILES, "Core/Shape.cs", "int Twice", "int Double"), ["Ui/Panel.cs"]);
}

#[test]
fn subclass_calls_base_constructor_and_implements_abstract_members() {
    assert_eq!(breaking(FILES, "Core/Shape.cs", "Shape(int id)", "Shape(int id, int n)"), ["Core/Circle.cs"]);
    let more = "double Area();\n        public abstract int Sides();";
    assert_eq!(breaking(FILES, "Core/Shape.cs", "double Area();", more), ["Core/Circle.cs"]);
}

#[test]
fn properties_are_overridden_too() {
    assert_eq!(
        breaking(FILES, "Core/Shape.cs", "virtual string Title", "virtual string Name"),
        ["Core/Circle.cs"]
    );
}
