//! Parsers of outside input with damaged, repeated and random texts: none panics, overflows its stack or runs without end.
//!
//! `LOCKSTEP_FUZZ_CASES` sets the cases of each parser; see CONTRIBUTING.md for a long run. Memory and processor time of the extractors
//! are measured by `cargo xtask chaos --class sources`.

use std::cell::RefCell;
use std::fs;
use std::path::Path;

use lockstep_git::local::LocalRepository;
use lockstep_testkit::attacks::{EXTENSIONS, PATTERNS};
use lockstep_wire::claude::samples;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use crate::active;
use crate::mcp_session::Session;

/// A damage of a text. Places are shares of its length, so that they fit each text.
#[derive(Debug, Clone)]
enum Damage {
    Remove(u16, u8),
    Insert(u16, String),
    /// Repeats a piece until there are so many bytes.
    Repeat(u16, u8, u16),
    Truncate(u16),
}

fn damage() -> impl Strategy<Value = Damage> {
    let token = prop_oneof![
        "\\PC{1,3}",
        any::<char>().prop_map(|c| c.to_string()),
        prop::sample::select(&PATTERNS[..]).prop_map(str::to_owned),
        prop::sample::select(
            &[
                "\"",
                "\\",
                "{",
                "}",
                ": ",
                "\n",
                "- ",
                "---\n",
                "@@ -1 +1 @@\n",
                "\\ud800",
                "&a *a",
                "\u{1b}",
                "\0"
            ][..]
        )
        .prop_map(str::to_owned),
    ];
    prop_oneof![
        (any::<u16>(), any::<u8>()).prop_map(|(at, length)| Damage::Remove(at, length)),
        (any::<u16>(), token).prop_map(|(at, text)| Damage::Insert(at, text)),
        (any::<u16>(), 1..40_u8, any::<u16>())
            .prop_map(|(at, length, bytes)| Damage::Repeat(at, length, bytes)),
        any::<u16>().prop_map(Damage::Truncate),
    ]
}

/// Returns the nearest start of a character at a share of the text.
fn place(text: &str, share: u16) -> usize {
    text.floor_char_boundary(text.len() * usize::from(share) / usize::from(u16::MAX))
}

fn damaged(text: &str, damages: &[Damage]) -> String {
    let mut text = text.to_owned();
    for damage in damages {
        match damage {
            Damage::Remove(at, length) => {
                let at = place(&text, *at);
                let end = text.ceil_char_boundary((at + usize::from(*length)).min(text.len()));
                text.replace_range(at..end, "");
            }
            Damage::Insert(at, token) => text.insert_str(place(&text, *at), token),
            Damage::Repeat(at, length, bytes) => {
                let at = place(&text, *at);
                let end = text.ceil_char_boundary((at + usize::from(*length)).min(text.len()));
                let piece = text[at..end].to_owned();
                if !piece.is_empty() {
                    text.insert_str(at, &piece.repeat(usize::from(*bytes) / piece.len()));
                }
            }
            Damage::Truncate(at) => text.truncate(place(&text, *at)),
        }
    }
    text
}

fn cases() -> u32 {
    std::env::var("LOCKSTEP_FUZZ_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(60)
}

/// Gives a parser damaged texts.
#[track_caller]
fn fuzz(seeds: &[&str], parse: impl Fn(&str)) {
    let mut runner =
        TestRunner::new(Config { cases: cases(), failure_persistence: None, ..Config::default() });
    let seeds: Vec<String> = seeds.iter().map(|seed| (*seed).to_owned()).chain([String::new()]).collect();
    let inputs = (prop::sample::select(seeds), prop::collection::vec(damage(), 0..6));
    let result = runner.run(&inputs, |(seed, damages)| {
        parse(&damaged(&seed, &damages));
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn events() {
    let seeds: Vec<&str> = samples::ALL.iter().map(|(_, text)| *text).collect();
    fuzz(&seeds, |text| {
        let _ = lockstep_wire::claude::parse(text.as_bytes());
        let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let _ = lockstep_wire::claude::parse(&utf16);
    });
}

#[test]
fn transcripts() {
    let line = r#"{"type":"user","isSidechain":true,"message":{"role":"user","content":[{"type":"text","text":"a"}]}}"#;
    let usage = r#"{"type":"assistant","message":{"id":"m","role":"assistant","usage":{"input_tokens":1,"output_tokens":2}}}"#;
    fuzz(&[&format!("{line}\n{usage}\n{line}\n")], |text| {
        let _ = lockstep_wire::claude::transcript::prompts(text.as_bytes()).count();
        let _ = lockstep_wire::claude::transcript::usage(text.as_bytes());
    });
}

#[test]
fn shell_commands() {
    let seeds = [
        "a=(git commit -m x); \"${a[@]}\" && $(echo git) `x` <<< 'y' | xargs -I{} sh -c \"{}\"",
        "cat <<'EOF' | base64 -d | sh\nZ2l0\nEOF\nfor i in {1..3}; do case $i in 1) f() { git \"$@\"; }; f commit;; esac; done",
        "python3 -c \"import os; os.system('git' + ' commit')\"; lockstep task update a --as \"$X\"",
    ];
    fuzz(&seeds, |text| {
        let _ = lockstep_steps::commit_detection::read_commit(text);
        let _ = lockstep_steps::commit_detection::own_calls(text);
    });
}

#[test]
fn scripts_of_workflows() {
    let seed = "const p = `a ${b} c`;\nawait agent('<!-- DES-VALIDATION: required -->' + \"x\\n\", {type: 'a'}); // end\n/* x */ agent(p)";
    fuzz(&[seed], |text| drop(lockstep_steps::script::read(text)));
}

#[test]
fn yaml() {
    let seeds = [
        "phase_sets:\n  two: {phases: [DO, COMMIT], ordered: false}\n",
        "user_intent: Add login\nconstraints:\n  - a: |\n      b\n  - {c: 'd', \"e\": [1, 2.5, null]}\n",
        "sections:\n  - name: X\n    aliases: [a, b]\n",
        "commands:\n  /nw:execute: {validation: full}\n",
    ];
    fuzz(&seeds, |text| {
        let _ = lockstep_task::yaml::read(text.as_bytes(), 1 << 20);
        let _ = lockstep_steps::state_machine::StepMachines::parse(text);
        let _ = lockstep_steps::section_definitions::SectionDefinitions::parse(text);
        let _ = lockstep_steps::command_table::CommandTable::parse(text);
    });
}

#[test]
fn markdown() {
    let seeds = [
        "---\nname: a\n---\n# T\n\n## A\n- b\n  - c\n\n```sh\n# no heading\n```\n| a | b |\n|---|---|\n| `c` | [d](e) |\n",
        "<!-- DES-VALIDATION: required -->\n<!-- DES-STEP-FILE: steps/01-01.json -->\n## AGENT_IDENTITY\nx\n## TDD_14_PHASES\n1. RED\n",
        "# Codebase Dependency Map\n\n<!-- lockstep -->\n## src/a.rs\n- imports: `b`\n",
    ];
    fuzz(&seeds, |text| {
        let _ = lockstep_task::markdown::outline(text, 0);
        let _ = lockstep_steps::markers::parse(text);
        let _ = lockstep_map::document::MapDocument::parse(text);
        let _ = lockstep_cache::cache_document::CacheDocument::parse(text);
        let _ = lockstep_cache::external_skills::external_skills(text);
        let _ = lockstep_cache::skills_manifest::owners(text);
    });
}

#[test]
fn patches() {
    let seed = "diff --git a/a b/b\nsimilarity index 90%\nrename from a\nrename to b\n--- a/a\n+++ b/b\n@@ -1,2 +1,2 @@ f\n a\n-b\n+c\n\\ No newline at end of file\n";
    fuzz(&[seed], |text| {
        for file in lockstep_git::patch::parse(text).unwrap_or_default() {
            let _ = format!("{file:?}");
        }
    });
}

#[test]
fn settings_of_clients() {
    let seed = r#"{"hooks":{"PostToolUse":[{"matcher":"Edit|Write","hooks":[{"type":"command","command":"lockstep hook claude","timeout":5}]}]},"env":{"A":"b"}} // x"#;
    let entries = [lockstep_setup::claude::HookEntry {
        event: "Stop".to_owned(),
        matcher: None,
        command: "lockstep hook claude".to_owned(),
        timeout_seconds: 5,
    }];
    fuzz(&[seed, "{}"], |text| {
        let _ = lockstep_setup::claude::inspect(text);
        let _ = lockstep_setup::claude::plain_entries(text);
        let _ = lockstep_setup::claude::HookSwitches::read(text);
        let _ = lockstep_setup::claude::install(Some(text), &entries);
        let _ = lockstep_setup::claude::uninstall(text);
    });
}

#[test]
fn configurations() {
    fuzz(
        &["[audit]\ndir = \"x\"\n[steps.markers]\nvalidation = 'A'\n[[cache.section]]\nsource = ['a']\n"],
        |text| {
            drop(lockstep_config::parse(text));
        },
    );
}

#[test]
fn steps_and_trails() {
    let env = active();
    env.lockstep(["step", "new", "01-01", "--project", "auth", "--phases", "tdd-3"]).assert_success();
    let read = |path: &str| fs::read_to_string(env.project().join(path)).unwrap();
    let (step, trail) = (read("steps/01-01.json"), read("steps/audit-2026-02-14.log"));
    fuzz(&[&step, &trail], |text| {
        let _ = lockstep_steps::step::Step::parse(text);
        text.lines().for_each(|line| drop(lockstep_steps::audit::TrailEntry::parse(line)));
        let _ = lockstep_task::audit::TaskAuditEntry::parse(text);
        let _ = lockstep_cascade::cascade_input::read(text.as_bytes(), "/repo");
    });
}

/// Output of agents, lines of journals, and the files that phases hand over.
#[test]
fn reports_journals_and_handoffs() {
    let seeds = [
        "done\n```json\n{\"files\": [{\"path\": \"a.rs\", \"status\": \"updated\", \"why\": \"x\"}]}\n```\n",
        "2026-02-14T06:30:43Z\tEdit\tsrc/a\\tb.rs\ta1\tt1\tshared\n",
        "status: COMPLETE\nartifacts:\n  - {path: a.md, line_count: 3}\n",
        "[PERMANENT] PT-v3 auth",
    ];
    fuzz(&seeds, |text| {
        let _ = lockstep_cascade::agent_report::parse_agent_report(text.as_bytes(), "/repo");
        let _ = lockstep_model::change::JournalLine::parse(text.as_bytes());
        let _ = lockstep_task::handoff::l1::read(text.as_bytes());
        let _ = lockstep_task::scratch::Scratch::read(text.as_bytes());
        let _ = lockstep_task::version::subject::TaskSubject::parse(text);
        let _ = lockstep_text::decode(&[&b"\xff\xfe"[..], text.as_bytes()].concat());
    });
}

/// A server of one session gets damaged messages and answers the next sound one.
#[test]
fn messages_of_mcp() {
    let seeds = [
        r#"{"jsonrpc":"2.0","id":100001,"method":"tools/call","params":{"name":"references","arguments":{"name":"a.py"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":100001}}"#,
    ];
    let session = RefCell::new(Session::start(&active()));
    fuzz(&seeds, |text| {
        let mut session = session.borrow_mut();
        session.raw(&text.replace(['\n', '\r'], " "));
        let id = session.send("ping", json!({}));
        while session.next_message()["id"] != id {}
    });
}

#[test]
fn sources() {
    let seeds = [
        "use a::{b, c as d};\nfn f<T>(x: &T) -> Option<u8> { x.y(|z| z + 1)?; g!(\"a\") }\n",
        "import { a as b } from './c';\nexport class D<T> extends E { f(x?: T) { return <A b={x}/>; } }\n",
        "from . import b as c\nclass G(H):\n    @p\n    def f(self, *a, n=1): return f'{a[0]!r}'\n",
        "package p\nimport q \"m/q\"\nfunc (t *T[K]) M(a ...int) { defer func() { q.R{}.S() }() }\n",
        "#include \"b.h\"\n#define F(x) ((x)->y)\nnamespace a { template <class T> int f(T *h) { return F(h)(1); } }\n",
    ];
    let names: Vec<String> = EXTENSIONS.iter().map(|extension| format!("a.{extension}")).collect();
    fuzz(&seeds, |text| {
        // Each case in one language, or the run takes minutes.
        drop(lockstep_refs::language::facts(&names[text.len() % names.len()], text));
    });
}

/// Files of a repository with damaged bytes: the reader without git gives an answer or none.
#[test]
fn files_of_git() {
    let env = active();
    env.shell(
        "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a; git init -q; seq 500 > long; \
         for n in 1 2 3 4 5 6; do sed -i s/$n/x/ long; mkdir -p d$n; echo $n > d$n/f; git add -A; git commit -qm $n; done; \
         git gc -q --aggressive; git pack-refs --all; echo new > new; git add new; git commit -qm new",
    );
    let mut files = Vec::new();
    collect(&env.project().join(".git"), &mut files);
    files.retain(|file| !file.to_string_lossy().contains("hooks"));
    let mut runner =
        TestRunner::new(Config { cases: cases(), failure_persistence: None, ..Config::default() });
    let inputs =
        (prop::sample::select(files), prop::collection::vec((any::<u16>(), any::<u8>(), 0..4_u8), 1..8));
    let head = LocalRepository::discover(&env.project()).unwrap().head().unwrap();
    let result = runner.run(&inputs, |(file, damages)| {
        let sound = fs::read(&file).unwrap();
        let mut bytes = sound.clone();
        for (at, byte, kind) in damages {
            let at = bytes.len() * usize::from(at) / usize::from(u16::MAX);
            match kind {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, byte),
                _ => bytes.get_mut(at).into_iter().for_each(|candidate| *candidate = byte),
            }
        }
        let _ = fs::remove_file(&file);
        fs::write(&file, bytes).unwrap();
        if let Some(local) = LocalRepository::discover(&env.project()) {
            let _ = local.head();
            for path in ["long", "d1/f", "new", "none"] {
                let _ = local.file(&head, path);
            }
            let _ = local.tracked();
        }
        let _ = fs::remove_file(&file);
        fs::write(&file, sound).unwrap();
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

fn collect(dir: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => collect(&entry.path(), files),
            false => files.push(entry.path()),
        }
    }
}
