//! Source files that drive parsers to their limits.

use std::time::Duration;

use lockstep_testkit::attacks::{EXTENSIONS, PATTERNS, SOURCE_EXTENSIONS, source_file};
use lockstep_testkit::step_agent::{invoke, prompt, stop, transcript};
use lockstep_testkit::{HookEvent, TestEnv};

use super::scene::{is_refused, must, with_step};
use super::trial::{Trial, Verdict};
use super::usage;

const MAX_MIB: u64 = 200;
/// Processor time of the optimised program.
const MAX_TIME: Duration = Duration::from_secs(2);
/// The programs of tests have grammars that take about ten times as long.
const SLOWNESS: u32 = 10;

/// One file each: every pattern in every language, and as many generated ones.
pub(super) fn attack(trial: &mut Trial<'_>) {
    let program = trial.program;
    let max_time = MAX_TIME * if trial.is_test_build() { SLOWNESS } else { 1 };
    let table =
        EXTENSIONS.iter().flat_map(|extension| PATTERNS.iter().map(move |pattern| (*extension, *pattern)));
    let mut files: Vec<(String, &str, Vec<u8>)> = Vec::new();
    for (extension, pattern) in trial.sample(table) {
        let bytes = *trial.numbers.choose(&[3_000, 25_000, 50_000, 100_000]);
        files.push((
            format!("{pattern:?} in {bytes} bytes of .{extension}"),
            extension,
            pattern.repeat(bytes / pattern.len()).into_bytes(),
        ));
    }
    for at in 0..trial.limit {
        let extension = *trial.numbers.choose(&SOURCE_EXTENSIONS);
        let bytes = *trial.numbers.choose(&[1_000, 10_000, 50_000, 100_000, 400_000]);
        let (shape, text) = source_file(&mut trial.numbers, extension, bytes);
        files.push((format!("generated file {at}, {shape}, {bytes} bytes of .{extension}"), extension, text));
    }
    for (name, extension, text) in files {
        trial.case(name, || {
            let env = TestEnv::active(program);
            env.write(format!("hostile.{extension}"), &text);
            let usage = usage::of_command(&env, &["index", "--quiet"]);
            let within = usage.code == Some(0) && usage.memory_mib <= MAX_MIB && usage.processor <= max_time;
            Verdict::held_if(within, || {
                format!(
                    "{usage:?}, it begins with {:?}",
                    String::from_utf8_lossy(&text[..text.len().min(80)])
                )
            })
        });
    }
}

/// An agent writes such a file and ends with an open phase: gate 2 is asked.
pub(super) fn attack_gate(trial: &mut Trial<'_>) {
    let program = trial.program;
    for at in 0..trial.limit {
        let extension = *trial.numbers.choose(&SOURCE_EXTENSIONS);
        let bytes = *trial.numbers.choose(&[10_000, 100_000]);
        let (_, text) = source_file(&mut trial.numbers, extension, bytes);
        let damage = *trial.numbers.choose(&[
            "true",
            "true",
            "rm -rf .lockstep/index",
            "rm -f .lockstep/state.db*",
            "mkfifo .lockstepignore",
        ]);
        trial.case(format!("file {at} in .{extension}, then `{damage}`"), || {
            let env = with_step(program);
            let name = format!("hostile.{extension}");
            env.write(&name, "");
            env.hook(&HookEvent::session_start()).assert_success();
            let prompt = prompt(&env);
            env.hook(&invoke(&prompt)).assert_success();
            transcript(&env, "a1", &prompt, 0);
            must(&env, "step phase start 01-01 RED");
            env.write(&name, &text);
            env.shell(damage);
            let edited = env.hook(&HookEvent::edit(&name).by_agent("a1", "implementer"));
            let output = env.hook(&stop(&env, "a1", false));
            let has_held = edited.code == Some(0) && is_refused(&output);
            Verdict::held_if(has_held, || format!("{}{}", edited.snapshot(), output.snapshot()))
        });
    }
}
