//! `docs/guide/map.md` is true.

use crate::active;
use crate::guide::Guide;

#[test]
fn examples_of_the_map_guide_work() {
    let env = active();
    env.git(["init", "--quiet"]);
    env.write("src/lib.rs", "pub mod report;\npub mod store;\npub mod web;\n");
    env.write("src/store.rs", "pub fn load(key: &str) -> String {\n    format!(\"value of {key}\")\n}\n");
    env.write(
        "src/report.rs",
        "use crate::store::load;\n\npub fn render(name: &str) -> String {\n    load(name)\n}\n",
    );
    env.write(
        "src/web.rs",
        "use crate::report::render;\n\npub fn page() -> String {\n    render(\"front\")\n}\n",
    );
    env.write("docs/guide.md", "How values are loaded: `src/store.rs`.\n");
    env.write("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n");
    Guide::new(&env, "map.md").wide().is_true(12);
}
