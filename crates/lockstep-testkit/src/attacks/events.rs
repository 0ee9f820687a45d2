//! Forms of an event that a gate could misread.

use serde_json::{Value, json};

fn utf16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(order).collect()
}

/// The object of `tool_input`, and the command in it.
fn command_of(json: &str) -> (&str, String) {
    let input = &json[json.find("\"tool_input\"").unwrap()..];
    let object = &input[input.find('{').unwrap()..=input.find('}').unwrap()];
    let value: Value = serde_json::from_str(object).unwrap();
    (object, value["command"].as_str().unwrap().to_owned())
}

/// Forms of a `Bash` event that have its meaning, and that a strict parser may reject.
pub fn event_forms(json: &str) -> Vec<(&'static str, Vec<u8>)> {
    let object = json.trim_start().strip_prefix('{').unwrap();
    let padding = "x".repeat(9 << 20);
    let (input, words) = command_of(json);
    let replace = |by: String| json.replace(input, &by).into_bytes();
    let list: Vec<&str> = words.split(' ').collect();
    let behind = json.trim_end().strip_suffix('}').unwrap();
    vec![
        ("plain", json.as_bytes().to_vec()),
        ("white space", format!("\n\t {json}\r\n ").into_bytes()),
        ("byte order mark", [b"\xef\xbb\xbf", json.as_bytes()].concat()),
        ("UTF-16 with a mark", [&b"\xff\xfe"[..], &utf16(json, u16::to_le_bytes)].concat()),
        (
            "UTF-16 of the other order with a mark",
            [&b"\xfe\xff"[..], &utf16(json, u16::to_be_bytes)].concat(),
        ),
        ("UTF-16 without a mark", utf16(json, u16::to_be_bytes)),
        ("lone surrogate", replace(format!("{{\"command\":\"{words} -m \\ud800\"}}"))),
        ("two lone surrogates", replace(format!("{{\"command\":\"{words} -m \\udc00\\ud800\"}}"))),
        ("lone surrogate elsewhere", format!("{{\"x\":\"\\udfff\",{object}").into_bytes()),
        ("lone surrogate in a key", format!("{{\"\\ud8ff\":1,{object}").into_bytes()),
        ("invalid UTF-8", [b"{\"x\":\"\xff\",", object.as_bytes()].concat()),
        ("raw control character", replace(format!("{{\"command\":\"{words}\u{1}\"}}"))),
        ("raw line end", replace(format!("{{\"command\":\"{words}\n\"}}"))),
        ("command as a list", replace(format!("{{\"command\":{}}}", json!(list)))),
        ("input as text", replace(json!(input).to_string())),
        ("escaped name", json.replace("PreToolUse", "Pre\\u0054oolUse").into_bytes()),
        ("escaped tool", json.replace("\"Bash\"", "\"\\u0042ash\"").into_bytes()),
        ("escaped key", json.replace("\"command\"", "\"comman\\u0064\"").into_bytes()),
        ("9 MB behind", format!("{behind},\"x\":\"{padding}\"}}").into_bytes()),
        ("9 MB before", format!("{{\"x\":\"{padding}\",{object}").into_bytes()),
        ("9 MB of spaces before", [&vec![b' '; 9 << 20][..], json.as_bytes()].concat()),
    ]
}

/// Forms of a `Bash` event that have no certain meaning.
pub fn unreadable_events(json: &str) -> Vec<(&'static str, Vec<u8>)> {
    let (input, words) = command_of(json);
    let command = json!(words).to_string();
    let texts = vec![
        ("truncated", json[..json.find(input).unwrap() + input.len() / 2].to_owned()),
        ("without its name", json[..json.len() - 3].replace("hook_event_name", "other")),
        ("text behind", format!("{json} x")),
        ("two events", format!("{json}{}", json.replace(&command, "\"ls\""))),
        ("two events in the other order", format!("{}{json}", json.replace(&command, "\"ls\""))),
        ("repeated command", json.replace(&command, &format!("{command},\"command\":\"ls\""))),
        ("repeated command before", json.replace(&command, &format!("\"ls\",\"command\":{command}"))),
        ("repeated input", json.replacen('{', "{\"tool_input\":{\"command\":\"ls\"},", 1)),
        ("repeated tool", json.replacen('{', "{\"tool_name\":\"Read\",", 1)),
        ("repeated name", json.replacen('{', "{\"hook_event_name\":\"Stop\",", 1)),
        ("a number", json.replace(&command, "7")),
        ("an object", json.replace(&command, &format!("{{\"x\":{command}}}"))),
        ("a nested list", json.replace(&command, &format!("[[{command}]]"))),
        ("text instead of the input", json.replace(input, &command)),
        ("a list instead of the input", json.replace(input, &format!("[{input}]"))),
        ("a comment", json.replacen('{', "{/* x */", 1)),
        ("a comma too many", json.replace(input, &format!("{input},"))),
        ("single quotes", json.replace('"', "'")),
        ("a list of events", format!("[{json}]")),
        ("text of an event", json!(json).to_string()),
        ("a number for a name", json.replace("\"PreToolUse\"", "1")),
        ("a flag for a name", json.replace("\"PreToolUse\"", "true")),
        ("an empty tool", json.replace("\"Bash\"", "\"\"")),
        ("a nested shell", json.replace(&command, &format!("[\"bash\",\"-c\",{command}]"))),
        ("a full-width tool", json.replace("\"Bash\"", "\"Ｂａｓｈ\"")),
        ("a full-width tool in escapes", json.replace("\"Bash\"", "\"\\uff22\\uff41\\uff53\\uff48\"")),
        ("a tool with a letter of another script", json.replace("\"Bash\"", "\"B\u{430}sh\"")),
        ("a full-width name", json.replace("PreToolUse", "ＰｒｅＴｏｏｌＵｓｅ")),
        ("a name with a letter of another script", json.replace("PreToolUse", "PreT\u{43e}olUse")),
        ("a name in other words", json.replace("PreToolUse", "pre_tool_use")),
        ("truncated before its name", json[..json.find("hook_event_name").unwrap() - 1].to_owned()),
        ("base64", "eyJob29rX2V2ZW50X25hbWUiOiJQcmVUb29sVXNlIn0=".to_owned()),
    ];
    let bytes = [
        ("an overlong blank", with_overlong_blank(json)),
        ("EBCDIC", ebcdic(json)),
        ("compressed", b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xab\x56\x4a".to_vec()),
        ("UTF-16 in two orders", [utf16(json, u16::to_le_bytes), utf16(json, u16::to_be_bytes)].concat()),
    ];
    texts.into_iter().map(|(form, text)| (form, text.into_bytes())).chain(bytes).collect()
}

/// The blank before the verb in two bytes, which UTF-8 forbids.
fn with_overlong_blank(json: &str) -> Vec<u8> {
    let (before, after) = json.split_once(" commit").expect("a commit");
    [before.as_bytes(), b"\xc0\xa0commit", after.as_bytes()].concat()
}

/// Code page 037: letters and digits, and the marks of JSON.
fn ebcdic(text: &str) -> Vec<u8> {
    let byte = |byte: u8| match byte {
        b'a'..=b'i' => byte - b'a' + 0x81,
        b'j'..=b'r' => byte - b'j' + 0x91,
        b's'..=b'z' => byte - b's' + 0xa2,
        b'A'..=b'I' => byte - b'A' + 0xc1,
        b'J'..=b'R' => byte - b'J' + 0xd1,
        b'S'..=b'Z' => byte - b'S' + 0xe2,
        b'0'..=b'9' => byte - b'0' + 0xf0,
        b'{' => 0xc0,
        b'}' => 0xd0,
        b'"' => 0x7f,
        b':' => 0x7a,
        b',' => 0x6b,
        b'_' => 0x6d,
        _ => 0x40,
    };
    text.bytes().map(byte).collect()
}
