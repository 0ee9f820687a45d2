//! Finding the end of a quoted or nested text of a shell, without recursion.

/// The place of the next `end`, or the end of the text.
pub(super) fn until(chars: &[char], from: usize, end: char) -> usize {
    chars[from.min(chars.len())..].iter().position(|c| *c == end).map_or(chars.len(), |at| from + at)
}

/// The place of the next `end` without a backslash before it.
pub(super) fn until_unescaped(chars: &[char], from: usize, end: char) -> usize {
    let mut at = from;
    while at < chars.len() && chars[at] != end {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at.min(chars.len())
}

/// Returns the position of the `)` or `}` that closes the group opened before `from`. In double quotes, a
/// single quote inside `${…}` is a character.
pub(super) fn closing(chars: &[char], from: usize, closer: char, in_quotes: bool) -> usize {
    let mut open = vec![closer];
    let mut documents: Vec<String> = Vec::new();
    let mut at = from;
    while at < chars.len() {
        let (c, top) = (chars[at], *open.last().expect("the loop ends with the last closer"));
        let next = chars.get(at + 1).copied();
        match (top, c) {
            ('\'', '\'') => drop(open.pop()),
            ('\'', _) => {}
            (_, '\\') => at += 1,
            (top, c) if c == top || (top == ARITHMETIC && c == ')') => {
                open.pop();
                if open.is_empty() {
                    return at;
                }
            }
            (_, '$') if next == Some('(') => {
                let arithmetic = chars.get(at + 2) == Some(&'(');
                open.push(if arithmetic { ARITHMETIC } else { ')' });
                at += 1;
            }
            (_, '$') if next == Some('{') => {
                open.push('}');
                at += 1;
            }
            (_, '`') => open.push('`'),
            ('"', _) => {}
            (_, '"') => open.push('"'),
            ('}', '\'') if is_quoted(&open, in_quotes) => {}
            (_, '\'') => open.push('\''),
            (ARITHMETIC, '(') => open.push(ARITHMETIC),
            (')' | '`', '(') => open.push(')'),
            (')' | '`', '#') if at == from || chars[at - 1].is_whitespace() => {
                at = until(chars, at, '\n') - 1
            }
            (')' | '`', '<') if next == Some('<') => at = delimiter(chars, at + 2, &mut documents) - 1,
            (')' | '`', '\n') if !documents.is_empty() => at = skip_documents(chars, at, &mut documents),
            _ => {}
        }
        at += 1;
    }
    chars.len()
}

/// The closer of a parenthesis inside `$((…))`, where `<<` starts no here-document.
const ARITHMETIC: char = 'a';

fn is_quoted(open: &[char], in_quotes: bool) -> bool {
    open.iter().rev().find(|closer| **closer != '}').map_or(in_quotes, |closer| *closer == '"')
}

/// Reads the delimiter of a here-document behind `<<`; returns the place behind it.
fn delimiter(chars: &[char], from: usize, documents: &mut Vec<String>) -> usize {
    if chars.get(from) == Some(&'<') {
        return from + 1;
    }
    let rest = &chars[from.min(chars.len())..];
    let blanks = rest.iter().take_while(|c| matches!(c, '-' | ' ' | '\t')).count();
    let word: Vec<char> = rest[blanks..]
        .iter()
        .take_while(|c| !c.is_whitespace() && !";|&<>()".contains(**c))
        .copied()
        .collect();
    documents.push(word.iter().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect());
    from + blanks + word.len()
}

/// Steps over the texts of here-documents, from the end of the line that names them; returns the place of their last newline.
fn skip_documents(chars: &[char], from: usize, documents: &mut Vec<String>) -> usize {
    let mut at = from;
    for delimiter in documents.drain(..) {
        while at < chars.len() {
            let end = until(chars, at + 1, '\n');
            let line: String = chars[(at + 1).min(end)..end].iter().collect();
            at = end;
            if line.trim_start_matches('\t') == delimiter {
                break;
            }
        }
    }
    at
}
