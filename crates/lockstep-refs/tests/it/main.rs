//! References between many files: complete small projects, with the product's queries.

mod dangling;
mod framework;
mod hostile;
mod languages;
mod text;
