//! References between many files: whole small projects, asked as the product asks.

mod dangling;
mod framework;
mod hostile;
mod languages;
mod text;
