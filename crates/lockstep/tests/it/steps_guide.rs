//! `docs/guide/steps.md` is true.

use crate::guide::Guide;
use crate::inactive;

#[test]
fn the_guide_to_steps_is_true() {
    let env = inactive();
    env.git(["init", "--quiet"]);
    env.write("src/add.sh", "add() { :; }\n");
    env.write(
        "test.sh",
        "#!/bin/sh\n. src/add.sh\n[ \"$(add 1 2)\" = 3 ] && echo ok || { echo 'add 1 2 is not 3'; exit 1; }\n",
    );
    Guide::new(&env, "steps.md").with_complaints().is_true(21);
}
