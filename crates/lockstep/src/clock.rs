//! The present moment.

use jiff::Zoned;

use crate::env_vars::LOCKSTEP_NOW;

/// Now, in the local time zone; `LOCKSTEP_NOW` fixes it.
pub(crate) fn now() -> Zoned {
    LOCKSTEP_NOW.get().and_then(|text| text.to_str()?.parse().ok()).unwrap_or_else(Zoned::now)
}
