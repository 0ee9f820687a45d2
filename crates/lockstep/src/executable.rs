//! Programs on this machine, by the name a shell would use.

use std::env;
use std::path::PathBuf;

use lockstep_fs::is_executable;

use crate::env_vars::PATH;

/// Returns the file that a shell would start for `name`: a path as it is, a bare name through `PATH`.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| is_executable(path));
    }
    env::split_paths(&PATH.get()?).map(|dir| dir.join(name)).find(|path| is_executable(path))
}

/// Returns the name of this program for a shell command: its name if PATH finds it, otherwise its path.
pub(crate) fn self_command() -> String {
    let Ok(own) = env::current_exe().and_then(|path| path.canonicalize()) else {
        return "lockstep".to_owned();
    };
    let by_name = find("lockstep").and_then(|path| path.canonicalize().ok());
    if by_name.as_deref() == Some(&own) { "lockstep".to_owned() } else { shell_quote(&own.to_string_lossy()) }
}

pub(crate) fn shell_quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+');
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Returns the word that [`shell_quote`] quoted; `None` for a text that a shell would read as more than one plain word.
pub(crate) fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    let word = inner.map_or_else(|| text.to_owned(), |inner| inner.replace(r"'\''", "'"));
    (shell_quote(&word) == text).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        for word in ["/usr/bin/lockstep", "/a b/it's/$HOME/lockstep", "x\"y"] {
            let out = std::process::Command::new("sh")
                .args(["-c", &format!("printf %s {}", shell_quote(word))])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8(out.stdout).unwrap(), word);
            assert_eq!(unquoted(&shell_quote(word)).as_deref(), Some(word));
        }
        for text in ["a; b", "a b", "$(a)", "'a' b", "'a'b'"] {
            assert_eq!(unquoted(text), None, "{text}");
        }
    }

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        assert!(find("sh").is_some());
        assert_eq!(find("no-such-program-here"), None);
        assert_eq!(find("/etc/passwd"), None);
    }
}
