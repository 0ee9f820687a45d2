//! Names that control a terminal, begin lines or split words.

use super::Numbers;

/// A name that clears the screen, sets a title, returns to the start of the line, and reverses the following
/// text.
pub const HOSTILE_NAME: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\r\u{9b}8m\u{202e}\u{2066}x";

const PARTS: [&str; 24] = [
    "\u{1b}[2J",
    "\u{1b}]0;owned\u{7}",
    "\u{1b}]8;;http:x\u{1b}\\",
    "\r",
    "\u{8}",
    "\u{9b}8m",
    "\u{202e}",
    "\u{2066}",
    "\u{200f}",
    "\u{061c}",
    "\u{7f}",
    "\u{85}",
    "\nFORGED: all is well",
    "\n",
    "\t",
    " ",
    "'",
    "\"",
    "$(touch owned)",
    "\u{1b}P1;1|x\u{1b}\\",
    "\u{e0049}\u{e0067}",
    "\u{2028}FORGED: all is well",
    "\u{206a}",
    "\r\nFORGED: all is well",
];

/// Returns a name of letters and hostile parts, without `/`.
pub fn hostile_name(numbers: &mut Numbers) -> String {
    let mut name = String::from("n");
    for _ in 0..1 + numbers.below(4) {
        name.push_str(PARTS[numbers.below(PARTS.len())]);
        name.push(char::from(b'a' + u8::try_from(numbers.below(26)).unwrap()));
    }
    name.replace('/', "_")
}

/// Returns true if a character controls a terminal or the direction of text, or is text that only models read.
pub fn controls_terminal(c: char) -> bool {
    let directs =
        matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}');
    let hides = matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    c.is_control() && !matches!(c, '\n' | '\t') || directs || hides
}
