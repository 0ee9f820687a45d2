//! Overrides, extensions and declarations in the changed file.

use super::*;

#[test]
fn the_blank_identifier_of_go_is_no_name() {
    let text = "package a\n\ntype S interface{ F() }\n\ntype t struct{}\n\nfunc (t) F() {}\n\nvar _ S = t{}\n\nfunc main() {\n\t_ = 1\n}\n";
    assert_eq!(
        broken(
            "a.go",
            text,
            &text.replace(" S ", " U "),
            &[("b.go", "package a\n\nfunc g() {\n\t_ = 2\n}\n")]
        ),
        NONE
    );
}

#[test]
fn an_override_is_held_against_the_member_of_its_own_base() {
    let text = "pub struct A;\nimpl crate::sink::Sink for A {\n    fn begin(&mut self, a: u8, b: u8) {}\n}\n";
    let others = [
        ("src/sink.rs", "pub trait Sink {\n    fn begin(&mut self, a: u8, b: u8);\n}\n"),
        ("src/other.rs", "pub struct B;\nimpl B {\n    pub fn begin(&mut self, a: u8) {}\n}\n"),
    ];
    let after = text.replace(", b: u8", "");
    assert_eq!(
        broken("src/lib.rs", text, &after, &others),
        ["3: begin has other parameters than the member it overrides"]
    );
}

#[test]
fn an_extension_function_of_kotlin_is_missed_by_calls_in_its_file() {
    let text = "private fun Int.bit(at: Int) = this shr at\n\nfun main() {\n  3.bit(1)\n  val x = 4\n  x.bit(2)\n}\n";
    let found = edit("A.kt", text, "(at: Int)", "(at: Int, more: Int)");
    assert_eq!(found, ["4: bit now takes 2 arguments", "6: bit now takes 2 arguments"]);
}

#[test]
fn python_call_with_a_parameter_passed_twice_breaks() {
    let text = "class A:\n    def send(self, request, history):\n        pass\n\n    def run(self):\n        self.send(1, history=2)\n";
    assert_eq!(
        edit("a.py", text, "request, history", "history, request"),
        ["6: the signature of send changed"]
    );
}

#[test]
fn c_definition_must_match_its_included_declaration() {
    let text = "#include \"a.h\"\n\nint f(int a, char *b) { return a; }\n";
    let header = ("a.h", "int f(int a, char *b);\n");
    let after = text.replace("int a, char *b", "char *b, int a");
    let reason = "3: f has another signature than its declaration in a.h";
    assert_eq!(broken("a.c", text, &after, &[header]), [reason]);
    assert_eq!(broken("a.c", text, &text.replace(" b)", " c)"), &[header]), NONE);
    assert_eq!(broken("a.c", text, &after, &[("a.h", "int f(char *b, int a);\n")]), NONE);
    assert_eq!(broken("a.c", text, &after, &[("other.h", header.1)]), NONE);
}

#[test]
fn a_function_with_parameters_in_another_order_may_still_be_a_value() {
    let go = "package a\n\nfunc pad(s string, n int) {}\n\nvar all = map[string]interface{}{\n\t\"pad\": pad,\n}\n";
    assert_eq!(edit("a.go", go, "s string, n int", "n int, s string"), NONE);
}
