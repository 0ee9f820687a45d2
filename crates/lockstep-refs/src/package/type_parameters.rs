//! Type parameters in the headers of types, and names that have their form.

use crate::syntax::{OWN_NAME, TOKEN_END};

/// Returns the names of the type parameters in the header of a type.
pub(super) fn type_parameters(header: &str) -> Vec<&str> {
    let mut tokens = header.split(TOKEN_END).skip_while(|token| *token != OWN_NAME).skip(1);
    let mut found = Vec::new();
    if tokens.next() != Some("<") {
        return found;
    }
    let (mut depth, mut is_first) = (0_usize, true);
    for token in tokens {
        match token {
            "<" => depth += 1,
            ">" if depth == 0 => break,
            ">" => depth -= 1,
            "," if depth == 0 => is_first = true,
            "in" | "out" => {}
            _ if is_first => {
                found.push(token);
                is_first = false;
            }
            _ => {}
        }
    }
    found
}

/// Returns true if a name has the form of a type parameter.
pub(super) fn is_type_parameter(name: &str) -> bool {
    let mut letters = name.chars();
    let first = letters.next().is_some_and(char::is_uppercase);
    first
        && letters
            .next()
            .is_none_or(|second| name.starts_with('T') && second.is_uppercase() || second.is_ascii_digit())
}
