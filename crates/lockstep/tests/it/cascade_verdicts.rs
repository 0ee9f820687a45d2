//! The verdicts of cascades: renames in several languages, each given to agents that follow, rename too much, do nothing, or edit
//! another file. A cascade has converged only if every reference in every touched file resolves as well as before.

use std::fs;
use std::process::Command;

use lockstep_testkit::TestEnv;

use crate::active;
use crate::rename_fixtures::{commit, list, run, status};

/// Replaces whole words in the assigned files.
const WHOLE_WORDS: &str = r"for f in $LOCKSTEP_FILES; do sed -i 's/\bstrip_ansi\b/strip_tty/g' $f; done";
/// Replaces the old name inside other names too.
const TOO_MUCH: &str = "for f in $LOCKSTEP_FILES; do sed -i 's/strip_ansi/strip_tty/g' $f; done";
/// Renames, and leaves lines that do not parse.
const SYNTAX_ERROR: &str =
    r"for f in $LOCKSTEP_FILES; do sed -i 's/\bstrip_ansi\b\(.*\)$/strip_tty\1 (((/' $f; done";
const NOTHING: &str = "true";
const ANOTHER_FILE: &str = "echo done >> notes.txt";

/// Files of a project that calls `strip_ansi` and `should_strip_ansi` in its second file.
struct Project {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
}

const PROJECTS: [Project; 5] = [
    Project {
        name: "python",
        files: &[
            (
                "pkg/text.py",
                "def strip_ansi(s):\n    return s\n\n\ndef should_strip_ansi(s):\n    return bool(s)\n",
            ),
            (
                "app.py",
                "from pkg.text import should_strip_ansi, strip_ansi\n\nif should_strip_ansi(1):\n    strip_ansi(1)\n",
            ),
            ("pkg/__init__.py", ""),
        ],
    },
    Project {
        name: "typescript",
        files: &[
            ("src/text.ts", "export function strip_ansi() {}\nexport function should_strip_ansi() {}\n"),
            (
                "src/app.ts",
                "import { should_strip_ansi, strip_ansi } from './text'\n\nshould_strip_ansi()\nstrip_ansi()\n",
            ),
        ],
    },
    Project {
        name: "rust",
        files: &[
            ("src/text.rs", "pub fn strip_ansi() {}\npub fn should_strip_ansi() {}\n"),
            (
                "src/app.rs",
                "use crate::text::{should_strip_ansi, strip_ansi};\n\npub fn run() {\n    should_strip_ansi();\n    strip_ansi();\n}\n",
            ),
            ("src/lib.rs", "mod app;\nmod text;\n"),
            ("Cargo.toml", "[package]\nname = \"p\"\nversion = \"0.1.0\"\n"),
        ],
    },
    Project {
        name: "go",
        files: &[
            (
                "text.go",
                "package p\n\nfunc strip_ansi() {}\n\nfunc should_strip_ansi() bool { return true }\n",
            ),
            ("app.go", "package p\n\nfunc run() {\n\tif should_strip_ansi() {\n\t\tstrip_ansi()\n\t}\n}\n"),
            ("go.mod", "module p\n"),
        ],
    },
    Project {
        name: "java",
        files: &[
            (
                "src/p/Text.java",
                "package p;\nclass Text {\n  static void strip_ansi() {}\n  static void should_strip_ansi() {}\n}\n",
            ),
            (
                "src/p/App.java",
                "package p;\nclass App {\n  void run() {\n    Text.should_strip_ansi();\n    Text.strip_ansi();\n  }\n}\n",
            ),
        ],
    },
];

fn planted(project: &Project) -> TestEnv {
    let env = active();
    for (path, text) in project.files {
        env.write(path, text);
    }
    commit(&env);
    env
}

/// Renames the definition of `strip_ansi`, and nothing else.
fn rename_definition(env: &TestEnv, path: &str) {
    let file = env.project().join(path);
    fs::write(&file, fs::read_to_string(&file).unwrap().replacen("strip_ansi", "strip_tty", 1)).unwrap();
}

/// The verdict of a cascade with this agent.
fn verdict(env: &TestEnv, agent: &str) -> String {
    let output = run(env, agent, &[]);
    let status = status(env);
    let verdict = status["status"].as_str().unwrap().to_owned();
    assert_eq!(verdict == "converged", output.code == Some(0), "{}", output.snapshot());
    verdict
}

#[test]
fn a_rename_converges_only_with_the_agent_that_follows_it() {
    let mut wrong = Vec::new();
    for project in &PROJECTS {
        for (agent, expected) in [
            (WHOLE_WORDS, "converged"),
            (TOO_MUCH, "partial"),
            (SYNTAX_ERROR, "partial"),
            (NOTHING, "partial"),
            (ANOTHER_FILE, "partial"),
        ] {
            let env = planted(project);
            rename_definition(&env, project.files[0].0);
            let verdict = verdict(&env, agent);
            if verdict != expected {
                wrong.push(format!(
                    "{}: {verdict} instead of {expected} with {agent}\n{:#}",
                    project.name,
                    status(&env)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn references_in_the_changed_file_itself_are_work_of_the_cascade() {
    for (path, text) in [
        ("a.py", "def strip_ansi(s):\n    return s\n\n\ndef main():\n    return strip_ansi(1)\n"),
        ("a.ts", "export function strip_ansi() {}\n\nexport function main() {\n  strip_ansi()\n}\n"),
        ("src/lib.rs", "fn strip_ansi() {}\n\npub fn main() {\n    strip_ansi()\n}\n"),
        ("a.go", "package a\n\nfunc strip_ansi() {}\n\nfunc Main() {\n\tstrip_ansi()\n}\n"),
    ] {
        for (agent, expected) in [(WHOLE_WORDS, "converged"), (NOTHING, "partial"), (ANOTHER_FILE, "partial")]
        {
            let env = active();
            env.write(path, text);
            commit(&env);
            rename_definition(&env, path);
            assert_eq!(verdict(&env, agent), expected, "{path} with {agent}: {:#}", status(&env));
            let prompt = fs::read_to_string(env.state().join("reports/cascade/1/1a-1.prompt.md")).unwrap();
            assert!(prompt.contains("its own edit left references behind"), "{prompt}");
            assert!(prompt.contains("`strip_ansi`, now `strip_tty`"), "{prompt}");
            assert!(!prompt.contains("Never change the root cause"), "{prompt}");
        }
    }
}

#[test]
fn a_class_renamed_together_with_its_file_converges() {
    let env = active();
    env.write("pkg/__init__.py", "");
    env.write(
        "pkg/old_shape.py",
        "class OldShape:\n    def area(self):\n        return 1\n\n    def twice(self):\n        return 2\n",
    );
    env.write("app.py", "from pkg.old_shape import OldShape\n\nprint(OldShape().area())\n");
    env.write("README.md", "See [the shape](pkg/old_shape.py), `OldShape`.\n");
    commit(&env);
    env.git(["mv", "pkg/old_shape.py", "pkg/new_shape.py"]);
    let file = env.project().join("pkg/new_shape.py");
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("OldShape", "NewShape")).unwrap();
    let agent =
        "for f in $LOCKSTEP_FILES; do sed -i 's/old_shape/new_shape/g; s/OldShape/NewShape/g' $f; done";
    assert_eq!(verdict(&env, agent), "converged", "{:#}", status(&env));
    let python = Command::new("python3").arg("app.py").current_dir(env.project()).output();
    assert!(python.is_ok_and(|output| output.status.success()), "the program runs again");
    let prompt = fs::read_to_string(env.state().join("reports/cascade/1/1a-1.prompt.md")).unwrap();
    for part in ["`pkg/old_shape.py` is now `pkg/new_shape.py`", "`OldShape` is now `NewShape`"] {
        assert!(prompt.contains(part), "{part} is not in\n{prompt}");
    }
}

#[test]
fn a_renamed_skill_is_named_in_the_prompt_and_followed() {
    let skill = "---\nname: exec-code\ndescription: x\n---\n# Execute\n";
    let agent = "---\nname: impl\nskills: [exec-code]\n---\nUse /exec-code first.\n";
    for (script, expected) in [
        ("for f in $LOCKSTEP_FILES; do sed -i 's/exec-code/plan-execution/g' $f; done", "converged"),
        ("for f in $LOCKSTEP_FILES; do sed -i 's/exec-code/plan-execute/g' $f; done", "partial"),
        (NOTHING, "partial"),
    ] {
        let env = active();
        env.write(".claude/skills/exec-code/SKILL.md", skill);
        env.write(".claude/agents/impl.md", agent);
        commit(&env);
        env.git(["mv", ".claude/skills/exec-code", ".claude/skills/plan-execution"]);
        env.write(".claude/skills/plan-execution/SKILL.md", skill.replace("exec-code", "plan-execution"));
        assert_eq!(verdict(&env, script), expected, "{script}: {:#}", status(&env));
        let prompt = fs::read_to_string(env.state().join("reports/cascade/1/1a-1.prompt.md")).unwrap();
        assert!(prompt.contains("`exec-code` is now `plan-execution`"), "{prompt}");
    }
}

#[test]
fn a_moved_file_without_another_content_is_named_in_the_prompt() {
    let env = active();
    env.write("src/old.py", "def f():\n    return 1\n");
    env.write("app.py", "from src.old import f\n\nf()\n");
    commit(&env);
    env.git(["mv", "src/old.py", "src/new.py"]);
    let agent = "for f in $LOCKSTEP_FILES; do sed -i 's/src.old/src.new/g' $f; done";
    assert_eq!(verdict(&env, agent), "converged", "{:#}", status(&env));
    let prompt = fs::read_to_string(env.state().join("reports/cascade/1/1a-1.prompt.md")).unwrap();
    assert!(prompt.contains("`src/old.py` is now `src/new.py`"), "{prompt}");
    assert!(prompt.contains("`src/old.py`, now `src/new.py`"), "{prompt}");
}

#[test]
fn a_failed_group_with_a_mention_is_retried_and_skipped() {
    let env = active();
    env.write("a.py", "def strip_ansi(s):\n    return s\n");
    env.write("GUIDE.md", "Call `strip_ansi` from `a.py` first.\n");
    commit(&env);
    env.write("a.py", "def strip_tty(s):\n    return s\n");
    assert_eq!(verdict(&env, "exit 1"), "partial", "{:#}", status(&env));
    assert_eq!(list(&status(&env), "skipped"), ["GUIDE.md"]);
    assert_eq!(status(&env)["iteration_details"][0]["implementers_spawned"], 2);
    let env = active();
    env.write("a.py", "def strip_ansi(s):\n    return s\n");
    env.write("GUIDE.md", "Call `strip_ansi` from `a.py` first.\n");
    commit(&env);
    env.write("a.py", "def strip_tty(s):\n    return s\n");
    assert_eq!(verdict(&env, WHOLE_WORDS), "converged", "{:#}", status(&env));
}

/// A rename of `limit` to `bound` in the first file, in a project that also has `max_limit`.
const MEMBERS: &[(&str, &[(&str, &str)])] = &[
    (
        "attribute in Python",
        &[
            ("conf.py", "class Conf:\n    limit = 3\n    max_limit = 9\n"),
            ("app.py", "from conf import Conf\n\nprint(Conf.limit, Conf.max_limit)\n"),
        ],
    ),
    (
        "macro in C",
        &[
            ("conf.h", "#define limit 3\n#define max_limit 4\n"),
            ("app.c", "#include \"conf.h\"\n\nint sum(void) { return limit + max_limit; }\n"),
        ],
    ),
];

#[test]
fn a_member_renamed_too_much_does_not_converge() {
    for (name, files) in MEMBERS {
        for (agent, expected) in [
            (r"for f in $LOCKSTEP_FILES; do sed -i 's/\blimit\b/bound/g' $f; done", "converged"),
            ("for f in $LOCKSTEP_FILES; do sed -i 's/limit/bound/g' $f; done", "partial"),
            (NOTHING, "partial"),
        ] {
            let env = active();
            files.iter().for_each(|(path, text)| drop(env.write(path, text)));
            commit(&env);
            let (path, text) = files[0];
            env.write(path, text.replacen("limit", "bound", 1));
            assert_eq!(verdict(&env, agent), expected, "{name} with {agent}: {:#}", status(&env));
        }
    }
}

/// The users take the name from a file that only re-exports it: once that file follows, they are behind.
#[test]
fn users_behind_a_reexport_are_work_of_the_next_iteration() {
    for (name, files) in [
        (
            "TypeScript",
            [
                ("src/text.ts", "export function strip_ansi() {}\nexport function should_strip_ansi() {}\n"),
                ("src/index.ts", "export { should_strip_ansi, strip_ansi } from './text'\n"),
                ("app/app.ts", "import { strip_ansi } from '../src/index'\n\nstrip_ansi()\n"),
                ("package.json", "{\"name\": \"p\"}\n"),
            ],
        ),
        (
            "Rust",
            [
                ("src/text.rs", "pub fn strip_ansi() {}\npub fn should_strip_ansi() {}\n"),
                ("src/lib.rs", "mod text;\npub use text::{should_strip_ansi, strip_ansi};\n"),
                ("tests/it.rs", "use p::strip_ansi;\n\n#[test]\nfn t() {\n    strip_ansi();\n}\n"),
                ("Cargo.toml", "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
            ],
        ),
        (
            "Python",
            [
                ("pkg/text.py", "def strip_ansi():\n    pass\n\n\ndef should_strip_ansi():\n    pass\n"),
                ("pkg/__init__.py", "from .text import should_strip_ansi, strip_ansi\n"),
                ("app.py", "from pkg import strip_ansi\n\nstrip_ansi()\n"),
                ("setup.cfg", "[metadata]\nname = p\n"),
            ],
        ),
    ] {
        for (agent, expected) in [(WHOLE_WORDS, "converged"), (TOO_MUCH, "partial"), (NOTHING, "partial")] {
            let env = active();
            files.iter().for_each(|(path, text)| drop(env.write(path, text)));
            commit(&env);
            rename_definition(&env, files[0].0);
            assert_eq!(verdict(&env, agent), expected, "{name} with {agent}: {:#}", status(&env));
            if expected == "converged" {
                let user = fs::read_to_string(env.project().join(files[2].0)).unwrap();
                assert!(!user.contains("strip_ansi"), "{name}: {user}");
            }
        }
    }
}

/// The files of a project; the first defines `strip_ansi`, which the second uses.
type Users = (&'static str, &'static [(&'static str, &'static str)]);

/// Languages without imports, with imports of packages, and with members that only types resolve.
const USERS: &[Users] = &[
    (
        "function in a package of Go",
        &[
            ("text.go", "package p\n\nfunc strip_ansi() {}\n"),
            ("app.go", "package p\n\nfunc run() {\n\tstrip_ansi()\n}\n"),
            ("go.mod", "module p\n"),
        ],
    ),
    (
        "static method in Java",
        &[
            ("src/p/Text.java", "package p;\nclass Text {\n  static void strip_ansi() {}\n}\n"),
            ("src/p/App.java", "package p;\nclass App {\n  void run() {\n    Text.strip_ansi();\n  }\n}\n"),
        ],
    ),
    (
        "field in C",
        &[
            ("text.h", "struct text { int strip_ansi; };\n"),
            ("app.c", "#include \"text.h\"\n\nint f(struct text *t) { return t->strip_ansi; }\n"),
        ],
    ),
    (
        "imported class in PHP",
        &[
            ("src/Text.php", "<?php\nnamespace App;\n\nclass strip_ansi {\n    public function f() {}\n}\n"),
            (
                "src/Use.php",
                "<?php\nnamespace App\\Sub;\n\nuse App\\strip_ansi;\n\nfunction g(strip_ansi $x) { $x->f(); }\n",
            ),
        ],
    ),
    (
        "method in Ruby",
        &[
            ("text.rb", "class Text\n  def strip_ansi\n    1\n  end\nend\n"),
            ("app.rb", "require_relative 'text'\n\nText.new.strip_ansi\n"),
        ],
    ),
    (
        "function in Kotlin",
        &[
            ("text.kt", "package p\n\nfun strip_ansi() {}\n"),
            ("app.kt", "package q\n\nimport p.strip_ansi\n\nfun run() {\n    strip_ansi()\n}\n"),
        ],
    ),
    (
        "property in TypeScript",
        &[
            ("text.ts", "export interface Text { strip_ansi: number; more: string }\n"),
            ("app.ts", "import type { Text } from './text'\nexport const f = (t: Text) => t.strip_ansi\n"),
        ],
    ),
];

#[test]
fn a_name_that_an_agent_made_up_does_not_converge() {
    for (name, files) in USERS {
        for (agent, expected) in [
            (WHOLE_WORDS, "converged"),
            ("for f in $LOCKSTEP_FILES; do sed -i 's/strip_ansi/wipe_words/g' $f; done", "partial"),
            (NOTHING, "partial"),
        ] {
            let env = active();
            files.iter().for_each(|(path, text)| drop(env.write(path, text)));
            commit(&env);
            let (path, text) = files[0];
            env.write(path, text.replace("strip_ansi", "strip_tty"));
            assert_eq!(verdict(&env, agent), expected, "{name} with {agent}: {:#}", status(&env));
        }
    }
}

/// The agent has the changed file too, because the edit broke references in it, and renames another field in both.
#[test]
fn a_field_renamed_too_much_but_in_every_file_converges() {
    let env = active();
    env.write("Cargo.toml", "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    env.write("src/lib.rs", "pub mod app;\npub mod conf;\n");
    let conf = "pub struct Conf {\n    pub limit: u32,\n    pub limit_max: u32,\n}\n\nimpl Conf {\n    pub fn sum(&self) -> u32 {\n        \
                self.limit + self.limit_max\n    }\n}\n";
    env.write("src/conf.rs", conf);
    env.write(
        "src/app.rs",
        "use crate::conf::Conf;\n\npub fn f(c: &Conf) -> u32 {\n    c.limit + c.limit_max\n}\n\npub fn g() -> Conf {\n    \
         Conf { limit: 1, limit_max: 2 }\n}\n",
    );
    commit(&env);
    env.write("src/conf.rs", conf.replacen("limit", "bound", 1));
    let agent = "for f in $LOCKSTEP_FILES; do sed -i 's/limit/bound/g' $f; done";
    assert_eq!(verdict(&env, agent), "converged", "{:#}", status(&env));
}

/// The second iteration sees that a signature names another type, and not that the type was renamed before it.
#[test]
fn signatures_that_follow_a_renamed_type_need_no_further_change() {
    for (definition, text, user, uses) in [
        (
            "walk.go",
            "package p\n\ntype WalkFunc func(n int) error\n\ntype Router struct{}\n\n\
             func (r *Router) Walk(f WalkFunc) error {\n\treturn f(1)\n}\n",
            "walk_test.go",
            "package p\n\nfunc run() error {\n\tr := &Router{}\n\treturn r.Walk(func(n int) error { return nil })\n}\n",
        ),
        (
            "walk.ts",
            "export type WalkFunc = (n: number) => void\n\nexport class Router {\n  walk(f: WalkFunc) {\n    f(1)\n  }\n}\n",
            "use.ts",
            "import { Router } from './walk'\n\nnew Router().walk((n) => {})\n",
        ),
        (
            "kind.go",
            "package p\n\ntype WalkFunc uint8\n\nconst first WalkFunc = 1\n\ntype Node struct {\n\tkind WalkFunc\n}\n\n\
             func (n *Node) is() bool {\n\treturn n.kind == first\n}\n",
            "other.go",
            "package p\n\nfunc run(n *Node) bool {\n\treturn n.is()\n}\n",
        ),
    ] {
        let env = active();
        env.write(definition, text);
        env.write(user, uses);
        commit(&env);
        env.write(definition, text.replacen("WalkFunc", "VisitFunc", 1));
        let agent = "for f in $LOCKSTEP_FILES; do sed -i 's/WalkFunc/VisitFunc/g' $f; done";
        assert_eq!(verdict(&env, agent), "converged", "{definition}");
    }
}

/// The agent gives members of things outside the project the new name of the definition.
#[test]
fn external_members_with_the_new_name_do_not_converge() {
    let cases: [(&str, &str, &str, &str); 3] = [
        (
            "text.go",
            "package p\n\nfunc New() int { return 1 }\n",
            "app.go",
            "package p\n\nimport \"errors\"\n\nfunc run() (int, error) {\n\treturn New(), errors.New(\"x\")\n}\n",
        ),
        (
            "text.py",
            "def New():\n    return 1\n",
            "app.py",
            "import lib\nfrom text import New\n\nNew()\nlib.New()\n",
        ),
        (
            "src/text.rs",
            "pub fn New() {}\n",
            "src/lib.rs",
            "mod text;\n\npub fn run() {\n    text::New();\n    String::New();\n}\n",
        ),
    ];
    for (definition, text, user, uses) in cases {
        for (agent, expected) in [
            (r"for f in $LOCKSTEP_FILES; do sed -i 's/\bNew\b/Make/g' $f; done", "partial"),
            (
                r"for f in $LOCKSTEP_FILES; do sed -i 's/\bNew\b/Make/g; s/\(errors\|lib\|String\)\(\.\|::\)Make/\1\2New/' $f; done",
                "converged",
            ),
        ] {
            let env = active();
            env.write("go.mod", "module p\n");
            env.write("Cargo.toml", "[package]\nname = \"p\"\nversion = \"0.1.0\"\n");
            env.write(definition, text);
            env.write(user, uses);
            commit(&env);
            env.write(definition, text.replace("New", "Make"));
            assert_eq!(verdict(&env, agent), expected, "{definition} with {agent}: {:#}", status(&env));
        }
    }
}
