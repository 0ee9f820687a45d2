//! `docs/guide/steps.md` is true.

use crate::guide::Guide;
use crate::inactive;

#[test]
fn examples_of_the_steps_guide_work() {
    let env = inactive();
    env.git(["init", "--quiet"]);
    env.write("src/add.sh", "add() { :; }\n");
    env.write(
        "test.sh",
        "#!/bin/sh\n. src/add.sh\n[ \"$(add 1 2)\" = 3 ] && echo ok || { echo 'add 1 2 is not 3'; exit 1; }\n",
    );
    Guide::new(&env, "steps.md").with_complaints().is_true(21);
}
