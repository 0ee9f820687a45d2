//! Paths and mentions in files of every kind.

use lockstep_refs::entity::{Aliases, Names, entities};
use lockstep_refs::facts::DefinitionKind;
use lockstep_refs::reference::Kind;
use lockstep_refs::text::{Subject, outgoing, referrers};
use lockstep_refs::world::{MemoryWorld, World};

/// The references to a file, as `path:line kind pattern`.
fn to(files: &[(&str, &str)], path: &str) -> Vec<String> {
    let world = MemoryWorld::new(files.iter().copied());
    let text = world.find(path).and_then(|file| world.text(file));
    let entities = entities(path, text.as_deref(), &Aliases::default());
    let symbols = world.find(path).and_then(|file| world.facts(file)).map(|facts| facts.definitions.clone());
    let symbols = symbols.unwrap_or_default();
    let subject = Subject { path, entities: &entities, symbols: &symbols, history: false };
    let show = |r: lockstep_refs::reference::Reference| {
        format!("{}:{} {:?} {}", world.path(r.file), r.line, r.kind, r.pattern).to_lowercase()
    };
    referrers(&world, &subject).into_iter().map(show).collect()
}

#[test]
fn script_is_found_through_every_path_to_it() {
    let files = [
        ("scripts/build.release.sh", ""),
        ("Dockerfile", "FROM x\nCOPY scripts/build.release.sh /bin/\n"),
        (".github/workflows/ci.yml", "steps:\n  - run: ./scripts/build.release.sh --all\n"),
        ("package.json", "{\"scripts\": {\"build\": \"bash scripts/build.release.sh\"}}"),
        ("docs/guide.md", "Run [it](../scripts/build.release.sh#x).\n"),
        ("site/index.html", "<a href=\"/scripts/build.release.sh\">x</a>\n"),
        ("scripts/all.sh", "here=$(dirname \"$0\")\n\"$here\"/build.release.sh\n"),
        ("tool.toml", "script = \"scripts/build.release.sh\"\n"),
        ("src/run.ts", "run('scripts/build.release.sh');\n// see scripts/build.release.sh for why\n"),
        ("CHANGELOG.md", "- `scripts/build.release.sh` is new\n"),
        ("other.md", "https://example.org/scripts/build.release.sh, scripts/prebuild.release.sh\n"),
    ];
    assert_eq!(
        to(&files, "scripts/build.release.sh"),
        [
            ".github/workflows/ci.yml:2 path ./scripts/build.release.sh",
            "dockerfile:2 path scripts/build.release.sh",
            "docs/guide.md:1 path ../scripts/build.release.sh",
            "package.json:1 path scripts/build.release.sh",
            "scripts/all.sh:2 path /build.release.sh",
            "site/index.html:1 path /scripts/build.release.sh",
            "src/run.ts:1 path scripts/build.release.sh",
            "src/run.ts:2 mention scripts/build.release.sh",
            "tool.toml:1 path scripts/build.release.sh",
        ]
    );
}

#[test]
fn generic_names_identify_only_with_their_directory() {
    let files = [
        ("a/README.md", ""),
        ("b/README.md", ""),
        ("a/x.md", "[up](README.md), the README.md, [b](../b/README.md)\n"),
        ("notes.md", "README.md is there; see a/README.md\n"),
    ];
    assert_eq!(to(&files, "a/README.md"), ["a/x.md:1 path readme.md", "notes.md:1 path a/readme.md"]);
    assert_eq!(to(&files, "b/README.md"), ["a/x.md:1 path ../b/readme.md"]);
}

#[test]
fn a_renamed_heading_is_asked_for_by_its_anchor() {
    let files = [
        ("docs/a.md", "# Set up\n## Two words\n"),
        ("docs/b.md", "[x](a.md#two-words) and [y](a.md#three)\n"),
        ("README.md", "[x](docs/a.md#set-up)\n"),
    ];
    let world = MemoryWorld::new(files);
    let definitions = world.facts(world.find("docs/a.md").unwrap()).unwrap().definitions.clone();
    let wanted: Vec<_> = definitions.into_iter().filter(|d| &*d.name == "two-words").collect();
    assert_eq!(wanted[0].kind, DefinitionKind::Section);
    let subject = Subject { path: "docs/a.md", entities: &[], symbols: &wanted, history: false };
    let found = referrers(&world, &subject);
    assert_eq!(found.len(), 1);
    assert_eq!(
        (world.path(found[0].file), found[0].symbol, found[0].kind),
        ("docs/b.md", Some(0), Kind::Path)
    );
}

#[test]
fn symbols_are_mentioned_in_backticks_or_by_their_shape() {
    let mut definition =
        MemoryWorld::new([("x.md", "# a\n")]).facts(lockstep_refs::world::FileId(0)).unwrap().definitions[0]
            .clone();
    definition.kind = DefinitionKind::Function;
    let mut asked = |name: &str| {
        definition.name = name.into();
        let world = MemoryWorld::new([
            (
                "README.md",
                "We get it.\nCall `Store::get()` then.\nread_all reads all of it.\nread_all_of is other.\n",
            ),
            ("b.rs", "// read_all and `get`\n"),
            ("CHANGELOG.md", "`get` and read_all\n"),
        ]);
        let symbols = [definition.clone()];
        let subject = Subject { path: "a.rs", entities: &[], symbols: &symbols, history: false };
        let found = referrers(&world, &subject);
        found.into_iter().map(|r| (world.path(r.file).to_owned(), r.line, r.kind)).collect::<Vec<_>>()
    };
    assert_eq!(asked("get"), [("README.md".to_owned(), 2, Kind::Mention)]);
    assert_eq!(asked("read_all"), [("README.md".to_owned(), 3, Kind::Mention)]);
}

#[test]
fn text_references_of_a_file_mirror_find_references() {
    let files = [
        (
            ".claude/skills/plan-x/SKILL.md",
            "---\nname: plan-x\n---\nThen /do-y, then `.claude/hooks/on-z.sh`.\n",
        ),
        (".claude/skills/do-y/SKILL.md", "# do\nsee skills/plan-x/resources/how.md\n"),
        (".claude/skills/plan-x/resources/how.md", "Up: ../SKILL.md\n"),
        (".claude/hooks/on-z.sh", "#!/bin/sh\n"),
        (".claude/settings.json", "{\"command\": \"$CLAUDE_PROJECT_DIR/.claude/hooks/on-z.sh\"}"),
        ("MEMORY.md", "plan-x\n"),
    ];
    let world = MemoryWorld::new(files);
    let names = Names::of(&world, &Aliases::default());
    let mut out: Vec<(&str, &str, Kind)> = Vec::new();
    for file in world.files() {
        for (target, place) in outgoing(&world, &names, file).references {
            out.push((world.path(file), world.path(target), place.kind));
        }
    }
    assert!(out.contains(&(".claude/skills/plan-x/SKILL.md", ".claude/skills/do-y/SKILL.md", Kind::Name)));
    assert!(out.contains(&(
        ".claude/skills/do-y/SKILL.md",
        ".claude/skills/plan-x/resources/how.md",
        Kind::Path
    )));
    assert!(out.contains(&(
        ".claude/skills/plan-x/resources/how.md",
        ".claude/skills/plan-x/SKILL.md",
        Kind::Path
    )));
    assert!(out.contains(&(".claude/settings.json", ".claude/hooks/on-z.sh", Kind::Path)));
    assert!(!out.iter().any(|(from, ..)| *from == "MEMORY.md"));
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic_and_every_line_it_names_is_there(
        text in r#"(---\n|name: |plan-x|skills/|/|`|\|| |\n|\r\n|ö|…|\.\./|\$\{A\}/|on-z\.sh|SKILL\.md|\]\(|#|->|[a-z"'().-]){0,60}"#,
    ) {
        let known = ".claude/skills/plan-x/SKILL.md";
        let world = MemoryWorld::new([(known, &*text), (".claude/hooks/on-z.sh", &*text), ("ö/a.md", &*text), ("b.rs", &*text)]);
        let names = Names::of(&world, &Aliases::default());
        for path in [known, ".claude/hooks/on-z.sh", "gone/plan-x.md"] {
            let entities = entities(path, Some(&text), &Aliases::default());
            let subject = Subject { path, entities: &entities, symbols: &[], history: true };
            for reference in referrers(&world, &subject) {
                let line = text.lines().nth(reference.line as usize - 1).expect("the line exists");
                proptest::prop_assert!(line.contains(&*reference.pattern), "{line:?} has no {:?}", reference.pattern);
                proptest::prop_assert_ne!(world.path(reference.file), path);
            }
            lockstep_refs::stale_references::dangling(
                &world,
                &[lockstep_refs::stale_references::Former { path: path.into(), entities }],
                &Aliases::default(),
                &|| false,
            );
        }
        for file in world.files() {
            outgoing(&world, &names, file);
        }
    }
}

/// The references to a file other than mentions, as `path:line`.
fn followers(files: &[(&str, &str)], path: &str) -> Vec<String> {
    let lines = to(files, path).into_iter().filter(|line| !line.contains(" mention "));
    lines.filter_map(|line| line.split(' ').next().map(str::to_owned)).collect()
}

#[test]
fn a_bare_word_is_no_path() {
    let files = [
        ("scripts/check", "#!/bin/sh\n"),
        ("scripts/assert.h", "#define assert(x) x\n"),
        ("VERSION", "1.2\n"),
        ("LICENSE", "MIT\n"),
        (".env", "A=1\n"),
        (
            "README.md",
            "Run ruff check --fix. The status check is in `check`, VERSION is set. See [it](LICENSE).\n",
        ),
        ("scripts/lint.sh", "ruff check --fix\ncheck\n\"check\"\n"),
        ("scripts/all.sh", "./check\nscripts/check\n"),
        ("src/a.py", "VERSION = 1\nx = {\"VERSION\": VERSION}\nopen(\"VERSION\")\nassert(check)\n"),
        ("src/b.c", "#include <assert.h>\nint f(void) { assert(1); check(\"check\"); }\n"),
        ("docs/env.md", "A file with `.env` at its end, or \".env\".\n"),
        ("pyproject.toml", "[project]\nlicense-file = \"LICENSE\"\ncheck = \"check\"\n"),
        ("Dockerfile", "COPY LICENSE VERSION /\nRUN check\n"),
    ];
    assert_eq!(followers(&files, "scripts/check"), ["scripts/all.sh:1", "scripts/all.sh:2"]);
    assert_eq!(followers(&files, "scripts/assert.h"), [""; 0]);
    assert_eq!(followers(&files, "VERSION"), ["dockerfile:1", "src/a.py:3"]);
    assert_eq!(followers(&files, "LICENSE"), ["dockerfile:1", "readme.md:1", "pyproject.toml:2"]);
    assert_eq!(followers(&files, ".env"), [""; 0]);
}

#[test]
fn an_ordinary_word_is_a_name_only_where_such_names_are_used() {
    let files = [
        ("plugins/p/commands/status.md", "# status\n"),
        ("plugins/p/agents/reviewer.md", "---\nname: reviewer\n---\n"),
        ("plugins/p/skills/superjson/SKILL.md", "---\nname: superjson\n---\n"),
        ("plugins/p/skills/links/SKILL.md", "---\nname: links\n---\n"),
        (
            "plugins/p/skills/other/SKILL.md",
            "Run /status first.\n| Agent | Use |\n|---|---|\n| reviewer | code |\n\n`links` skill; the status is `status`.\n",
        ),
        (
            "plugins/p/agents/lead.md",
            "---\nskills:\n  - superjson\n  - links\n---\nDelegate to the reviewer agent. A reviewer reads; [links](../x.md).\n",
        ),
        (
            "src/a.ts",
            "import superjson from 'superjson';\nconst links = ['links'];\nstart({ agent: 'reviewer' });\n",
        ),
        ("src/b.tsx", "<div role=\"status\" onClick={() => status => 1}>links</div>\n"),
        ("package.json", "{\"dependencies\": {\"superjson\": \"^2.0.0\"}}"),
        ("pnpm-lock.yaml", "superjson:\n  specifier: ^2\n"),
        ("web/x.html", "<p role=\"status\" class='links'>status</p>\n"),
        ("api.yaml", "status: ok\nlinks:\n  - status\n"),
        (
            "docs/api.md",
            "| Field | Type |\n|---|---|\n| status | string |\n\n- status: the `status` of it\n- GET `/status`\n- links\n",
        ),
        ("docs/l.md", "[a](../links/b.md), superjson/yup/links/[c], npm install superjson\n"),
    ];
    assert_eq!(followers(&files, "plugins/p/commands/status.md"), ["plugins/p/skills/other/skill.md:1"]);
    assert_eq!(
        followers(&files, "plugins/p/agents/reviewer.md"),
        ["plugins/p/agents/lead.md:6", "plugins/p/skills/other/skill.md:4", "src/a.ts:3"]
    );
    assert_eq!(followers(&files, "plugins/p/skills/superjson/SKILL.md"), ["plugins/p/agents/lead.md:3"]);
    assert_eq!(
        followers(&files, "plugins/p/skills/links/SKILL.md"),
        ["plugins/p/agents/lead.md:4", "plugins/p/skills/other/skill.md:6"]
    );
}

#[test]
fn unlikely_word_in_code_is_a_name_next_to_its_kind() {
    let files = [
        (".claude/skills/code-review/SKILL.md", ""),
        ("src/a.ts", "import x from 'code-review';\nlabel('code-review');\nrun({ skill: 'code-review' });\n"),
        ("web/x.html", "<p class=\"code-review\">\n"),
        ("package.json", "{\"dependencies\": {\"code-review\": \"1\"}}"),
        ("docs/a.md", "Use `code-review`.\nnpm install code-review\n"),
    ];
    assert_eq!(followers(&files, ".claude/skills/code-review/SKILL.md"), ["docs/a.md:1", "src/a.ts:3"]);
}
