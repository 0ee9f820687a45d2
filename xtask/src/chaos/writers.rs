//! Another process changes the settings while `init` does.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use lockstep_testkit::TestEnv;
use serde_json::{Value, json};

use super::scene::{must_git, run};
use super::trial::{Trial, Verdict};

/// The ways in which programs write their settings.
#[derive(Debug, Clone, Copy)]
enum Writer {
    /// A temporary file that is renamed.
    Rename,
    /// Truncated and written again, under the same name.
    InPlace,
}

/// Adds a key to the settings, as another program does; returns false if the file is being written.
fn add(path: &Path, key: &str, writer: Writer) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    let Ok(mut value) = serde_json::from_str::<Value>(&text) else { return false };
    value[key] = json!(true);
    match writer {
        Writer::Rename => {
            let temporary = path.with_extension("other");
            fs::write(&temporary, value.to_string()).and_then(|()| fs::rename(&temporary, path)).is_ok()
        }
        Writer::InPlace => fs::write(path, value.to_string()).is_ok(),
    }
}

/// A change that was made and is later found missing was lost by `init`, unless the other program itself wrote over it: it is the only
/// other writer, and reads before it writes.
pub(super) fn attack(trial: &mut Trial<'_>) {
    let program = trial.program;
    for at in 0..trial.limit {
        let writer = if trial.numbers.one_in(2) { Writer::Rename } else { Writer::InPlace };
        let pause = 5 + trial.numbers.below(40) as u64;
        let client = *trial.numbers.choose(&[
            "init --client claude --quiet",
            "init --client claude --quiet --git-hook",
            "init --plugin --quiet",
        ]);
        trial.case(format!("{writer:?} writer {at}, every {pause} ms, `{client}`"), || {
            let env = TestEnv::inactive(program);
            must_git(&env, "git init -q");
            let path = env.write(".claude/settings.json", "{}\n");
            let is_over = AtomicBool::new(false);
            let (answer, written) = std::thread::scope(|scope| {
                let other = scope.spawn(|| {
                    let mut written = Vec::new();
                    while !is_over.load(Ordering::SeqCst) {
                        let key = format!("k{}", written.len());
                        if add(&path, &key, writer) {
                            written.push(key);
                        }
                        std::thread::sleep(std::time::Duration::from_millis(pause));
                    }
                    written
                });
                let answer = run(&env, client);
                is_over.store(true, Ordering::SeqCst);
                (answer, other.join().expect("the writer"))
            });
            let text = fs::read_to_string(&path).unwrap_or_default();
            let value: Value = serde_json::from_str(&text).unwrap_or_default();
            let lost: Vec<&String> =
                written.iter().filter(|key| value[key.as_str()] != json!(true)).collect();
            // Against a program that never pauses, `init` gives up with the reason.
            let ends =
                answer.code == Some(0) || answer.snapshot().contains("changes the settings all the time");
            let has_held = ends && !written.is_empty() && lost.is_empty();
            Verdict::held_if(has_held, || {
                format!("lost {lost:?} of {}: {}", written.len(), answer.snapshot())
            })
        });
    }
}
