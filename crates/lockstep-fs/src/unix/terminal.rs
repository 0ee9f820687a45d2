//! The terminal of this process.

use std::io;

/// Returns the number of columns, if standard output is a terminal.
pub fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}
