//! Taking secrets out of commands and their output, by pattern, before they are recorded.

/// The replacement of a secret.
pub const REDACTED: &str = "[redacted]";

/// Parts of names whose values are secrets.
const SECRET_NAMES: [&str; 9] =
    ["token", "secret", "password", "passwd", "api_key", "apikey", "access_key", "private_key", "credential"];

/// Prefixes of recognisable secrets, with the number of characters that must follow.
const TOKEN_PREFIXES: [(&str, usize); 11] = [
    ("ghp_", 20),
    ("gho_", 20),
    ("ghs_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("sk-", 16),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("AKIA", 16),
    ("eyJhbGciOi", 10),
    ("npm_", 20),
];

/// Returns the text with its secrets replaced.
pub fn redact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut hide_next = false;
    for piece in tokens(text) {
        if piece.starts_with(char::is_whitespace) {
            if piece.contains('\n') {
                hide_next = false;
            }
            out.push_str(piece);
            continue;
        }
        let (display, next) = redact_token(piece, hide_next);
        out.push_str(&display);
        hide_next = next;
    }
    out
}

/// Words and the spaces between them, in order.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let space = rest.chars().next()?.is_whitespace();
        let end = rest.find(|c: char| c.is_whitespace() != space).unwrap_or(rest.len());
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        Some(piece)
    })
}

/// Returns one word without secrets. The boolean is true if the next word is a secret.
fn redact_token(word: &str, hide: bool) -> (String, bool) {
    let bare = word.trim_matches(['"', '\'', ',', ';']);
    let scheme = bare.eq_ignore_ascii_case("bearer") || bare.eq_ignore_ascii_case("basic");
    if scheme {
        // `Authorization: Bearer X`: the scheme is no secret, but the next word is.
        return (word.to_owned(), true);
    }
    if hide {
        return (REDACTED.to_owned(), false);
    }
    if let Some((name, value)) = word.split_once(['=', ':'])
        && names_secret(name)
    {
        let mark = word.as_bytes()[name.len()] as char;
        return if value.trim_matches(['"', '\'']).is_empty() {
            (word.to_owned(), true)
        } else {
            (format!("{name}{mark}{REDACTED}"), false)
        };
    }
    if bare.starts_with('-') && names_secret(bare) {
        return (word.to_owned(), true);
    }
    (redact_known_tokens(&redact_url_credentials(word)), false)
}

fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    SECRET_NAMES.iter().any(|secret| name.contains(secret)) || name.ends_with("authorization")
}

/// `://user:password@host`.
fn redact_url_credentials(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rsplit_once('@') {
        Some((user, host)) if user.contains(':') => {
            let name = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{name}:{REDACTED}@{host}{}", &rest[end..])
        }
        _ => word.to_owned(),
    }
}

fn redact_known_tokens(word: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    for (shape, least) in TOKEN_PREFIXES {
        if let Some(at) = word.find(shape) {
            let behind = &word[at + shape.len()..];
            let length = behind.find(|c| !is_part(c)).unwrap_or(behind.len());
            let begins = word[..at].chars().next_back().is_none_or(|c| !c.is_ascii_alphanumeric());
            if begins && length >= least {
                return format!("{}{REDACTED}{}", &word[..at], redact_known_tokens(&behind[length..]));
            }
        }
    }
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn redacts_documented_secrets() {
        for (text, expected) in [
            ("cargo test --all", "cargo test --all"),
            ("API_TOKEN=abc make test", "API_TOKEN=[redacted] make test"),
            ("curl --password hunter2 x", "curl --password [redacted] x"),
            ("curl --token=hunter2 x", "curl --token=[redacted] x"),
            ("curl -H 'Authorization: Bearer abc.def' x", "curl -H 'Authorization: Bearer [redacted] x"),
            ("git clone https://me:pw@host/x.git", "git clone https://me:[redacted]@host/x.git"),
            ("push ghp_0123456789012345678901234567", "push [redacted]"),
            ("echo task-list sk-8", "echo task-list sk-8"),
            ("password: hunter2\nnext", "password: [redacted]\nnext"),
            ("password:\nnext", "password:\nnext"),
        ] {
            assert_eq!(redact(text), expected);
        }
    }

    proptest! {
        #[test]
        fn no_secret_of_a_known_shape_survives(before in "[a-z ]{0,10}", secret in "[A-Za-z0-9]{24,40}") {
            let text = format!("{before} ghp_{secret} DB_PASSWORD={secret} --api-key {secret}");
            prop_assert!(!redact(&text).contains(&secret), "{}", redact(&text));
        }

        #[test]
        fn nothing_panics(text in ".{0,200}") {
            let _ = redact(&text);
        }
    }
}
