//! What people see: where text goes, and whether it has colour.

use std::cell::Cell;
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
pub(crate) struct Terminal {
    color: bool,
    quiet: bool,
    verbose: bool,
    /// The first failure to write the answer.
    failure: Cell<Option<io::Error>>,
}

impl Terminal {
    pub(crate) fn new(color: ColorChoice, quiet: bool, verbose: bool) -> Self {
        Self { color: color.is_on(), quiet, verbose, failure: Cell::new(None) }
    }

    /// Whether details are wanted.
    pub(crate) fn verbose(&self) -> bool {
        self.verbose
    }

    /// Whether only the answer is wanted.
    pub(crate) fn quiet(&self) -> bool {
        self.quiet
    }

    /// The number of columns, where the output goes to a terminal.
    pub(crate) fn width(&self) -> Option<usize> {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
    }

    /// `text` in a style, where there is colour.
    pub(crate) fn styled(&self, style: Style, text: &str) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// The command's answer.
    pub(crate) fn say(&self, text: &str) {
        self.say_bytes(text.as_bytes());
    }

    /// The command's answer where it need not be UTF-8: paths as they are.
    pub(crate) fn say_bytes(&self, bytes: &[u8]) {
        let mut out = io::stdout().lock();
        let written = out.write_all(bytes).and_then(|()| out.flush());
        let earlier = self.failure.take();
        self.failure.set(earlier.or(written.err()));
    }

    /// What goes with the answer, left out by `--quiet`.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.say(text);
        }
    }

    /// Whether the answer has arrived. A reader that went away (`lockstep changes | head`) has what it wanted.
    pub(crate) fn finish(&self) -> io::Result<()> {
        match self.failure.take() {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }
}

/// What went wrong, for people. A failure to write it has nobody to be told to.
pub(crate) fn complain(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
