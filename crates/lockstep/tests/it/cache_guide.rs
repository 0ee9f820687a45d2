//! `docs/guide/session-cache.md` is true.

use crate::active;
use crate::guide::Guide;

#[test]
fn examples_of_the_session_cache_guide_work() {
    let env = active();
    let skill =
        "---\nname: review\ndescription: Looks at a change before it is merged\n---\nRead the whole diff.\n";
    env.write(".claude/skills/review/SKILL.md", skill);
    env.write(
        ".claude/agents/tester.md",
        "---\nname: tester\ndescription: Writes the tests that a change needs\n---\n",
    );
    Guide::new(&env, "session-cache.md").is_true(4);
}
