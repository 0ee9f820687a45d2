//! `--format gcc`: one line for each finding, in the form of a compiler's errors, which editors parse.

use std::path::{Path, PathBuf};

use lockstep_text::push_line;

use super::Findings;

/// Renders `file:line:column: severity: message`. Paths are relative to `directory`, where the editor runs the command.
pub(crate) fn render(findings: &Findings<'_>, directory: &Path) -> String {
    let mut out = String::new();
    for finding in &findings.list {
        let path = relative_to(directory, &Path::new(findings.root).join(finding.path));
        let (line, column, level) = (finding.line, finding.column, finding.rule.level().as_str());
        push_line(&mut out, format_args!("{}:{line}:{column}: {level}: {}", path.display(), finding.message));
    }
    if !findings.is_complete {
        out.push_str("lockstep: warning: the time limit was reached; findings may be missing\n");
    }
    out
}

fn relative_to(directory: &Path, path: &Path) -> PathBuf {
    let common = directory.components().zip(path.components()).take_while(|(a, b)| a == b).count();
    let up = directory.components().skip(common).map(|_| Path::new(".."));
    up.chain(path.components().skip(common).map(|part| Path::new(part.as_os_str()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_relative_to_the_directory_of_the_command() {
        let relative =
            |from: &str, to: &str| relative_to(Path::new(from), Path::new(to)).display().to_string();
        assert_eq!(relative("/r", "/r/a/b.py"), "a/b.py");
        assert_eq!(relative("/r/docs/x", "/r/a/b.py"), "../../a/b.py");
        assert_eq!(relative("/r/a", "/r/a/b.py"), "b.py");
    }
}
