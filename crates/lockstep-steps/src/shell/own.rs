//! Lockstep's own verbs in a shell command, as far as they can be read from its text.
//!
//! Commands are looked at where a shell would run them: after separators, assignments, reserved words and programs that run others, in
//! the argument of `sh -c` and `eval`, in substitutions, and in texts that are piped to a shell. A quoted text that no shell runs
//! is text. A script file, an alias or the value of a variable cannot be seen.

use super::syntax::{Script, Simple, Word, parse};

/// One invocation of Lockstep that a command shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnCall {
    /// The verb, such as `task update`.
    pub verb: String,
    /// The agent it claims to write for: the value of `--as`.
    pub writes_as: Option<String>,
    /// The words after the program's name; `None` where the shell puts something else in the place of one.
    pub words: Option<Vec<String>>,
}

/// The programs that run the command in their arguments. Their options are skipped by looking for a program that is known.
const RUNNERS: &[&str] = &[
    "builtin",
    "chroot",
    "chrt",
    "command",
    "doas",
    "env",
    "exec",
    "find",
    "flock",
    "fd",
    "ionice",
    "nice",
    "nohup",
    "nsenter",
    "parallel",
    "runuser",
    "script",
    "setarch",
    "setsid",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "unbuffer",
    "unshare",
    "watch",
    "xargs",
    "busybox",
    "entr",
    "direnv",
    "nix-shell",
    "mise",
];

const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "mksh", "yash"];

/// Words of the shell's grammar that a command follows.
const RESERVED: &[&str] =
    &["if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "time", "coproc"];

/// Options of the program that take the next word.
const WITH_VALUE: &[&str] = &["-C", "--format", "--color"];

/// The name of the program.
const PROGRAM: &str = "lockstep";

/// How deep commands within commands are looked at.
const DEPTH: usize = 6;

/// Every invocation of Lockstep that the text of a command shows.
pub fn own_calls(command: &str) -> Vec<OwnCall> {
    let mut calls = Vec::new();
    if may_mention(command) {
        collect(command, DEPTH, &mut calls);
    }
    calls
}

/// Whether the letters of the name are there, in order and close to each other: quotes and backslashes may stand between them. One pass over
/// the text, so that other commands cost nothing.
fn may_mention(command: &str) -> bool {
    let mut left = PROGRAM.bytes();
    let mut wanted = left.next();
    for byte in command.bytes().filter(|byte| !matches!(byte, b'\'' | b'"' | b'\\' | b'\n')) {
        if Some(byte) == wanted {
            wanted = left.next();
            if wanted.is_none() {
                return true;
            }
        } else {
            left = PROGRAM.bytes();
            wanted = left.next();
            if Some(byte) == wanted {
                wanted = left.next();
            }
        }
    }
    false
}

fn collect(text: &str, depth: usize, calls: &mut Vec<OwnCall>) {
    if depth == 0 {
        return;
    }
    let script = parse(text);
    for command in &script.commands {
        run(&command.words, depth, calls);
    }
    for inner in &script.substitutions {
        collect(inner, depth - 1, calls);
    }
    if script.commands.iter().any(|command| reads_commands(&command.words)) {
        // A shell runs what it is given on standard input: a here-document, or what another command prints.
        script.documents.iter().for_each(|document| collect(document, depth - 1, calls));
        printed(&script).for_each(|text| collect(&text, depth - 1, calls));
    }
}

/// The texts that the commands of a line print.
fn printed(script: &Script) -> impl Iterator<Item = String> {
    let prints = |command: &&Simple| {
        command.words.first().is_some_and(|word| matches!(name_of(&word.text), "echo" | "printf" | "print"))
    };
    let text = |command: &Simple| {
        let words: Vec<_> = command.words.iter().skip(1).map(|word| word.text.replace("\\n", "\n")).collect();
        words.join(" ")
    };
    script.commands.iter().filter(prints).map(text)
}

/// Looks at a simple command: which program it runs, and whether that program runs another.
fn run(words: &[Word], depth: usize, calls: &mut Vec<OwnCall>) {
    if depth == 0 {
        return;
    }
    let is_prefix = |word: &Word| is_assignment(&word.text) || RESERVED.contains(&word.text.as_str());
    let start = words.iter().take_while(|word| is_prefix(word)).count();
    let Some((program, arguments)) = words[start..].split_first() else { return };
    match name_of(&program.text) {
        _ if program.expands => {}
        PROGRAM => calls.extend(call(arguments)),
        "eval" | "trap" => {
            let texts: Vec<_> = arguments.iter().map(|word| word.text.as_str()).collect();
            collect(&texts.join(" "), depth - 1, calls);
        }
        name if SHELLS.contains(&name) => {
            let commands = arguments.iter().filter(|word| word.text.contains(char::is_whitespace));
            commands.for_each(|word| collect(&word.text, depth - 1, calls));
        }
        name if RUNNERS.contains(&name) => run_by_another(arguments, depth, calls),
        _ => {}
    }
}

/// The arguments of a program that runs another: from the first word on that names a known program, and every text that may be a command.
fn run_by_another(words: &[Word], depth: usize, calls: &mut Vec<OwnCall>) {
    let known = |word: &Word| {
        let name = name_of(&word.text);
        name == PROGRAM || name == "eval" || SHELLS.contains(&name) || RUNNERS.contains(&name)
    };
    if let Some(at) = words.iter().position(known) {
        run(&words[at..], depth - 1, calls);
    } else {
        let texts = words.iter().filter(|word| word.text.contains(char::is_whitespace));
        texts.for_each(|word| collect(&word.text, depth - 1, calls));
    }
}

/// Whether a simple command is a shell that reads its commands from standard input.
fn reads_commands(words: &[Word]) -> bool {
    let shell = words.iter().position(|word| SHELLS.contains(&name_of(&word.text)));
    let is_program = |at: usize| {
        words[..at].iter().all(|word| {
            is_assignment(&word.text)
                || RESERVED.contains(&word.text.as_str())
                || RUNNERS.contains(&name_of(&word.text))
                || word.text.starts_with('-')
        })
    };
    shell.is_some_and(|at| {
        let operand = words[at + 1..].iter().find(|word| !word.text.starts_with('-'));
        is_program(at) && operand.is_none_or(|word| word.text == "/dev/stdin")
    })
}

fn call(arguments: &[Word]) -> Option<OwnCall> {
    let mut verbs = Vec::new();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next().filter(|_| verbs.len() < 2) {
        if WITH_VALUE.contains(&word.text.as_str()) {
            rest.next();
        } else if !word.text.starts_with('-') {
            verbs.push(if word.expands { "$" } else { word.text.as_str() });
        }
    }
    let literal = !arguments.iter().any(|word| word.expands);
    Some(OwnCall {
        verb: verbs.join(" "),
        writes_as: option(arguments, "--as"),
        words: literal.then(|| arguments.iter().map(|word| word.text.clone()).collect()),
    })
    .filter(|call| !call.verb.is_empty())
}

fn option(arguments: &[Word], name: &str) -> Option<String> {
    let at = |word: &Word| {
        word.text.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    };
    let found = arguments.iter().rposition(at)?;
    match arguments[found].text.split_once('=') {
        Some((_, value)) => Some(value.to_owned()),
        None => arguments.get(found + 1).map(|word| word.text.clone()),
    }
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.trim_end_matches('+').chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn name_of(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn verbs(command: &str) -> Vec<String> {
        own_calls(command).into_iter().map(|call| call.verb).collect()
    }

    #[test]
    fn calls_are_found_however_they_are_written() {
        for command in [
            "lockstep task update t.yaml --base 1",
            "/usr/local/bin/lockstep task update t.yaml",
            "./target/debug/lockstep task update t.yaml",
            "\"/a b/lockstep\" task update t.yaml",
            "lock'step' ta\"sk\" update x",
            "l\\ockstep task update x",
            "lockstep -C sub --format json task update x",
            "lockstep --format=json task --quiet update x",
            "cd x && lockstep task update x",
            "true; lockstep task update x",
            "cat t.yaml | lockstep task update - --base 1",
            "A=1 B='x y' lockstep task update x",
            "env -u CLAUDECODE A=1 lockstep task update x",
            "env -i /opt/lockstep task update x",
            "sh -c 'lockstep task update x'",
            "bash -lc \"cd a && lockstep task update 'x y'\"",
            "bash -c \"sh -c 'lockstep task update x'\"",
            "echo $(lockstep task update x)",
            "echo \"done: $(lockstep task update x)\"",
            "echo `lockstep task update x`",
            "ls *.yaml | xargs -n1 lockstep task update --base 1",
            "ls | xargs -I{} sh -c 'lockstep task update {}'",
            "find . -name t.yaml -exec lockstep task update {} \\;",
            "timeout 10 lockstep task update x",
            "nohup lockstep task update x &",
            "sudo -u me lockstep task update x",
            "(lockstep task update x)",
            "{ lockstep task update x; }",
            "if true; then lockstep task update x; fi",
            "for f in a b; do lockstep task update $f; done",
            "f() { lockstep task update x; }; f",
            "! lockstep task update x",
            "lockstep \\\n  task \\\n  update x",
            "eval lockstep task update x",
            "eval 'lockstep task update x'",
            "bash <<EOF\nlockstep task update x\nEOF",
            "bash -s <<-'EOF'\n\tlockstep task update x\n\tEOF",
            "echo 'lockstep task update x' | sh",
            "printf 'a\\nlockstep task update x\\n' | bash -",
            "sh <<< 'lockstep task update x'",
            "diff <(lockstep task update x) y",
            "lockstep task update x > out.txt 2>&1",
            "2>/dev/null lockstep task update x",
            "exec lockstep task update x",
        ] {
            assert_eq!(verbs(command), ["task update"], "{command}");
        }
    }

    #[test]
    fn text_about_a_call_is_no_call() {
        for command in [
            "echo lockstep task update",
            "grep -rn 'lockstep task update' docs",
            "rg \"lockstep task update\" .",
            "git commit -m 'lockstep task update is refused'",
            "cat > guide.md <<EOF\nRun:\nlockstep task update x\nEOF",
            "cat <<'EOF' > a.sh && chmod +x a.sh\nlockstep task update x\nEOF",
            "ls # lockstep task update x",
            "sh update.sh",
            "$LOCKSTEP task update x",
            "cargo test",
            "python3 -c 'print(\"lockstep task update\")'",
        ] {
            assert_eq!(verbs(command), [""; 0], "{command}");
        }
    }

    #[test]
    fn what_a_call_says_of_itself_is_read() {
        let calls =
            own_calls("lockstep task update t.yaml --base 1 --as lead; lockstep task new --as=pt-manager");
        assert_eq!(calls[0].writes_as.as_deref(), Some("lead"));
        assert_eq!(calls[0].words.as_ref().unwrap().len(), 7);
        assert_eq!((calls[1].verb.as_str(), calls[1].writes_as.as_deref()), ("task new", Some("pt-manager")));
        let expands = own_calls("lockstep task update $F --base 1; lockstep $V update x");
        assert_eq!((expands[0].verb.as_str(), &expands[0].words), ("task update", &None));
        assert_eq!(expands[1].verb, "$ update");
        assert_eq!(
            verbs("lockstep task show && lockstep phase complete P1 --l2 x"),
            ["task show", "phase complete"]
        );
        assert_eq!(verbs("echo '{}' | lockstep mcp"), ["mcp"]);
    }

    #[test]
    fn commands_within_commands_end_somewhere() {
        let many = "env ".repeat(50) + "sh -c 'lockstep task update x'";
        assert!(own_calls(&many).is_empty());
    }

    proptest! {
        #[test]
        fn nothing_panics(command in "(?s).{0,120}") {
            let _ = own_calls(&format!("lockstep {command}"));
        }
    }
}
