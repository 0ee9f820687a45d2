//! References to what is gone.

use lockstep_refs::dangling::{Former, dangling};
use lockstep_refs::entity::{Aliases, entities};
use lockstep_refs::world::{MemoryWorld, World};

fn former(path: &str, text: &str) -> Former {
    Former { path: path.into(), entities: entities(path, Some(text), &Aliases::default()) }
}

fn places(world: &MemoryWorld, former: &[Former]) -> Vec<(String, u32, String, Option<usize>)> {
    let show = |place: lockstep_refs::dangling::Dangling| {
        (world.path(place.file).to_owned(), place.line, place.pattern.into_string(), place.former)
    };
    dangling(world, former, &Aliases::default()).into_iter().map(show).collect()
}

#[test]
fn former_entities_dangle_unless_something_has_their_name_again() {
    let world = MemoryWorld::new([
        (".claude/skills/new-plan/SKILL.md", "---\nname: moved-on\n---\nAfter `old-plan`, run /moved-on.\n"),
        (".claude/hooks/done.sh", "\"${DIR}/release.sh\" || true\n"),
        ("docs/a.md", "old-plan-b is not it\n"),
        (".claude/MEMORY.md", "old-plan\n"),
    ]);
    let gone = [
        former(".claude/skills/old-plan/SKILL.md", ""),
        former(".claude/hooks/release.sh", ""),
        former(".claude/skills/moved-on/SKILL.md", ""),
    ];
    assert_eq!(
        places(&world, &gone),
        [
            (".claude/hooks/done.sh".into(), 1, "${DIR}/release.sh".into(), Some(1)),
            (".claude/skills/new-plan/SKILL.md".into(), 4, "old-plan".into(), Some(0)),
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
        ("docs/b.md", "[up](../../issues/1.md) [i](img/x.png) [g](guide.html) [h](a.html)\n"),
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
            (".claude/settings.json".into(), 3, ".claude/hooks/lost.sh".into(), None),
            ("docs/a.md".into(), 1, "gone.md".into(), None),
            ("docs/b.md".into(), 1, "guide.html".into(), None),
            ("docs/sub/e.md".into(), 1, "../n/q.md".into(), None),
        ]
    );
}
