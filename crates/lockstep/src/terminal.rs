//! Output for people: its streams and colours.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};

use anstyle::Style;
use clap::ValueEnum;
use lockstep_text::{escape_unprintable, printable, single_line};
use serde::Serialize;

use crate::env_vars::NO_COLOR;
use crate::output_format::OutputFormat;

/// The values of `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl ColorChoice {
    fn is_on(self) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => io::stdout().is_terminal() && NO_COLOR.get().is_none(),
        }
    }
}

/// The output settings of a command.
pub(crate) struct Terminal {
    color: bool,
    quiet: bool,
    verbose: bool,
    format: OutputFormat,
    /// True after the first output.
    is_written: Cell<bool>,
    /// The first failure to write the answer.
    failure: Cell<Option<io::Error>>,
}

impl Terminal {
    pub(crate) fn new(color: ColorChoice, quiet: bool, verbose: bool, format: OutputFormat) -> Self {
        let (is_written, failure) = (Cell::new(false), Cell::new(None));
        Self { color: color.is_on(), quiet, verbose, format, is_written, failure }
    }

    /// Returns true if details are wanted.
    pub(crate) fn verbose(&self) -> bool {
        self.verbose
    }

    /// Returns true if only the answer is wanted.
    pub(crate) fn quiet(&self) -> bool {
        self.quiet
    }

    /// Returns the number of columns, if the output goes to a terminal.
    pub(crate) fn width(&self) -> Option<usize> {
        lockstep_fs::terminal::columns()
    }

    /// Returns `text` in a style, if colour is enabled.
    pub(crate) fn styled(&self, style: Style, text: &str) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// Prints the command's answer. Characters from outside that could control the terminal are replaced.
    pub(crate) fn print(&self, text: &str) {
        let safe = match self.format {
            OutputFormat::Json | OutputFormat::Sarif => escape_unprintable(text),
            _ if self.color => Cow::Owned(printable_with_colors(text)),
            _ => printable(text),
        };
        self.write(safe.as_bytes());
    }

    /// Prints one line of the answer. Line breaks inside values are replaced. Programs get `{"message": line}`.
    pub(crate) fn say_line(&self, line: &str) {
        #[derive(Serialize)]
        struct Message<'a> {
            message: &'a str,
        }
        let data = self.format.render(&Message { message: line });
        self.print(&data.unwrap_or_else(|| single_line(line) + "\n"));
    }

    /// Prints an answer that is a document of its own. Programs get `{"content": text}`.
    pub(crate) fn print_content(&self, content: &str) {
        #[derive(Serialize)]
        struct Content<'a> {
            content: &'a str,
        }
        match self.format.render(&Content { content }) {
            Some(data) => self.print(&data),
            None => self.say_exactly(content.as_bytes()),
        }
    }

    /// Prints an answer that is content, byte for byte. On a terminal, characters that could control it are replaced.
    pub(crate) fn say_exactly(&self, bytes: &[u8]) {
        if io::stdout().is_terminal() {
            self.write(printable(&String::from_utf8_lossy(bytes)).as_bytes());
        } else {
            self.write(bytes);
        }
    }

    /// Prints an error as data, for programs. A document after a part of the answer would make both invalid.
    pub(crate) fn print_error_data(&self, error: &impl Serialize) {
        if let (false, Some(data)) = (self.is_written.get(), self.format.render(error)) {
            self.print(&data);
        }
    }

    fn write(&self, bytes: &[u8]) {
        self.is_written.set(true);
        let mut out = io::stdout().lock();
        let written = out.write_all(bytes).and_then(|()| out.flush());
        let earlier = self.failure.take();
        self.failure.set(earlier.or(written.err()));
    }

    /// Prints a sentence next to the answer. `--quiet` and formats for programs omit it, because a sentence
    /// after a JSON document would make it invalid.
    pub(crate) fn print_note(&self, text: &str) {
        if !self.quiet && self.format == OutputFormat::Text {
            self.print(text);
        }
    }

    /// Returns an error if the answer was not written. A reader that closed its pipe (`lockstep changes |
    /// head`) has what it needs.
    pub(crate) fn finish(&self) -> io::Result<()> {
        match self.failure.take() {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }
}

/// Prints an error. A failure to do so cannot be reported.
pub(crate) fn print_error(text: &str) {
    let _ = io::stderr().write_all(printable(text).as_bytes());
}

/// Replaces the current line of standard error, which is a terminal. A failure to do so cannot be reported.
pub(crate) fn replace_line(text: &str) {
    let _ = io::stderr().write_all(format!("\r{}\x1b[K", printable(text)).as_bytes());
}

/// Replaces unprintable characters, but keeps the colours of [`Terminal::styled`]. Untrusted text may have
/// such colours too; none of them hides anything.
fn printable_with_colors(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut safe = printable(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        match part.split_once('m').filter(|(codes, _)| is_plain_style(codes)) {
            Some((codes, rest)) => safe.extend(["\u{1b}[", codes, "m", &*printable(rest)]),
            None => {
                safe.extend([char::REPLACEMENT_CHARACTER.encode_utf8(&mut [0; 4]), "[", &*printable(part)])
            }
        }
    }
    safe
}

/// Returns true for the codes of a reset, bold, dimmed or coloured text.
fn is_plain_style(codes: &str) -> bool {
    codes
        .split(';')
        .all(|code| matches!(code, "0" | "1" | "2") || matches!(code.parse(), Ok(31..=37_u8 | 91..=97)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_colours_stay_and_other_sequences_do_not() {
        let bold = Style::new().bold();
        let text = format!("{bold}a{bold:#} \u{1b}[8mhidden\u{1b}[2J\u{1b}]0;title\u{7}");
        let safe = printable_with_colors(&text);
        assert!(safe.starts_with(&format!("{bold}a{bold:#} ")), "{safe:?}");
        assert_eq!(safe.matches('\u{1b}').count(), 2, "{safe:?}");
        assert!(!safe.contains('\u{7}'));
    }
}
