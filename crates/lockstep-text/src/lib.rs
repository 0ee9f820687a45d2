//! Pure functions over text that every crate may use.

pub mod bytes;
mod code_fence;
mod count;
mod decoding;
pub mod glob;
mod paths;
mod printable;
#[cfg(feature = "yaml")]
pub mod yaml;

pub use code_fence::{fence, fenced};
pub use count::{count, count_of, error_chain};
pub use decoding::{decode, decode_lossy};
pub use paths::{path_in_bytes, path_of_bytes, path_text};
pub use printable::{
    escape_unprintable, is_unprintable, printable, printable_path, push_line, single_line, yaml_quoted,
};
