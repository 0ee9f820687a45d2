//! Unresolved references that an edit introduces.

use super::*;

/// Line and reason of each broken reference of `path` after `before` became `after`.
fn broken(path: &str, before: &str, after: &str, others: &[(&str, &str)]) -> Vec<String> {
    let mut files = vec![(path, after)];
    files.extend(others);
    let world = MemoryWorld::new(files);
    let impact = ask(&world, &[edited(path, before)]);
    let describe = |broken_reference: &BrokenReference| {
        format!("{}: {}", broken_reference.evidence.line, broken_reference.reason)
    };
    impact.files[0].broken_in_file.iter().map(describe).collect()
}

const NONE: [&str; 0] = [];

#[test]
fn an_import_of_a_name_that_its_module_does_not_have_is_broken() {
    let python = [("a.py", "def f(): pass\n")];
    assert_eq!(broken("b.py", "from a import f\n", "from a import g\n", &python), ["1: a has no g"]);
    assert_eq!(broken("b.py", "", "import a\n\na.g()\n", &python), ["3: a has no g"]);
    assert_eq!(broken("b.py", "", "from a import f\n", &python), NONE);
    assert_eq!(broken("b.py", "from a import g\n", "from a import g, f\n", &python), NONE);
    let typescript = [("a.ts", "export const f = 1\n")];
    assert_eq!(broken("b.ts", "", "import { g } from './a'\n", &typescript), ["1: ./a has no g"]);
    assert_eq!(broken("b.ts", "", "import { f } from './gone'\n", &typescript), ["1: ./gone does not exist"]);
    let rust = [("src/lib.rs", "mod a;\nmod b;\n"), ("src/a.rs", "pub fn f() {}\n")];
    assert_eq!(
        broken("src/b.rs", "use crate::a::f;\n", "use crate::a::g;\n", &rust),
        ["1: g does not exist"]
    );
}

#[test]
fn a_module_that_may_have_any_name_is_not_judged() {
    let made_up = [("a.py", "def __getattr__(name): return 1\n")];
    assert_eq!(broken("b.py", "", "from a import g\n", &made_up), NONE);
    let from_outside = [("a.py", "from numpy import *\n")];
    assert_eq!(broken("b.py", "", "from a import g\n", &from_outside), NONE);
    let unread = [("a.py", "def f(:\n")];
    assert_eq!(broken("b.py", "", "from a import g\n", &unread), NONE);
    assert_eq!(broken("b.py", "", "import numpy as np\nnp.gone()\n", &[]), NONE);
    let outside = [("a.ts", "export * from 'pkg'\n")];
    assert_eq!(broken("b.ts", "", "import { g } from './a'\n", &outside), NONE);
}

#[test]
fn a_use_renamed_to_a_name_that_nothing_has_is_broken() {
    let go = [("a.go", "package p\n\nfunc helper() {}\n")];
    let before = "package p\n\nfunc run() {\n\thelper()\n}\n";
    assert_eq!(
        broken("b.go", before, &before.replace("helper", "helpers"), &go),
        ["4: nothing is called helpers; it was helper"]
    );
    assert_eq!(
        broken("b.go", before, &before.replace("helper()", "println()"), &[("a.go", "package p\n")]),
        NONE
    );
    assert_eq!(broken("b.go", before, "package p\n\nfunc run() {\n\tprintln(len(\"\"))\n}\n", &go), NONE);
}

#[test]
fn links_to_missing_files_and_anchors_are_broken() {
    let docs = [("docs/a.md", "# One\n"), ("src/x/y.rs", "")];
    let read = |after: &str| broken("docs/b.md", "# B\n", after, &docs);
    assert_eq!(
        read("# B\n[a](a.md) [o](a.md#one) [b](#b) [x](../src) [w](https://x.y/z) `[c](gone.md)`\n"),
        NONE
    );
    assert_eq!(read("# B\n[a](gone.md)\n"), ["2: docs/gone.md does not exist"]);
    assert_eq!(read("# B\n[a](a.md#two)\n"), ["2: docs/a.md has no heading #two"]);
    assert_eq!(
        broken("docs/b.md", "# Old\n[a](#old)\n", "# New\n[a](#old)\n", &docs),
        ["2: docs/b.md has no heading #old"]
    );
    assert_eq!(broken("docs/b.md", "[a](gone.md)\n", "x\n[a](gone.md)\n", &docs), NONE);
}

#[test]
fn an_agent_or_skill_that_does_not_exist_is_broken() {
    let framework = [
        (".claude/agents/reviewer.md", "---\nname: reviewer\n---\n"),
        (".claude/skills/plan/SKILL.md", "---\nname: plan\n---\n"),
    ];
    let read = |front: &str| {
        let text = format!("---\n{front}\n---\nText\n");
        broken(".claude/skills/do/SKILL.md", "---\nname: do\n---\nText\n", &text, &framework)
    };
    assert_eq!(read("agent: reviewer"), NONE);
    assert_eq!(read("agent: general-purpose"), NONE);
    assert_eq!(read("agent: reviewr"), ["2: there is no agent reviewr"]);
    assert_eq!(read("skills:\n  - plan\n  - plans"), ["4: there is no skill plans"]);
}

#[test]
fn a_new_file_with_a_broken_import_is_reported() {
    let world = MemoryWorld::new([("a.py", "def f(): pass\n"), ("b.py", "from a import g\n")]);
    let edit = Edit { before: Before::Absent, ..edited("b.py", "") };
    let impact = ask(&world, &[edit]);
    assert_eq!(impact.files[0].broken_in_file[0].reason, "a has no g");
}

#[test]
fn a_static_member_renamed_to_a_name_that_nothing_has_is_broken() {
    let java = [("p/A.java", "package p;\nclass A {\n  static void f() {}\n}\n")];
    let before = "package p;\nclass B {\n  void g() { A.f(); }\n}\n";
    assert_eq!(
        broken("p/B.java", before, &before.replace("A.f", "A.ff"), &java),
        ["3: nothing is called ff; it was f"]
    );
}

#[test]
fn a_name_that_a_macro_may_define_is_not_judged() {
    let rust = [("src/lib.rs", "mod a;\nmod b;\n"), ("src/a.rs", "made! { HOME }\n")];
    assert_eq!(broken("src/b.rs", "", "use crate::a::HOME;\n", &rust), NONE);
}
