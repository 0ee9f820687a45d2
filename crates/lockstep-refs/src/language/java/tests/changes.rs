//! Java: breaks by changes other than that of the written name.

use crate::fixture::{breaking, dependents};

const TABLE: &str = r#"
=== a/Entry.java
package a;
public class Entry { public int size() { return 1; } }
=== b/Table.java
package b;
public class Table {
    public static class Entry {
        public int fetchKey() { return 1; }
    }
    public Entry first() { return new Entry(); }
}
=== b/User.java
package b;
public class User {
    int run(Table table) {
        Table.Entry entry = table.first();
        return entry.fetchKey();
    }
}
=== c/Other.java
package c;
public class Other {
    int run(a.Entry entry) { return entry.size(); }
}
"#;

#[test]
fn a_type_inside_another_is_found_beside_a_file_of_its_name() {
    assert_eq!(breaking(TABLE, "b/Table.java", "int fetchKey", "int takeKey"), ["b/User.java"]);
    assert_eq!(breaking(TABLE, "a/Entry.java", "int size", "int length"), ["c/Other.java"]);
}

const SHAPES: &str = r#"
=== core/Shape.java
package core;
public abstract class Shape {
    public Shape(int id) {}
    public abstract double area();
    public static Shape make() { return null; }
    public enum Kind { ROUND, SQUARE }
}
=== core/Circle.java
package core;
public class Circle extends Shape {
    Circle() { super(1); }
    public double area() { return 1; }
}
=== ui/Tool.java
package ui;
import core.*;
public class Tool {
    int kind(Shape.Kind kind) {
        switch (kind) {
            case ROUND: return 1;
            default: return 0;
        }
    }
    Shape make() { return Shape.make(); }
}
"#;

#[test]
fn a_variant_is_named_alone_where_its_type_is_switched_over() {
    assert_eq!(breaking(SHAPES, "core/Shape.java", "ROUND", "OVAL"), ["ui/Tool.java"]);
}

#[test]
fn new_abstract_method_breaks_subclasses() {
    let more = "area(); public abstract int sides();";
    assert_eq!(breaking(SHAPES, "core/Shape.java", "area();", more), ["core/Circle.java"]);
    let final_ = "public final class Shape";
    assert_eq!(
        breaking(SHAPES, "core/Shape.java", "public abstract class Shape", final_),
        ["core/Circle.java"]
    );
}

#[test]
fn a_constructor_is_called_by_those_of_who_extends() {
    assert_eq!(
        breaking(SHAPES, "core/Shape.java", "Shape(int id)", "Shape(int id, int n)"),
        ["core/Circle.java"]
    );
}

#[test]
fn another_package_is_another_name() {
    let moved = breaking(SHAPES, "core/Shape.java", "package core;", "package base;");
    assert_eq!(moved, ["core/Circle.java", "ui/Tool.java"]);
}

/// Returns a project with a type that more files name than are searched.
fn widespread() -> String {
    let mut files =
        String::from("=== lib/Kit.java\npackage lib;\nclass Hidden { int useful() { return 1; } }\n");
    for n in 0..450 {
        files.push_str(&format!(
            "=== lib/U{n}.java\npackage lib;\nclass U{n} {{ int run(Hidden hidden) {{ return hidden.useful(); }} }}\n"
        ));
    }
    files
}

#[test]
fn a_type_that_everybody_names_is_still_known() {
    let files = widespread();
    assert_eq!(breaking(&files, "lib/Kit.java", "int useful", "int helpful").len(), 450);
    assert_eq!(dependents(&files, "lib/Kit.java", "return 1", "return 2").len(), 450);
}

const BODIES: &str = r#"
=== core/Face.java
package core;
public interface Face {
    int LIMIT = 1;
    int size(int depth);
    default int twice() { return size(1) * 2; }
}
=== core/Shape.java
package core;
public abstract class Shape {
    public abstract double area(int unit);
    static abstract class Inner { abstract int x(); int y() { return 1; } }
    public int sides() { return 3; }
}
=== core/Circle.java
package core;
public class Circle extends Shape implements Face {
    public double area(int unit) { return Math.max(1, 2); }
    public int size(int depth) { return java.util.Objects.hash(1); }
}
"#;

#[test]
fn a_body_or_a_parameter_name_is_nothing_to_subtypes() {
    for (path, from, to) in [
        ("core/Face.java", "size(1) * 2", "size(2) * 2"),
        ("core/Face.java", "int depth", "int levels"),
        ("core/Face.java", "LIMIT = 1", "LIMIT = 2"),
        ("core/Face.java", "default int twice", "default int thrice() { return 3; }\n    default int twice"),
        ("core/Shape.java", "return 1;", "return 2;"),
        ("core/Shape.java", "return 3;", "return 4;"),
        ("core/Shape.java", "int unit", "final int scale"),
    ] {
        assert_eq!(breaking(BODIES, path, from, to), [""; 0], "{from} -> {to}");
    }
    assert_eq!(
        breaking(BODIES, "core/Face.java", "int size", "int more();\n    int size"),
        ["core/Circle.java"]
    );
}

#[test]
fn a_static_method_of_a_standard_class_is_not_ours() {
    let files = r#"
=== core/Util.java
package core;
public class Util {
    public static int max(int a, int b) { return a; }
    public static int hash(Object a) { return 1; }
}
=== core/Use.java
package core;
import java.util.Objects;
public class Use {
    int run() { return Math.max(1, 2) + Objects.hash(1) + Integer.max(1, 2); }
    int own() { return Util.max(1, 2); }
}
=== core/Other.java
package core;
public class Other { int run() { return Math.max(1, 2) + java.util.Objects.hash(1); } }
"#;
    assert_eq!(breaking(files, "core/Util.java", "int max", "int most"), ["core/Use.java"]);
    assert_eq!(breaking(files, "core/Util.java", "int hash", "int digest"), [""; 0]);
}
