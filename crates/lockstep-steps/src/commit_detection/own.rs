//! Lockstep's own verbs in a shell command, as far as they can be read from its text.
//!
//! A quoted text that no shell runs is text. A script file of another command cannot be seen.

use super::expand::{Field, SUSPECT, UNKNOWN};
use super::invoke::name_of;
use super::run::Shell;

/// One invocation of Lockstep that a command shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnCall {
    /// The verb, such as `task update`.
    pub verb: String,
    /// The agent it claims to write for: the value of `--as`.
    pub writes_as: Option<String>,
    /// The words after the program's name; `None` if the shell replaces one of them.
    pub words: Option<Vec<String>>,
}

/// Options of the program that take a value as the next word.
const WITH_VALUE: &[&str] = &["-C", "--format", "--color"];

const PROGRAM: &str = "lockstep";

/// Every invocation of Lockstep that the text of a command shows.
pub fn own_calls(command: &str) -> Vec<OwnCall> {
    if !may_mention(command) {
        return Vec::new();
    }
    let shell = Shell::run(command);
    let own = shell.found.iter().filter(|invocation| name_of(&invocation.program.text) == PROGRAM);
    let mut calls: Vec<OwnCall> = Vec::new();
    for call in own.filter_map(|invocation| call(&invocation.arguments)) {
        // A call that is shown twice is one call.
        if !calls.contains(&call) {
            calls.push(call);
        }
    }
    calls
}

/// Returns true if the letters of the name occur in order and close to each other, with only quotes and
/// backslashes between them. It is a single pass over the text, so that other commands cost nothing.
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

fn call(arguments: &[Field]) -> Option<OwnCall> {
    let mut verbs = Vec::new();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next().filter(|_| verbs.len() < 2) {
        if WITH_VALUE.contains(&word.text.as_str()) {
            rest.next();
        } else if !word.text.starts_with('-') {
            verbs.push(if !word.is_known() { "$" } else { word.text.as_str() });
        }
    }
    let literal = arguments.iter().all(Field::is_known);
    Some(OwnCall {
        verb: verbs.join(" "),
        writes_as: option(arguments, "--as"),
        words: literal.then(|| arguments.iter().map(|word| word.text.clone()).collect()),
    })
    .filter(|call| !call.verb.is_empty())
}

fn option(arguments: &[Field], name: &str) -> Option<String> {
    let at = |word: &Field| {
        word.text.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    };
    let found = arguments.iter().rposition(at)?;
    let value = match arguments[found].text.split_once('=') {
        Some((_, value)) => value,
        None => arguments.get(found + 1)?.text.as_str(),
    };
    // A value that only the shell knows is shown as `$`.
    Some(value.replace([UNKNOWN, SUSPECT], "$"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn verbs(command: &str) -> Vec<String> {
        let mut verbs: Vec<String> = own_calls(command).into_iter().map(|call| call.verb).collect();
        verbs.dedup();
        verbs
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
    fn own_command_arguments_are_parsed() {
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
