//! Memory and processor time of one program. It runs below a process of its own, whose only child it is.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lockstep_testkit::TestEnv;
use nix::sys::resource::{UsageWho, getrusage};

use crate::XtaskResult;

/// Resources of a finished program, and its end.
#[derive(Debug)]
pub(super) struct Usage {
    pub(super) memory_mib: u64,
    pub(super) processor: Duration,
    /// The exit code; `None` for a signal.
    pub(super) code: Option<i32>,
}

/// Runs the words as a program and prints what it used.
pub(super) fn measure(words: &[String]) -> XtaskResult {
    let (program, arguments) = words.split_first().ok_or("name the program to run")?;
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = |time: nix::sys::time::TimeVal| time.tv_sec() * 1_000_000 + time.tv_usec();
    let code = status.code().map_or("signal".to_owned(), |code| code.to_string());
    println!("{} {} {code}", usage.max_rss(), micros(usage.user_time()) + micros(usage.system_time()));
    Ok(())
}

/// Runs `lockstep ARGS` in the project and measures it.
pub(super) fn of_command(env: &TestEnv, args: &[&str]) -> Usage {
    let inner = env.command(args);
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.args(["chaos", "--measure"]).arg(inner.get_program()).args(args);
    command.env_clear().envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.current_dir(env.project()).output().expect("this program can be started");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words: Vec<&str> = text.split_whitespace().collect();
    let [memory, micros, code] = words[..] else { panic!("no measurement: {text}") };
    Usage {
        memory_mib: memory.parse::<u64>().expect("a number") / 1024,
        processor: Duration::from_micros(micros.parse().expect("a number")),
        code: code.parse().ok(),
    }
}

/// Runs a program to its end. Returns false if it takes longer than only a process that hangs.
pub(super) fn ends(mut command: Command, stdin: &[u8]) -> Result<(), String> {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    if let Some(mut pipe) = child.stdin.take() {
        let _ = std::io::Write::write_all(&mut pipe, stdin);
    }
    let started = Instant::now();
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.code().is_some_and(|code| code < 100) => return Ok(()),
            Some(status) => return Err(format!("it ended with {status}")),
            None if started.elapsed() > Duration::from_secs(60) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err("it hangs".to_owned());
            }
            None => std::thread::sleep(Duration::from_millis(3)),
        }
    }
}
