//! Pure functions over text that every crate may use.

mod printable;

pub use printable::{escape_unprintable, is_unprintable, printable, printable_path, push_line, single_line};
