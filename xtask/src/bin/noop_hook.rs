//! The least a hook can cost: a process that reads its standard input to the end and exits. The benchmarks' yardstick.

use std::io::{self, Read as _};

fn main() -> io::Result<()> {
    let mut event = Vec::new();
    io::stdin().lock().read_to_end(&mut event)?;
    std::hint::black_box(&event);
    Ok(())
}
