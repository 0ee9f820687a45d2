//! Things other than files, and the places in which Lockstep expects files.

use std::fs::File;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

/// A name, and the function that plants it at a path.
pub type Plant = (&'static str, fn(&Path));

pub fn make_fifo(path: &Path) {
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
}

/// Things that block a reader, never end, or are no files at all.
pub const PLANTS: [Plant; 9] = [
    ("a pipe", make_fifo),
    ("a link to a pipe", |path| {
        let pipe = path.with_file_name("the-pipe");
        make_fifo(&pipe);
        symlink(pipe, path).unwrap();
    }),
    ("an endless device", |path| symlink("/dev/zero", path).unwrap()),
    ("a socket", |path| drop(UnixListener::bind(path).unwrap())),
    ("an endless file", |path| File::create(path).unwrap().set_len(1 << 40).unwrap()),
    ("a link to itself", |path| symlink(path.file_name().unwrap(), path).unwrap()),
    ("a link to nothing", |path| symlink("/nonexistent/x", path).unwrap()),
    ("a directory", |path| std::fs::create_dir(path).unwrap()),
    ("a link to a terminal", |path| symlink("/dev/tty", path).unwrap()),
];

/// The places in a project, its state and the user's home that hooks and commands read, below the root of a test's environment.
pub const PLACES: [&str; 22] = [
    "project/.gitignore",
    "project/.lockstepignore",
    "project/sub/.gitignore",
    "project/sub/.lockstepignore",
    "project/.git/info/exclude",
    "project/.git/HEAD",
    "project/.git/index",
    "project/steps/sections.yaml",
    "project/.lockstep/steps/known",
    "project/.lockstep/index/catalogue",
    "project/.lockstep/index/accounts",
    "project/.claude/settings.json",
    "home/.gitconfig",
    "home/.config/git/ignore",
    "project/.git/config",
    "project/.git/packed-refs",
    "project/.claude/settings.local.json",
    "project/steps/step-execution-fsm.yaml",
    "project/steps/des-commands.yaml",
    "project/steps/02-01.json",
    "project/.lockstep/project",
    "home/.config/lockstep/config.toml",
];
