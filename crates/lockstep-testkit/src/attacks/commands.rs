//! Spellings of a shell command that a search for its words does not find.

use serde_json::json;

use super::Numbers;

/// Returns a command that runs `git commit`, in up to three layers of disguise.
pub fn commit_command(numbers: &mut Numbers) -> String {
    let plain =
        simple_command(numbers, "git", "commit", &["-m x", "-n -m x", "--amend --no-edit", "-am 'a b'", ""]);
    wrapped(numbers, plain)
}

/// Returns a command in the same disguises that commits nothing.
pub fn harmless_command(numbers: &mut Numbers) -> String {
    let plain = *numbers.choose(&["git status", "git log --oneline", "git diff HEAD", "ls -l", "git add -A"]);
    wrapped(numbers, plain.to_owned())
}

/// Returns a command by which an agent writes the task, in the same disguises.
pub fn task_command(numbers: &mut Numbers) -> String {
    let verb = *numbers.choose(&[
        "update more.yaml --base 1",
        "new --title other --intent x",
        "reopen --why x",
        "restore 1",
    ]);
    let plain = simple_command(numbers, "lockstep", "task", &[verb]);
    wrapped(numbers, plain)
}

fn simple_command(numbers: &mut Numbers, program: &str, verb: &str, rest: &[&str]) -> String {
    let (before, name) = match numbers.below(10) {
        0 => (format!("p={program}; "), "$p".to_owned()),
        1 => (format!("p={}; q={}; ", &program[..2], &program[2..]), "$p$q".to_owned()),
        2 => (String::new(), format!("$(echo {program})")),
        3 => (String::new(), format!("${{NONE:-{program}}}")),
        4 => (String::new(), format!("/usr/bin/{program}")),
        5 => (String::new(), format!("command {program}")),
        _ => (String::new(), disguised(numbers, program)),
    };
    let (between, verb) = match numbers.below(8) {
        0 => (format!("v={verb}; "), "$v".to_owned()),
        1 => (String::new(), format!("$(printf %s {verb})")),
        2 => (String::new(), format!("\"$(echo {verb})\"")),
        3 => (String::new(), format!("`echo {verb}`")),
        _ => (String::new(), disguised(numbers, verb)),
    };
    let option = match (program, numbers.below(8)) {
        ("git", 0) => " -C .",
        ("git", 1) => " -c user.name=x",
        ("git", 2) => " --no-pager",
        ("lockstep", 0) => " -C .",
        (_, 3) => " \\\n ",
        _ => "",
    };
    let assignment = if numbers.one_in(6) { "X=1 " } else { "" };
    format!("{before}{between}{assignment}{name}{option} {verb} {}", numbers.choose(rest))
}

/// Quotes and escapes inside of one word.
fn disguised(numbers: &mut Numbers, word: &str) -> String {
    let at = 1 + numbers.below(word.len() - 1);
    let (head, tail) = word.split_at(at);
    let code = word.as_bytes()[0];
    match numbers.below(9) {
        0 => format!("{head}''{tail}"),
        1 => format!("\"{head}\"{tail}"),
        2 => format!("'{word}'"),
        3 => format!("{head}\\{tail}"),
        4 => format!("$'\\x{code:02x}{}'", &word[1..]),
        5 => format!("$'\\{code:03o}{}'", &word[1..]),
        6 => format!("{head}$NONE\"\"{tail}").replace("$NONE", ""),
        _ => word.to_owned(),
    }
}

/// Wraps a command in up to two layers.
fn wrapped(numbers: &mut Numbers, command: String) -> String {
    (0..numbers.below(3)).fold(command, |command, _| wrap(numbers, &command))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn wrap(numbers: &mut Numbers, command: &str) -> String {
    let (quoted, literal) = (quoted(command), json!(command).to_string());
    let code = |program: &str, code: String| format!("{program} {}", self::quoted(&code));
    let is_line = !command.contains('\n');
    match numbers.below(46) {
        0 => format!("sh -c {quoted}"),
        1 => format!("bash -lc {quoted}"),
        2 => format!("eval {quoted}"),
        3 => format!("env X=1 sh -c {quoted}"),
        4 => format!("bash <<< {quoted}"),
        5 => format!("sh <<'EOF'\n{command}\nEOF"),
        6 => format!("f() {{ {command}\n}}; f"),
        7 => format!("({command})"),
        8 => format!("if true; then {command}\nfi"),
        9 => format!("for i in 1; do {command}\ndone"),
        10 => format!("echo \"$({command})\""),
        11 => code("python3 -c", format!("import os; os.system({literal})")),
        12 => code("python3 -c", format!("import subprocess; subprocess.run({literal}, shell=True)")),
        13 => code("node -e", format!("require('child_process').execSync({literal})")),
        14 => code("ruby -e", format!("system({})", literal.replace('#', "\\#"))),
        15 => format!("echo {} | base64 -d | sh", base64(command.as_bytes())),
        16 => format!("timeout 5 sh -c {quoted}"),
        17 => format!("nohup bash -c {quoted} &"),
        18 => format!("printf '%s\\n' {quoted} | sh"),
        19 => format!("echo {quoted} | bash -s"),
        20 => format!("x={quoted}; eval \"$x\""),
        21 => format!("x={quoted}; sh -c \"$x\""),
        22 => format!("trap {quoted} EXIT"),
        23 => format!("true && {{ {command}\n}}"),
        24 => format!("cd . ; {command}"),
        25 => format!("find . -maxdepth 0 -exec sh -c {quoted} \\;"),
        26 if is_line => format!("echo x | xargs -I{{}} sh -c {quoted}"),
        27 => format!("git -c alias.zz={} zz", self::quoted(&format!("!{command}"))),
        28 => format!("cat <({command})"),
        29 => format!("while true; do {command}\nbreak; done"),
        30 => format!("setsid nice -n 5 sh -c {quoted}"),
        31 => format!("exec bash -c {quoted}"),
        32 => format!("bash -c \"$(echo {} | base64 --decode)\"", base64(command.as_bytes())),
        33 => format!("a=(); a+=(bash); a+=(-c); a+=({quoted}); \"${{a[@]}}\""),
        34 => format!("Z={quoted} awk 'BEGIN{{system(ENVIRON[\"Z\"])}}'"),
        35 => format!("printf %s {quoted} | xargs -0 -I{{}} bash -c {{}}"),
        36 => format!("case x in x) {command}\n;; esac"),
        37 => format!("declare -A m=([k]={quoted}); eval \"${{m[k]}}\""),
        38 if is_line => format!("mapfile -t l <<< {quoted}; eval \"${{l[0]}}\""),
        39 => format!("perl -e 'system($ARGV[0])' {quoted}"),
        40 => format!("python3 -c 'import os,sys;os.system(sys.argv[1])' {quoted}"),
        41 => format!("node -e 'require(\"child_process\").execSync(process.argv[1])' {quoted}"),
        42 => format!("X={quoted} bash -c 'eval \"$X\"'"),
        43 => format!("m[3]={quoted}; sh -c \"${{m[3]}}\""),
        44 => format!("printf -v x %s {quoted}; bash -c \"$x\""),
        _ => format!("time {{ {command}\n}}"),
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().enumerate().fold(0u32, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at)) as usize & 63];
            text.push(if at <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn base64_is_padded() {
        for (text, expected) in [("a", "YQ=="), ("ab", "YWI="), ("git", "Z2l0"), ("", "")] {
            assert_eq!(base64(text.as_bytes()), expected);
        }
    }

    /// An attack that a shell does not carry out would show nothing.
    #[test]
    fn generated_commands_run_the_program() {
        let dir = tempfile::tempdir().unwrap();
        let git = dir.path().join("git");
        crate::write_script(
            &git,
            "#!/bin/sh\nfor word; do\n  case $word in\n    commit) touch \"$HOME/ran\" ;;\n    alias.zz=!*) sh -c \"${word#alias.zz=!}\" ;;\n  esac\ndone\n",
        );
        // The commands are written for bash, as those of a client are; `sh` need not know its syntax.
        let bash = Command::new("which").arg("bash").output().unwrap().stdout;
        let bash = String::from_utf8(bash).unwrap();
        std::os::unix::fs::symlink(bash.trim(), dir.path().join("sh")).unwrap();
        let system_shell_is_bash =
            Command::new("/bin/sh").args(["-c", "[ \"$BASH_VERSION\" ]"]).status().unwrap().success();
        let runs = |command: &str| {
            let marker = dir.path().join("ran");
            let _ = std::fs::remove_file(&marker);
            // A login shell reads the profile of this machine, which sets another PATH.
            let text = command.replace("/usr/bin/git", "git").replace(" -lc ", " -c ");
            let path = format!("{}:/usr/local/bin:/usr/bin:/bin", dir.path().display());
            let mut shell = Command::new("bash");
            shell.args(["-c", &text]).env_clear().env("PATH", path).env("HOME", dir.path());
            let _ = shell.current_dir(dir.path()).output().unwrap();
            marker.exists()
        };
        let needs = |command: &str, tool: &str| {
            command.contains(tool)
                && Command::new("which").arg(tool).output().is_ok_and(|found| !found.status.success())
        };
        let mut failed = Vec::new();
        for seed in 0..120 {
            let command = commit_command(&mut Numbers::new(seed));
            // Encoded commands name absolute paths that cannot be replaced; background jobs end later.
            // Interpreters start `/bin/sh`, which cannot be replaced either.
            let has = |parts: &[&str]| parts.iter().any(|part| command.contains(part));
            let is_of_bash =
                has(&["43ommit", "63ommit", "<<<", "time {", "=(", "<(", "m[3]", "mapfile", "-v x", "$'"])
                    && has(&["awk", "node", "perl", "python3", "ruby"])
                    && !system_shell_is_bash;
            let is_certain = !has(&["base64", "<("])
                && !is_of_bash
                && !command.contains('&')
                && !["node", "ruby", "python3"].iter().any(|tool| needs(&command, tool));
            if is_certain && !runs(&command) {
                failed.push(format!("seed {seed}: {command}"));
            }
        }
        assert!(failed.is_empty(), "{}", failed.join("\n"));
    }
}
