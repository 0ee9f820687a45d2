//! JSON content: checked, and perhaps reduced. It is never cut.

use serde_json::Value;

/// Returns `text` if it is JSON; serialises it without the keys `without` if any are named.
pub fn parse_json_section(text: &str, without: &[String]) -> Result<String, String> {
    let mut value: Value = serde_json::from_str(text).map_err(|error| format!("invalid JSON: {error}"))?;
    if without.is_empty() {
        return Ok(text.to_owned());
    }
    if let Some(object) = value.as_object_mut() {
        for key in without {
            object.shift_remove(key);
        }
    }
    Ok(serde_json::to_string_pretty(&value).expect("a value that was read can be written"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_or_reduced_or_refused() {
        let text = "{\"b\": 1,\n \"path_lookup\": {}, \"a\": [1.5]}\n";
        assert_eq!(parse_json_section(text, &[]).unwrap(), text);
        assert_eq!(
            parse_json_section(text, &["path_lookup".into()]).unwrap(),
            "{\n  \"b\": 1,\n  \"a\": [\n    1.5\n  ]\n}"
        );
        assert!(parse_json_section("{\"a\": ", &[]).unwrap_err().starts_with("invalid JSON: EOF"));
    }
}
