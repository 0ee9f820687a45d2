//! `docs/guide/cascade.md` is true.

use crate::active;
use crate::guide::Guide;
use crate::rename_fixtures::commit;

#[test]
fn examples_of_the_cascade_guide_work() {
    let env = active();
    env.write("src/lib.rs", "pub mod report;\npub mod store;\npub mod web;\n");
    env.write("src/store.rs", "pub fn load(key: &str) -> String {\n    format!(\"value of {key}\")\n}\n");
    env.write("src/report.rs", "use crate::store::load;\n\npub fn render(name: &str) -> String {\n    format!(\"# {}\", load(name))\n}\n");
    env.write(
        "src/web.rs",
        "use crate::report::render;\n\npub fn page() -> String {\n    render(\"front\")\n}\n",
    );
    commit(&env);
    Guide::new(&env, "cascade.md").wide().is_true(9);
}
