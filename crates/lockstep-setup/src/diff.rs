//! A change as people read it before it is made.

use std::path::Path;

use similar::TextDiff;

/// The unified diff from `old` to `new` for the file at `path`; empty if they are equal.
pub fn diff(path: &Path, old: &str, new: &str) -> String {
    let path = path.display();
    let relative = path.to_string();
    let relative = relative.trim_start_matches('/');
    let diff = TextDiff::from_lines(old, new);
    diff.unified_diff()
        .context_radius(3)
        .header(&format!("a/{relative}"), &format!("b/{relative}"))
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_its_surroundings() {
        let text = diff(Path::new("/home/a/.claude/settings.json"), "{\n  \"a\": 1\n}\n", "{\n  \"a\": 2\n}");
        insta::assert_snapshot!(text, @r#"
        --- a/home/a/.claude/settings.json
        +++ b/home/a/.claude/settings.json
        @@ -1,3 +1,3 @@
         {
        -  "a": 1
        -}
        +  "a": 2
        +}
        \ No newline at end of file
        "#);
    }

    #[test]
    fn equal_texts_have_no_diff() {
        assert_eq!(diff(Path::new("a"), "x\n", "x\n"), "");
    }
}
