//! Tells Lockstep's own hook commands from everyone else's.

/// Returns true if `command`, a shell command line, starts `lockstep hook CLIENT`: by name or by any path to
/// a binary of that name, with options, after assignments or other commands.
pub(crate) fn is_lockstep_hook(command: &str, client: &str) -> bool {
    lockstep_hook_args(command, client).is_some()
}

/// Returns the arguments of the first `lockstep hook CLIENT` that `command` starts. Two hooks with equal
/// arguments do the same, wherever the binary is.
pub(crate) fn lockstep_hook_args(command: &str, client: &str) -> Option<Vec<String>> {
    let words = split_words(command);
    let n = (0..words.len()).find(|&n| starts_command(&words[..n]) && calls_hook(&words[n..], client))?;
    let arguments = words[n + 1..].iter().map_while(|word| match word {
        ShellToken::Text(text) => Some(text.clone()),
        ShellToken::Operator => None,
    });
    Some(arguments.collect())
}

/// Returns the words of a command that is one program with its arguments. `None` if a shell would do more
/// than split it.
pub(crate) fn plain_words(command: &str) -> Option<Vec<String>> {
    let special = ['$', '`', '<', '>', '*', '?', '[', '~', '#', '{', '}', '!', '\n', '\\'];
    if command.contains(special) {
        return None;
    }
    let words: Option<Vec<String>> = split_words(command)
        .into_iter()
        .map(|word| match word {
            ShellToken::Text(text) => Some(text),
            ShellToken::Operator => None,
        })
        .collect();
    words.filter(|words| words.first().is_some_and(|program| !is_assignment(program)))
}

#[derive(Debug, PartialEq, Eq)]
enum ShellToken {
    Text(String),
    /// `;`, `&&`, `|`, a newline and the like: a new command begins.
    Operator,
}

/// Returns true if a word after `before` would be the name of a program.
fn starts_command(before: &[ShellToken]) -> bool {
    match before.split_last() {
        None | Some((ShellToken::Operator, _)) => true,
        Some((ShellToken::Text(word), rest)) => {
            let prefix =
                matches!(word.as_str(), "exec" | "command" | "env" | "!" | "{") || is_assignment(word);
            prefix && starts_command(rest)
        }
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Returns true if the words up to the next operator are `…/lockstep [OPTION…] hook [CLIENT] …`. Claude is
/// the default client.
fn calls_hook(words: &[ShellToken], client: &str) -> bool {
    let mut texts = words.iter().map_while(|word| match word {
        ShellToken::Text(text) => Some(text.as_str()),
        ShellToken::Operator => None,
    });
    let Some(program) = texts.next() else { return false };
    if !matches!(program.rsplit(['/', '\\']).next(), Some("lockstep" | "lockstep.exe")) {
        return false;
    }
    if !skip_to_hook(&mut texts) {
        return false;
    }
    let named = texts.find(|word| !word.starts_with('-') && !word.contains(['<', '>']));
    named.unwrap_or("claude") == client
}

/// Skips to the verb `hook`. Returns false if anything but options and their values (`-C DIR`) precedes it.
fn skip_to_hook<'a>(texts: &mut impl Iterator<Item = &'a str>) -> bool {
    let mut may_be_value = false;
    for word in texts {
        if word == "hook" {
            return true;
        }
        let is_option = word.starts_with('-');
        if !is_option && !may_be_value {
            return false;
        }
        may_be_value = is_option && !word.contains('=');
    }
    false
}

/// Splits a command line as a POSIX shell would, without expanding anything.
fn split_words(command: &str) -> Vec<ShellToken> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = command.chars();
    while let Some(c) = rest.next() {
        match c {
            '\'' => word.get_or_insert_default().extend(rest.by_ref().take_while(|c| *c != '\'')),
            '"' => double_quoted(&mut rest, word.get_or_insert_default()),
            '\\' => word.get_or_insert_default().extend(rest.next()),
            ' ' | '\t' => words.extend(word.take().map(ShellToken::Text)),
            ';' | '&' | '|' | '\n' | '(' | ')' => {
                words.extend(word.take().map(ShellToken::Text));
                words.push(ShellToken::Operator);
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word.map(ShellToken::Text));
    words
}

fn double_quoted(rest: &mut std::str::Chars<'_>, word: &mut String) {
    while let Some(c) = rest.next() {
        match c {
            '"' => return,
            '\\' => word.extend(rest.next()),
            c => word.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_in_all_forms() {
        for command in [
            "lockstep hook claude",
            "lockstep hook",
            "  lockstep   hook claude  ",
            "/usr/local/bin/lockstep hook claude",
            "\"/home/a b/lockstep\" hook claude",
            "'/home/a b/lockstep' hook claude --part 2",
            "/home/a\\ b/lockstep hook claude",
            "\"$CLAUDE_PROJECT_DIR\"/bin/lockstep hook claude",
            "${CLAUDE_PLUGIN_ROOT}/lockstep hook claude",
            "LOCKSTEP_LOG=1 lockstep hook claude",
            "exec env A=b lockstep -C /x --quiet hook claude",
            "lockstep hook --verbose claude",
            "lockstep hook claude 2>/dev/null || true",
            "cd /x && lockstep hook claude",
            "test -x lockstep && ./lockstep hook claude; exit 0",
        ] {
            assert!(is_lockstep_hook(command, "claude"), "{command}");
        }
    }

    #[test]
    fn foreign_commands_are_not_lockstep_hooks() {
        for command in [
            "",
            "lockstep",
            "lockstep doctor",
            "lockstep hook codex",
            "lockstep refs hook claude",
            "lockstep changes && hook claude",
            "echo lockstep hook claude",
            "echo 'lockstep hook claude'",
            "grep \"lockstep hook claude\" x",
            "my-lockstep hook claude",
            "lockstep.sh hook claude",
            "/opt/lockstep/run hook claude",
            "lockstepd hook claude",
        ] {
            assert!(!is_lockstep_hook(command, "claude"), "{command}");
        }
    }
}
