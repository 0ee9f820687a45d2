//! `docs/guide/task.md` is true.

use crate::active;
use crate::guide::Guide;
use crate::task_pipeline::{gate, l2};

#[test]
fn examples_of_the_task_guide_work() {
    let env = active();
    env.write("src/auth.rs", "x\n");
    env.write(
        "impact.yaml",
        "modules:\n  - {name: auth, files: [src/auth.rs], dependencies: [store]}\ninterfaces:\n  \
         - {from: api, to: auth, contract: login returns a session}\nrisk_hotspots: []\n",
    );
    for n in 1..=3 {
        env.write(format!("work/{n}/L2-summary.md"), l2(&format!("P{n}-work")));
        env.write(format!("work/{n}/gate-record.yaml"), gate(n));
    }
    Guide::new(&env, "task.md").is_true(21);
}
