//! What people see: where text goes, and whether it has colour.

use std::io::{self, ErrorKind, IsTerminal as _, Write as _};

use anstyle::Style;
use clap::ValueEnum;

use crate::env_vars::NO_COLOR;

/// `--color`.
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

/// How a command speaks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    color: bool,
    quiet: bool,
    verbose: bool,
}

impl Terminal {
    pub(crate) fn new(color: ColorChoice, quiet: bool, verbose: bool) -> Self {
        Self { color: color.is_on(), quiet, verbose }
    }

    /// Whether details are wanted.
    pub(crate) fn verbose(&self) -> bool {
        self.verbose
    }

    /// `text` in a style, where there is colour.
    pub(crate) fn styled(&self, style: Style, text: &str) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// The command's answer.
    pub(crate) fn say(&self, text: &str) {
        write(&mut io::stdout().lock(), text);
    }

    /// What goes with the answer, left out by `--quiet`.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.say(text);
        }
    }
}

/// What went wrong, for people.
pub(crate) fn complain(text: &str) {
    write(&mut io::stderr().lock(), text);
}

/// A reader that went away (`lockstep changes | head`) has what it wanted; any other failure to write has nobody to be
/// told to.
fn write(out: &mut impl io::Write, text: &str) {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let _ = writeln!(io::stderr(), "error: cannot write the output: {error}");
        }
        _ => {}
    }
}
