//! The time in generated files: reproducible on request.

use jiff::Timestamp;

use crate::clock;
use crate::env_vars::SOURCE_DATE_EPOCH;

/// `SOURCE_DATE_EPOCH`, else now.
pub(crate) fn build_timestamp() -> Timestamp {
    let fixed =
        SOURCE_DATE_EPOCH.get().and_then(|text| Timestamp::from_second(text.to_str()?.parse().ok()?).ok());
    fixed.unwrap_or_else(|| clock::now().timestamp())
}
