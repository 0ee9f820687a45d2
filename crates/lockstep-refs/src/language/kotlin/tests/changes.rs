//! Kotlin: breaks by changes other than that of the written name.

use crate::fixture::breaking;

const FILES: &str = r#"
=== core/Shape.kt
package core

interface Shape {
    val title: String
}

abstract class Base(val id: Int) : Shape {
    abstract fun draw()
}

sealed class Outcome {
    class Done(val worth: Int) : Outcome()
}
=== ui/Circle.kt
package ui

import core.*

class Circle : Base(1) {
    override val title = "c"
    override fun draw() {}
}
=== ui/Use.kt
package ui

import core.Outcome

fun use(outcome: Outcome) {
    when (outcome) {
        is Outcome.Done -> println(outcome.worth)
    }
}
"#;

#[test]
fn properties_are_overridden_too() {
    assert_eq!(breaking(FILES, "core/Shape.kt", "val title", "val name"), ["ui/Circle.kt"]);
}

#[test]
fn subclass_calls_base_constructor_and_implements_new_members() {
    assert_eq!(
        breaking(FILES, "core/Shape.kt", "Base(val id: Int)", "Base(val id: Int, n: Int)"),
        ["ui/Circle.kt"]
    );
    let more = "abstract fun draw()\n    abstract fun erase()";
    assert_eq!(breaking(FILES, "core/Shape.kt", "abstract fun draw()", more), ["ui/Circle.kt"]);
}

#[test]
fn a_value_may_be_known_to_be_of_a_narrower_type() {
    assert_eq!(breaking(FILES, "core/Shape.kt", "val worth", "val value"), ["ui/Use.kt"]);
}

#[test]
fn another_package_is_another_name() {
    let moved = breaking(FILES, "core/Shape.kt", "package core", "package base");
    assert_eq!(moved, ["ui/Circle.kt", "ui/Use.kt"]);
}
