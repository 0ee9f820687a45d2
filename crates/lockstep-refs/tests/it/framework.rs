//! A small agent framework: skills, agents, rules, hooks, settings, documents, and files that record the
//! past. Each row renames or deletes one file; the files that must follow are known. It models the failures
//! in a real one: files that name a skill in frontmatter, tables, prose and commands; a skill that is also a
//! domain; names that begin with another.

use std::collections::BTreeSet;

use lockstep_refs::entity::{Aliases, Names, entities};
use lockstep_refs::reference::{Certainty, Kind};
use lockstep_refs::text::{Subject, outgoing, referrers};
use lockstep_refs::world::{MemoryWorld, World};

fn world() -> MemoryWorld {
    let text = include_str!("framework.txt");
    let files = text.split("//- ").filter_map(|file| file.split_once('\n'));
    MemoryWorld::new(files)
}

/// A renamed or deleted file, those that must follow, and those that only mention it.
const TABLE: &[(&str, &[&str], &[&str])] = &[
    (
        ".claude/rules/style-guide.md",
        &[
            ".claude/CLAUDE.md",
            ".claude/agents/analyst.md",
            ".claude/skills/design-scope/SKILL.md",
            ".claude/skills/do-code/SKILL.md",
            "docs/guide.md",
        ],
        &[],
    ),
    (
        ".claude/skills/plan-order/SKILL.md",
        &[
            ".claude/README.md",
            ".claude/settings.json",
            ".claude/skills/design-scope/SKILL.md",
            ".claude/skills/do-code/SKILL.md",
            ".claude/skills/plan-verify-impl/SKILL.md",
            ".claude/skills/plan-verify/SKILL.md",
            "docs/guide.md",
            "src/start.ts",
        ],
        &[],
    ),
    (
        ".claude/skills/plan-verify/SKILL.md",
        &[
            ".claude/CLAUDE.md",
            ".claude/README.md",
            ".claude/skills/design-scope/SKILL.md",
            ".claude/skills/plan-order/SKILL.md",
        ],
        &[],
    ),
    (
        ".claude/skills/keep-house/SKILL.md",
        &[".claude/README.md", ".claude/skills/keep-code/SKILL.md"],
        &["docs/guide.md", "src/start.ts"],
    ),
    (
        ".claude/skills/keep-tasks/SKILL.md",
        &[
            ".claude/agents/deliverer.md",
            ".claude/agents/implementer.md",
            ".claude/skills/keep-house/SKILL.md",
            ".claude/skills/ship-it/SKILL.md",
        ],
        &[],
    ),
    (
        ".claude/hooks/lock-release.sh",
        &[".claude/hooks/on-finish.sh", ".claude/skills/do-code/resources/how.md"],
        &[".claude/hooks/lock-take.sh"],
    ),
    (".claude/hooks/on-finish.sh", &[".claude/README.md", ".claude/settings.json"], &[]),
    (".claude/hooks/lock-take.sh", &[".claude/settings.json"], &[]),
    (
        ".claude/agents/deliverer.md",
        &[".claude/skills/keep-code/SKILL.md", ".claude/skills/ship-it/SKILL.md", "src/start.ts"],
        &[],
    ),
    (
        ".claude/agents/analyst.md",
        &[".claude/CLAUDE.md", ".claude/README.md", ".claude/skills/keep-tasks/SKILL.md"],
        &[],
    ),
    (
        ".claude/agents/implementer.md",
        &[".claude/CLAUDE.md", ".claude/settings.json", ".claude/skills/do-code/SKILL.md"],
        &[],
    ),
    (".claude/skills/do-code/SKILL.md", DO_CODE, &[]),
];

const DO_CODE: &[&str] = &[
    ".claude/agents/implementer.md",
    ".claude/skills/do-code/resources/how.md",
    ".claude/skills/plan-order/SKILL.md",
    ".claude/skills/plan-verify-impl/SKILL.md",
    ".claude/skills/plan-verify/SKILL.md",
];

/// The files that reference one: those that break without it, and those that only mention it.
fn found(world: &MemoryWorld, path: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let text = world.text(world.find(path).expect("a file of the fixture"));
    let known = entities(path, text.as_deref(), &Aliases::default());
    let found = referrers(world, &Subject { path, entities: &known, symbols: &[], history: false });
    let files = |mention: bool| {
        let wanted = found.iter().filter(|r| (r.kind == Kind::Mention) == mention);
        wanted.map(|r| world.path(r.file).to_owned()).collect::<BTreeSet<_>>()
    };
    let breaks = files(false);
    let mentions = files(true).difference(&breaks).cloned().collect();
    (breaks, mentions)
}

fn set(paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

#[test]
fn exactly_the_followers_of_a_renamed_or_deleted_file_are_found() {
    let world = world();
    for (path, followers, mentions) in TABLE {
        assert_eq!(found(&world, path), (set(followers), set(mentions)), "{path}");
    }
}

#[test]
fn removed_file_has_the_same_followers_as_a_present_one() {
    let whole = world();
    for (path, followers, _) in TABLE {
        let text = whole.text(whole.find(path).unwrap());
        let known = entities(path, text.as_deref(), &Aliases::default());
        let files: Vec<_> =
            whole.files().into_iter().map(|file| (whole.path(file), whole.text(file).unwrap())).collect();
        let world = MemoryWorld::new(
            files.iter().filter(|(other, _)| other != path).map(|(path, text)| (*path, &**text)),
        );
        let found = referrers(&world, &Subject { path, entities: &known, symbols: &[], history: false });
        let breaks = found.iter().filter(|r| r.kind != Kind::Mention).map(|r| world.path(r.file).to_owned());
        assert_eq!(breaks.collect::<BTreeSet<_>>(), set(followers), "{path}");
    }
}

#[test]
fn file_references_mirror_find_references() {
    let world = world();
    let names = Names::of(&world, &Aliases::default());
    let mut out = BTreeSet::new();
    for file in world.files() {
        out.extend(
            outgoing(&world, &names, file)
                .references
                .into_iter()
                .map(|(target, place)| (file, target, place.line)),
        );
    }
    let mut back = BTreeSet::new();
    for target in world.files() {
        let path = world.path(target);
        let known = entities(path, world.text(target).as_deref(), &Aliases::default());
        let subject = Subject { path, entities: &known, symbols: &[], history: false };
        back.extend(referrers(&world, &subject).into_iter().map(|r| (r.file, target, r.line)));
    }
    let show =
        |(from, to, line): &(_, _, u32)| format!("{}:{line} -> {}", world.path(*from), world.path(*to));
    let differ: Vec<_> = out.symmetric_difference(&back).map(show).collect();
    assert_eq!(differ, [""; 0]);
    assert!(out.len() > 40, "{}", out.len());
}

#[test]
fn skill_named_like_a_domain_is_possible_everywhere() {
    let world = world();
    let path = ".claude/skills/plan-verify/SKILL.md";
    let known = entities(path, None, &Aliases::default());
    let found = referrers(&world, &Subject { path, entities: &known, symbols: &[], history: false });
    assert!(found.iter().all(|r| r.certainty == Certainty::Possible || r.kind == Kind::Path), "{found:?}");
}

#[test]
fn history_is_asked_only_where_it_is_wanted_and_never_breaks() {
    let world = world();
    let path = ".claude/skills/keep-tasks/SKILL.md";
    let known = entities(path, None, &Aliases::default());
    let found = referrers(&world, &Subject { path, entities: &known, symbols: &[], history: true });
    let output: Vec<_> =
        found.iter().filter(|r| r.kind == Kind::Mention).map(|r| world.path(r.file)).collect();
    assert_eq!(
        output,
        [
            ".claude/agent-memory/analyst/audit.md",
            ".claude/projects/-home-x/memory/MEMORY.md",
            "CHANGELOG.md",
            "docs/plans/2026-01-01-keep-tasks.md"
        ]
    );
}

#[test]
fn an_alias_is_a_name_like_any_other() {
    let world = MemoryWorld::new([
        (".claude/skills/keep-tasks/SKILL.md", ""),
        (".claude/skills/a-b/SKILL.md", "Update `PERMANENT-TASK`, then stop.\n"),
    ]);
    let path = ".claude/skills/keep-tasks/SKILL.md";
    let known = entities(path, None, &Aliases::new([("PERMANENT-TASK", path)]));
    let found = referrers(&world, &Subject { path, entities: &known, symbols: &[], history: false });
    assert_eq!(
        found.iter().map(|r| (&*r.pattern, r.kind)).collect::<Vec<_>>(),
        [("PERMANENT-TASK", Kind::Name)]
    );
}
