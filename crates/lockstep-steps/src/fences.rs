//! The lines of a Markdown text, and which of them are inside a code fence.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MarkdownLine<'a> {
    /// The byte offset in the text.
    pub(crate) start: usize,
    /// The line without its end.
    pub(crate) text: &'a str,
    /// Set if the line is inside a code fence, or a fence itself.
    pub(crate) fenced: bool,
}

pub(crate) struct MarkdownLines<'a> {
    rest: &'a str,
    at: usize,
    fence: Option<(char, usize)>,
}

impl<'a> MarkdownLines<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self { rest: text, at: 0, fence: None }
    }
}

impl<'a> Iterator for MarkdownLines<'a> {
    type Item = MarkdownLine<'a>;

    fn next(&mut self) -> Option<MarkdownLine<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let start = self.at;
        let (whole, rest) = match memchr::memchr(b'\n', self.rest.as_bytes()) {
            Some(end) => self.rest.split_at(end + 1),
            None => (self.rest, ""),
        };
        (self.rest, self.at) = (rest, start + whole.len());
        let text = whole.strip_suffix('\n').unwrap_or(whole);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let fenced = match (self.fence, fence(text)) {
            (None, Some((mark, count, _))) => {
                self.fence = Some((mark, count));
                true
            }
            (Some(open), Some((mark, count, true))) if mark == open.0 && count >= open.1 => {
                self.fence = None;
                true
            }
            (fence, _) => fence.is_some(),
        };
        Some(MarkdownLine { start, text, fenced })
    }
}

/// The fence a line is: its mark, how many, and whether nothing follows, so that it can close one.
fn fence(line: &str) -> Option<(char, usize, bool)> {
    let text = line.trim_start_matches(' ');
    if line.len() - text.len() > 3 {
        return None;
    }
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let count = text.chars().take_while(|c| *c == mark).count();
    let info = &text[count..];
    (count >= 3 && !(mark == '`' && info.contains('`'))).then(|| (mark, count, info.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outside(text: &str) -> Vec<&str> {
        MarkdownLines::of(text).filter(|line| !line.fenced).map(|line| line.text).collect()
    }

    #[test]
    fn fences_close_with_their_own_mark_and_length() {
        assert_eq!(outside("a\n```rust\nb\n```\nc"), ["a", "c"]);
        assert_eq!(outside("````\n```\nb\n```\n````\nc\r\n"), ["c"]);
        assert_eq!(outside("~~~\n```\n~~~\nc"), ["c"]);
        assert_eq!(outside("```\nnever closed\n## X"), Vec::<&str>::new());
        assert_eq!(outside("``` a ` b\nc"), ["``` a ` b", "c"], "inline code is no fence");
        assert_eq!(outside("    ```\nc"), ["    ```", "c"], "an indented block is no fence");
    }
}
