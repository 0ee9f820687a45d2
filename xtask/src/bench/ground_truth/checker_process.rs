//! Checkers that stay: started once, asked about one case after the other. A case is a line of JSON, and so is an answer.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::XtaskResult;

/// Starts a checker, which first answers about the package as it is; then gives it the cases. Every answer goes to `take`.
pub(super) fn ask(
    mut command: Command,
    cases: impl Iterator<Item = Value>,
    take: &mut dyn FnMut(Value) -> XtaskResult,
) -> XtaskResult {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().ok_or("the checker has an input")?;
    let stdout = child.stdout.take().ok_or("the checker has an output")?;
    let mut answers = BufReader::new(stdout).lines();
    let mut next = || -> XtaskResult<Value> {
        let line = answers.next().ok_or("the checker ended before it answered")??;
        Ok(serde_json::from_str(&line)?)
    };
    let asked = (|| {
        take(next()?)?;
        for case in cases {
            writeln!(stdin, "{case}")?;
            take(next()?)?;
        }
        Ok(())
    })();
    drop(stdin);
    if asked.is_err() {
        // It may still be busy with requests that are no longer needed.
        child.kill()?;
    }
    child.wait()?;
    asked
}
