//! Pure functions over text that every crate may use.

mod paths;
mod printable;

pub use paths::{path_in_bytes, path_of_bytes};
pub use printable::{escape_unprintable, is_unprintable, printable, printable_path, push_line, single_line};
