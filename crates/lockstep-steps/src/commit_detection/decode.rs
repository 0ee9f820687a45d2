//! Computes texts that programs of a command create from other texts, in simple cases.

/// The text of `$'…'`, of `printf` and of `echo -e`: backslash escapes are resolved.
pub(super) fn escapes(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let (mut result, mut at) = (Vec::new(), 0);
    while at < chars.len() {
        let c = chars[at];
        at += 1;
        if c != '\\' || at == chars.len() {
            push(&mut result, c);
            continue;
        }
        let kind = chars[at];
        at += 1;
        match kind {
            'n' => result.push(b'\n'),
            't' => result.push(b'\t'),
            'r' => result.push(b'\r'),
            'a' | 'b' | 'e' | 'E' | 'f' | 'v' => result.push(b' '),
            'x' | 'u' | 'U' => {
                let most = match kind {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                let (value, len) = number(&chars[at..], 16, most);
                at += len;
                match kind {
                    'x' => result.push(value as u8),
                    _ => push(&mut result, char::from_u32(value).unwrap_or('\u{fffd}')),
                }
            }
            '0'..='7' => {
                let start = if kind == '0' { at } else { at - 1 };
                let (value, len) = number(&chars[start..], 8, 3);
                at = start + len;
                result.push(value as u8);
            }
            'c' => at += 1,
            other => {
                if !matches!(other, '\\' | '\'' | '"' | '?') {
                    result.push(b'\\');
                }
                push(&mut result, other);
            }
        }
    }
    String::from_utf8_lossy(&result).into_owned()
}

fn push(bytes: &mut Vec<u8>, c: char) {
    bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes());
}

fn number(chars: &[char], radix: u32, most: usize) -> (u32, usize) {
    let digits = chars.iter().take(most).map_while(|c| c.to_digit(radix));
    digits.fold((0, 0), |(value, len), digit| (value * radix + digit, len + 1))
}

/// The output of `printf FORMAT ARGUMENTS`.
pub(super) fn printf(format: &str, arguments: &[String]) -> String {
    let mut rest = arguments.iter();
    let mut result = String::new();
    loop {
        let before = rest.len();
        let mut chars = format.chars().peekable();
        while let Some(c) = chars.next() {
            if c != '%' {
                result.push(c);
                continue;
            }
            while chars.next_if(|c| "-+ #0123456789.*".contains(*c)).is_some() {}
            match chars.next() {
                Some('%') | None => result.push('%'),
                Some('b') => result.push_str(&escapes(rest.next().map_or("", String::as_str))),
                Some('c') => result.extend(rest.next().and_then(|text| text.chars().next())),
                Some(_) => result.push_str(rest.next().map_or("", String::as_str)),
            }
        }
        if rest.len() == 0 || rest.len() == before {
            return escapes(&result);
        }
    }
}

/// The output of a filter that decodes its input; `None` for a filter that is not followed.
pub(super) fn filter(program: &str, arguments: &[String], input: &str) -> Option<String> {
    let operands: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    match program {
        "cat" | "tac" | "head" | "tail" | "sort" | "uniq" | "tee" | "pv" | "sponge" | "buffer" => {
            Some(input.to_owned())
        }
        "rev" => Some(input.lines().map(|line| line.chars().rev().collect::<String>() + "\n").collect()),
        "base64" => base64(input),
        "xxd" | "hex" => hex(input),
        "tr" if arguments.iter().any(|word| word.starts_with("-d")) => {
            let set = set_of(operands.first()?);
            Some(input.chars().filter(|c| !set.contains(c)).collect())
        }
        "tr" => {
            let (from, to) = (set_of(operands.first()?), set_of(operands.get(1)?));
            let last = *to.last()?;
            let map = |c: char| match from.iter().rposition(|other| *other == c) {
                Some(at) => to.get(at).copied().unwrap_or(last),
                None => c,
            };
            Some(input.chars().map(map).collect())
        }
        _ => None,
    }
}

/// The characters of an operand of `tr`.
fn set_of(text: &str) -> Vec<char> {
    let text = text.replace("[:lower:]", "a-z").replace("[:upper:]", "A-Z").replace("[:space:]", " \t\n");
    let chars: Vec<char> = escapes(&text).chars().collect();
    let (mut set, mut at) = (Vec::new(), 0);
    while at < chars.len() {
        match chars.get(at + 1..at + 3) {
            Some(['-', end]) if chars[at].is_ascii() && end.is_ascii() => {
                set.extend(chars[at]..=*end);
                at += 3;
            }
            _ => {
                set.push(chars[at]);
                at += 1;
            }
        }
    }
    set
}

fn base64(text: &str) -> Option<String> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0u32, 0);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        bits = (bits << 6) | u32::from(value(byte)?);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    String::from_utf8(bytes).ok()
}

fn hex(text: &str) -> Option<String> {
    let digits: Vec<u8> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16).map(|digit| digit as u8))
        .collect::<Option<_>>()?;
    let bytes = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    String::from_utf8(bytes).ok()
}
