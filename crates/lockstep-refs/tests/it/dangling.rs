//! References to deleted files.

use lockstep_refs::entity::{Aliases, entities};
use lockstep_refs::stale_references::{Former, dangling};
use lockstep_refs::world::{MemoryWorld, World};

fn former(path: &str, text: &str) -> Former {
    Former { path: path.into(), entities: entities(path, Some(text), &Aliases::default()) }
}

fn places(world: &MemoryWorld, former: &[Former]) -> Vec<(String, u32, String, String)> {
    let show = |place: lockstep_refs::stale_references::Dangling| {
        (world.path(place.file).to_owned(), place.line, place.pattern.into_string(), place.target)
    };
    dangling(world, former, &Aliases::default(), &|| false).found.into_iter().map(show).collect()
}

#[test]
fn former_entities_dangle_unless_something_has_their_name_again() {
    let world = MemoryWorld::new([
        (".claude/skills/new-plan/SKILL.md", "---\nname: moved-on\n---\nAfter `old-plan`, run /moved-on.\n"),
        (".claude/hooks/done.sh", "\"${DIR}/release.sh\" || true\n"),
        ("docs/a.md", "old-plan-b is not it\n"),
        (".claude/MEMORY.md", "old-plan\n"),
    ]);
    let removed = [
        former(".claude/skills/old-plan/SKILL.md", ""),
        former(".claude/hooks/release.sh", ""),
        former(".claude/skills/moved-on/SKILL.md", ""),
    ];
    assert_eq!(
        places(&world, &removed),
        [
            (
                ".claude/hooks/done.sh".into(),
                1,
                "${DIR}/release.sh".into(),
                ".claude/hooks/release.sh".into()
            ),
            (
                ".claude/skills/new-plan/SKILL.md".into(),
                4,
                "old-plan".into(),
                ".claude/skills/old-plan/SKILL.md".into()
            ),
        ]
    );
}

#[test]
fn links_and_hook_commands_that_lead_nowhere_dangle() {
    let world = MemoryWorld::new([
        (
            "docs/a.md",
            "[x](b.md) [y](gone.md#z) `[c](code.md)` [w](https://x.org/a.md) [d](sub) [r](/root.md)\n```\n[f](f.md)\n```\n",
        ),
        (
            "docs/b.md",
            "[up](../../issues/1.md) [i](img/x.png) [g](guide.html) [h](a.html)\n[i](img/x.png) [^1]: gone.md\n",
        ),
        ("docs/img/x.png", ""),
        ("docs/sub/e.md", "[a](../a.md) [n](../n/q.md)\n"),
        (".claude/hooks/there.sh", ""),
        (
            ".claude/settings.json",
            "{\"hooks\": [\n{\"command\": \"$CLAUDE_PROJECT_DIR/.claude/hooks/there.sh\"},\n{\"command\": \"\\\"$CLAUDE_PROJECT_DIR\\\"/.claude/hooks/lost.sh x\"}\n]}",
        ),
        ("CHANGELOG.md", "[gone](gone.md)\n"),
    ]);
    assert_eq!(
        places(&world, &[]),
        [
            (
                ".claude/settings.json".into(),
                3,
                ".claude/hooks/lost.sh".into(),
                ".claude/hooks/lost.sh".into()
            ),
            ("docs/a.md".into(), 1, "gone.md".into(), "docs/gone.md".into()),
            ("docs/b.md".into(), 1, "guide.html".into(), "docs/guide.html".into()),
            ("docs/sub/e.md".into(), 1, "../n/q.md".into(), "docs/n/q.md".into()),
        ]
    );
}

#[test]
fn words_and_names_of_files_elsewhere_do_not_dangle() {
    let world = MemoryWorld::new([
        ("lib/parse.c", "int parse;\n"),
        ("README.md", "parse is in parse.c; `parse.c` was src/parse.c. The `docs` say status.\n"),
        ("src/a.c", "#include \"parse.h\"\n// see status and jv.c\nchar *s = \"status\";\n"),
        ("ci.yml", "run: cc src/parse.c && status && ./tools/check\n"),
    ]);
    let removed = [
        former("src/parse.c", ""),
        former("docs/status", ""),
        former("status", ""),
        former("src/jv.c", ""),
        former("tools/check", ""),
    ];
    let found: Vec<_> =
        places(&world, &removed).into_iter().map(|(file, line, .., target)| (file, line, target)).collect();
    let row = |file: &str, target: &str| (file.to_owned(), 1, target.to_owned());
    assert_eq!(
        found,
        [row("README.md", "src/parse.c"), row("ci.yml", "src/parse.c"), row("ci.yml", "tools/check")]
    );
}

#[test]
fn truncated_search_is_reported() {
    let world = MemoryWorld::new([("a.md", "[x](gone.md)\n")]);
    let search = dangling(&world, &[], &Aliases::default(), &|| true);
    assert!(search.truncated && search.found.is_empty());
}

#[test]
fn unresolved_imports_of_files_that_never_existed_are_counted() {
    let world = MemoryWorld::new([
        ("app/__init__.py", ""),
        ("app/main.py", "from app.old import f\nfrom app.never import g\n"),
    ]);
    let search = dangling(&world, &[former("app/old.py", "def f(): pass\n")], &Aliases::default(), &|| false);
    assert_eq!((search.found.len(), search.unresolved), (1, 1), "{search:?}");
}

#[test]
fn import_of_compiled_typescript_does_not_dangle() {
    let world = MemoryWorld::new([
        ("test/page.ts", "export const page = 1;\n"),
        ("test/all.ts", "export * from './page.js';\nimport './view.js';\n"),
    ]);
    let removed = [former("test/page.js", ""), former("test/view.js", "")];
    assert_eq!(
        places(&world, &removed),
        [("test/all.ts".into(), 2, "./view.js".into(), "test/view.js".into())]
    );
}

#[test]
fn paths_of_something_else_do_not_dangle() {
    let world = MemoryWorld::new([
        (".gitignore", "/tools/gen.sh\n"),
        (
            "README.md",
            "`git show v1:tools/old.sh`, all of `**/tools/old.sh`, [`tools/old.sh`](https://x.org/tools/old.sh)\n",
        ),
        ("GUIDE.md", "```\n$ rg x\ntools/old.sh\ntools/old.sh:12: x\n```\nRun `tools/old.sh`.\n"),
        ("site/index.html", "<link href=\"/static/a.png\">\n"),
        ("site/static/a.png", ""),
        ("scripts/build.js", "const own = 'src/index.ts';\n"),
        ("guide/a.md", "Your own cmd/root.go starts it.\n"),
        ("src/jv.c", "#include \"num/num.h\"\n"),
        ("vendor/num/num.h", ""),
    ]);
    let removed =
        ["tools/old.sh", "tools/gen.sh", "static/a.png", "src/index.ts", "tool/cmd/root.go", "src/num/num.h"];
    let removed: Vec<Former> = removed.iter().map(|path| former(path, "")).collect();
    let found: Vec<_> = places(&world, &removed).into_iter().map(|(file, line, ..)| (file, line)).collect();
    // `src` has other files, so `src/index.ts` may be a file of it.
    assert_eq!(found, [("GUIDE.md".into(), 6), ("scripts/build.js".into(), 1)]);
}

#[test]
fn imports_of_generated_files_and_of_other_packages_do_not_dangle() {
    let world = MemoryWorld::new([
        (
            "proto/src/test/java/com/x/proto/UsesTest.java",
            "package com.x.proto;\nimport com.x.proto.Made;\nclass UsesTest { Made it; }\n",
        ),
        ("proto/src/test/proto/made.proto", "message Made {}\n"),
        ("crates/a/tests/tests.rs", "mod util;\nmod misc;\n"),
        ("crates/a/tests/misc.rs", "use crate::util::Dir;\n"),
        ("crates/a/tests/util.rs", "pub struct Dir;\n"),
        ("examples/b/src/trpc.ts", "import { r } from '~/server/_app';\n"),
    ]);
    let removed =
        ["x/src/main/java/com/x/Types.java", "crates/b/src/util.rs", "examples/c/src/server/_app.ts"];
    let removed: Vec<Former> = removed.iter().map(|path| former(path, "")).collect();
    let found: Vec<_> = places(&world, &removed).into_iter().map(|(file, line, ..)| (file, line)).collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_former_skill_dangles_as_a_name_and_not_as_words_of_a_sentence() {
    let world = MemoryWorld::new([(
        ".claude/skills/other/SKILL.md",
        "---\nname: other\n---\n- getting-started workflows are short\nUse `getting-started`.\n",
    )]);
    let removed = [
        former(".claude/skills/getting-started/SKILL.md", ""),
        former(".claude/skills/old/getting-started/SKILL.md", ""),
    ];
    let lines: Vec<u32> = places(&world, &removed).into_iter().map(|(_, line, ..)| line).collect();
    assert_eq!(lines, [5]);
}
