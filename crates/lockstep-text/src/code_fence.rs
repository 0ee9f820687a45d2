//! Code fences of Markdown, long enough for their content.

/// Returns a fence that no line of the text can close, also if the text is a diff.
pub fn fence(text: &str) -> String {
    let longest = text
        .lines()
        .map(|line| {
            line.trim_start_matches([' ', '\t', '+', '-']).bytes().take_while(|byte| *byte == b'`').count()
        })
        .max()
        .unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// Returns the text in a fence, ending with a line break.
pub fn fenced(language: &str, text: &str) -> String {
    let fence = fence(text);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}\n")
}
