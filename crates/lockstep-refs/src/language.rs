//! The languages: which file is read by which rules, and what each set of rules can do.
//!
//! One module per language or family. To add one: a variant of [`Language`], its extensions in [`Language::of`], a module
//! that implements [`Rules`], a line in [`rules`].

        Language::Python => &python::Python,
