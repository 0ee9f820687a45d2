//! Durations as text: `7d`, `24h`, `1h30m`.

use std::time::Duration;

use thiserror::Error;

/// Ten years. Long enough for any grace, and no sum with a present time overflows.
pub(crate) const MAX: Duration = Duration::from_secs(3650 * DAY);

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The units, longest first; they are written in this order, each at most once.
const UNITS: [(char, u64); 4] = [('d', DAY), ('h', HOUR), ('m', MINUTE), ('s', 1)];

/// The reason why a text is not a duration.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum DurationError {
    #[error("a duration is whole numbers with the units d, h, m and s, longest first, such as \"1h30m\"")]
    Form,
    #[error("the longest duration is \"3650d\"")]
    TooLong,
}

pub(crate) fn parse(text: &str) -> Result<Duration, DurationError> {
    let mut rest = text;
    let mut units = UNITS.iter();
    let mut seconds = 0_u64;
    while seconds <= MAX.as_secs() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, tail) = rest.split_at(digits);
        let unit = tail.chars().next().ok_or(DurationError::Form)?;
        let (_, factor) = units.find(|(name, _)| *name == unit).ok_or(DurationError::Form)?;
        if number.is_empty() {
            return Err(DurationError::Form);
        }
        // A number beyond u64 consists of digits only, so only its size is wrong.
        let number: u64 = number.parse().map_err(|_| DurationError::TooLong)?;
        seconds = seconds.saturating_add(number.saturating_mul(*factor));
        rest = &tail[unit.len_utf8()..];
        if rest.is_empty() {
            break;
        }
    }
    let duration = Duration::from_secs(seconds);
    if duration > MAX { Err(DurationError::TooLong) } else { Ok(duration) }
}

/// Writes `duration` in hours, minutes and seconds; [`parse`] restores it.
pub(crate) fn format(duration: Duration) -> String {
    let mut seconds = duration.as_secs();
    let mut out = String::new();
    for (unit, factor) in &UNITS[1..] {
        let number = seconds / factor;
        seconds %= factor;
        if number > 0 {
            out.push_str(&format!("{number}{unit}"));
        }
    }
    if out.is_empty() { "0s".to_owned() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_their_seconds() {
        for (text, seconds) in [
            ("24h", 24 * HOUR),
            ("7d", 7 * DAY),
            ("1h30m", HOUR + 30 * MINUTE),
            ("1d2h3m4s", DAY + 2 * HOUR + 3 * MINUTE + 4),
            ("0s", 0),
            ("3650d", MAX.as_secs()),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
    }

    #[test]
    fn rejects_invalid_durations() {
        for text in
            ["", "24", "h", "-1h", "+1h", "1.5h", " 1h", "1h ", "1 h", "1m1h", "1h1h", "1w", "1ħ", "٣h"]
        {
            assert_eq!(parse(text), Err(DurationError::Form), "{text:?}");
        }
        for text in ["3651d", "3650d1s", "99999999999999999999h", "18446744073709551615d"] {
            assert_eq!(parse(text), Err(DurationError::TooLong), "{text:?}");
        }
    }

    #[test]
    fn shown_in_hours_minutes_seconds() {
        for (seconds, text) in [(0, "0s"), (DAY, "24h"), (HOUR + 1, "1h1s"), (90, "1m30s")] {
            assert_eq!(format(Duration::from_secs(seconds)), text);
        }
    }
}
