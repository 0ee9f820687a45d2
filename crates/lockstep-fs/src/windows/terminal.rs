//! The terminal of this process.

/// Returns the number of columns, if standard output is a terminal.
pub fn columns() -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(std::io::stdout())?;
    Some(usize::from(width.0)).filter(|columns| *columns > 0)
}
