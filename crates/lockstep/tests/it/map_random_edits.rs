//! After any change of the files, an update has the same result as a build: with real processes, files and
//! git.

use std::collections::BTreeMap;
use std::fs;

use lockstep_testkit::TestEnv;

use crate::active;

/// The number of edits, renames and deletions, with an update after every few.
const ACTS: usize = 200;

/// Numbers from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 20).unwrap() % sides
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.roll(words.len())]
    }
}

const NAMES: &[&str] = &["store", "page", "cache", "route", "plan-one", "index", "mod"];
const FOLDERS: &[&str] =
    &["", "src/", "src/store/", "web/", "pkg/", "docs/", ".claude/skills/plan-one/", ".claude/agents/"];
const ENDINGS: &[&str] = &["py", "ts", "rs", "java", "go", "sh", "md"];
const MANIFESTS: &[&str] = &[
    "Cargo.toml",
    "package.json",
    "tsconfig.json",
    "go.mod",
    "pkg/__init__.py",
    "src/lib.rs",
    ".claude/skills/route/SKILL.md",
];

fn path(dice: &mut Dice) -> String {
    match dice.roll(6) {
        0 => dice.of(MANIFESTS).to_owned(),
        _ => format!("{}{}.{}", dice.of(FOLDERS), dice.of(NAMES), dice.of(ENDINGS)),
    }
}

fn text(dice: &mut Dice, path: &str) -> String {
    let word = |dice: &mut Dice| dice.of(NAMES).replace('-', "_");
    let (a, b, c) = (word(dice), word(dice), word(dice));
    let file = format!("{}{}.{}", dice.of(FOLDERS), dice.of(NAMES), dice.of(ENDINGS));
    let number = dice.roll(1_000);
    match path.rsplit('.').next().unwrap() {
        "toml" => format!("[package]\nname = \"{a}\"\nversion = \"0.1.{number}\"\n"),
        "json" if path.contains("tsconfig") => {
            format!(
                "{{\"compilerOptions\": {{\"baseUrl\": \".\", \"paths\": {{\"{a}/*\": [\"web/*\"]}}}}}}\n"
            )
        }
        "json" => format!("{{\"name\": \"{a}\", \"main\": \"web/{b}.ts\"}}\n"),
        "mod" => format!("module example.org/{a}\n"),
        "py" => format!(
            "from {a} import {b}\nfrom src.{c} import {a}\n\nclass {b}_{c}:\n    def {c}(self):\n        return {a}({number})\n\ndef {c}():\n    return {a}.{b}()\n"
        ),
        "ts" => format!(
            "import {{ {b} }} from \"./{a}\";\nexport * from \"../{c}\";\nexport function {c}() {{ return {b}({number}); }}\n"
        ),
        "rs" => format!(
            "mod {a};\npub use crate::{b}::{c};\npub fn {a}_{c}() {{ {b}::{c}({number}); }}\npub struct {c};\n"
        ),
        "java" => {
            format!("package {a};\nimport {b}.{c};\nclass {c} extends {a} {{ {b} x = new {b}({number}); }}\n")
        }
        "go" => format!(
            "package {a}\nimport \"example.org/{a}/{b}\"\nfunc {c}() {{ {b}.{c}({number}) }}\ntype {b} struct {{}}\n"
        ),
        "sh" => format!("source ./{a}.sh\n. \"$DIR/src/{b}.sh\"\n{c}() {{ bash {file}; echo {number}; }}\n"),
        _ => format!(
            "---\nname: {}\n---\nSee [it]({file}), `{}` and docs/README.md. {number}\n",
            a.replace('_', "-"),
            dice.of(NAMES)
        ),
    }
}

fn map(env: &TestEnv) -> String {
    fs::read_to_string(env.project().join("map.md")).unwrap()
}

fn act(env: &TestEnv, dice: &mut Dice, files: &mut BTreeMap<String, ()>) {
    let any = |dice: &mut Dice, files: &BTreeMap<String, ()>| {
        files.keys().nth(dice.roll(files.len())).unwrap().clone()
    };
    match dice.roll(10) {
        0 if files.len() > 10 => {
            let removed = any(dice, files);
            fs::remove_file(env.project().join(&removed)).unwrap();
            files.remove(&removed);
        }
        1 if files.len() > 10 => {
            let (from, to) = (any(dice, files), path(dice));
            if files.contains_key(&to) {
                return;
            }
            env.git(["add", "--all"]);
            fs::create_dir_all(env.project().join(&to).parent().unwrap()).unwrap();
            env.git(["mv", &from, &to]);
            files.remove(&from);
            files.insert(to, ());
        }
        2 => {
            env.git(["add", "--all"]);
            env.git(["commit", "--quiet", "--allow-empty", "-m", "some"]);
        }
        _ => {
            let path = path(dice);
            let text = text(dice, &path);
            env.write(&path, text);
            files.insert(path, ());
        }
    }
}

fn play(seed: u64) {
    let env = active();
    env.configure("[map]\npath = \"map.md\"\n");
    env.git(["init", "--quiet"]);
    let mut dice = Dice(seed);
    let mut files = BTreeMap::new();
    for _ in 0..25 {
        let path = path(&mut dice);
        let text = text(&mut dice, &path);
        env.write(&path, text);
        files.insert(path, ());
    }
    env.lockstep(["map"]).assert_success();
    for turn in 1..=ACTS {
        act(&env, &mut dice, &mut files);
        match dice.roll(8) {
            0 => drop(env.lockstep(["map", "update"]).assert_success()),
            // Skipped files must not be lost to later updates.
            1 => {
                let named = env.lockstep(["map", "update", &path(&mut dice), "pkg", &path(&mut dice)]);
                // A name without a file and without an entry is reported after the others are updated.
                let code =
                    if String::from_utf8_lossy(&named.stderr).contains("there is no file") { 4 } else { 0 };
                assert_eq!(named.code, Some(code), "{named:?}");
            }
            _ => {}
        }
        if turn % 40 == 0 {
            env.lockstep(["map", "update"]).assert_success();
            let updated = map(&env);
            env.lockstep(["map", "check"]).assert_success();
            env.lockstep(["map", "build"]).assert_success();
            assert_eq!(map(&env), updated, "seed {seed}, after {turn} acts");
        }
    }
}

#[test]
fn updates_after_random_edits_equal_a_rebuilt_map() {
    [0x9e37_79b9_7f4a_7c15, 0xff51_afd7_ed55_8ccd].into_iter().for_each(play);
}
