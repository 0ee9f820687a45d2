//! Paths to directories and documents that were moved or deleted, and files whose content is not analysed.

use super::*;

fn moved(from: &str, to: &str, before: &str) -> Edit {
    Edit { former: Some(from.to_owned()), ..edited(to, before) }
}

#[test]
fn deleted_index_file_breaks_paths_to_its_directory() {
    let world = MemoryWorld::new([
        (".github/actions/setup/helper.sh", ""),
        (
            ".github/workflows/ci.yml",
            "steps:\n  - uses: ./.github/actions/setup\n  - uses: actions/checkout@v4\n",
        ),
        ("docs/ci.md", "See `.github/actions/setup`.\n"),
    ]);
    let impact = ask(&world, &[deleted(".github/actions/setup/action.yml", "name: x\n")]);
    assert_eq!(
        describe(&impact),
        ["DIRECT breaks path .github/workflows/ci.yml:2:- uses: ./.github/actions/setup"]
    );
}

#[test]
fn moving_a_directory_breaks_every_path_to_it_once() {
    let world = MemoryWorld::new([
        ("crates/core/Cargo.toml", "[package]\n"),
        ("crates/core/src/lib.rs", ""),
        ("Cargo.toml", "[workspace]\nmembers = [\n  \"crates/base\",\n  \"crates/basement\",\n]\n"),
        ("crates/app/Cargo.toml", "base = { path = \"../base\" }\n"),
        ("Makefile", "all:\n\t$(MAKE) -C crates/base\n"),
        ("Dockerfile", "COPY crates/base /src\n"),
        ("tsconfig.json", "{\"references\": [{\"path\": \"./crates/base\"}]}"),
        ("docs/x.md", "[base](../crates/base/) and the base of it\n"),
        ("CHANGELOG.md", "- [base](crates/base) is new; `crates/base`\n"),
    ]);
    let edits = [
        moved("crates/base/Cargo.toml", "crates/core/Cargo.toml", "[package]\n"),
        moved("crates/base/src/lib.rs", "crates/core/src/lib.rs", ""),
    ];
    let impact = ask(&world, &edits);
    let paths: Vec<_> = impact
        .dependents()
        .filter(|(_, dependent)| dependent.breaks)
        .map(|(file, dependent)| (&*file.path, &*dependent.path))
        .collect();
    let from = "crates/core/Cargo.toml";
    let expected = [
        "Cargo.toml",
        "Dockerfile",
        "Makefile",
        "crates/app/Cargo.toml",
        "docs/x.md",
        "tsconfig.json",
        "CHANGELOG.md",
    ];
    assert_eq!(paths, expected.map(|path| (from, path)));
}

#[test]
fn the_content_of_a_manifest_is_not_analysed() {
    for (path, before) in [
        ("package.json", "{\"name\": \"a\"}"),
        ("go.mod", "module a\n"),
        ("web/tsconfig.base.json", "{}"),
        ("Makefile", "all:\n"),
        ("app/app.csproj", "<Project/>"),
    ] {
        let world = MemoryWorld::new([(path, "changed"), ("README.md", "text\n")]);
        let impact = ask(&world, &[edited(path, before)]);
        assert!(impact.files[0].content_not_analysed, "{path}");
        let basis = IndexState { fresh: true, revision: String::new(), time: String::new(), unseen: 0 };
        let report = Report { root: "/r", impact: &impact, basis: &basis, notes: &[], history: &[] };
        assert!(report.l1().contains("confidence: medium"), "{}", report.l1());
        assert!(report.l2().contains(&format!("- The content of {path} is not analysed")), "{}", report.l2());
        let same = ask(&world, &[edited(path, "changed")]);
        assert!(!same.files[0].content_not_analysed, "{path}");
    }
}

#[test]
fn the_content_of_data_is_not_analysed_if_a_line_is_missing() {
    let is_analysed = |path: &str, before: &str, now: &str| {
        let world = MemoryWorld::new([(path, now), ("README.md", "text\n")]);
        !ask(&world, &[edited(path, before)]).files[0].content_not_analysed
    };
    for path in
        ["config.yaml", "data.json", "settings.toml", "a.proto", "a.sql", "app.properties", ".env", "a.lua"]
    {
        assert!(!is_analysed(path, "a: 1\nb: 2\n", "a: 1\nc: 2\n"), "{path}");
        assert!(is_analysed(path, "a: 1\n# x\nb: 2\n", "a: 1\n  b: 2,\nc: 2\n"), "{path}");
    }
    for path in ["notes.txt", "Cargo.lock", "pnpm-lock.yaml", "docs/a.rst", ".gitignore", "LICENSE", "a.md"] {
        assert!(is_analysed(path, "a: 1\nb: 2\n", "a: 1\nc: 2\n"), "{path}");
    }
}

#[test]
fn links_in_change_logs_break_and_are_listed_last() {
    let world = MemoryWorld::new([
        ("CHANGES.md", "[a](docs/my%20guide.md), `docs/my guide.md`\n"),
        ("a.md", "[a]: docs/my%20guide.md\n"),
        ("b.md", "[b](<docs/my guide.md#top> \"x\")\n"),
        ("c.html", "<a href=\"docs/my guide.md\">x</a>\n"),
        ("d.sh", "cat docs/my\\ guide.md\n"),
        ("e.py", "open('docs/my guide.md')\n"),
        ("f.md", "my guide.md is not a path\n"),
    ]);
    let impact = ask(&world, &[deleted("docs/my guide.md", "# Guide\n")]);
    let paths: Vec<_> =
        impact.dependents().map(|(_, dependent)| (&*dependent.path, dependent.breaks)).collect();
    let expected = ["a.md", "b.md", "c.html", "d.sh", "e.py", "CHANGES.md"];
    assert_eq!(paths, expected.map(|path| (path, true)));
}
