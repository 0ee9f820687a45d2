//! The machine of the measurement.

use std::fs;
use std::thread;

use crate::workspace;

/// A list of machine, time and commit, with the command that repeats the run.
pub(super) fn describe(command: &str) -> String {
    let cores = thread::available_parallelism().map_or(0, usize::from);
    let lines = [
        format!("machine: {}, {cores} cores, {}", field("/proc/cpuinfo", "model name"), memory()),
        format!("kernel: {}", first_line("/proc/sys/kernel/osrelease")),
        format!("load when the run ended: {}", first_line("/proc/loadavg")),
        format!("date: {}", said("date", &["-u", "+%Y-%m-%d %H:%M UTC"])),
        format!("commit: {}", commit()),
        format!("command: `{command}`"),
    ];
    lines.map(|line| format!("- {line}\n")).concat()
}

fn memory() -> String {
    let kib = field("/proc/meminfo", "MemTotal").trim_end_matches(" kB").parse::<u64>();
    kib.map_or("memory unknown".to_owned(), |kib| format!("{} GB of memory", kib.div_ceil(1 << 20)))
}

fn commit() -> String {
    let changed = if said("git", &["status", "--porcelain"]).is_empty() { "" } else { ", with changes" };
    format!("{}{changed}", said("git", &["rev-parse", "--short=12", "HEAD"]))
}

fn field(path: &str, name: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':'));
    value.map_or("unknown".to_owned(), |value| value.trim().to_owned())
}

fn first_line(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().lines().next().unwrap_or("unknown").to_owned()
}

fn said(program: &str, arguments: &[&str]) -> String {
    let mut command = workspace::command(program);
    command.args(arguments);
    let output = workspace::output(command).unwrap_or_default();
    String::from_utf8_lossy(&output).trim().to_owned()
}
