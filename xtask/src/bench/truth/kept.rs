//! What compilers said is kept: the same change of the same package with the same compiler has the same truth.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use super::cases::Case;
use super::subject::{Prepared, Subject};
use crate::Outcome;

/// Raised when the way of asking a compiler changes.
const WAY: u32 = 1;

/// The truth about a case, asked once.
pub(super) fn truth(
    subject: &dyn Subject,
    prepared: &Prepared,
    case: &Case,
    cache: &Path,
) -> Outcome<BTreeSet<String>> {
    let mut hasher = DefaultHasher::new();
    (WAY, &prepared.stamp, &case.file, &case.old, &case.new, case.mutation).hash(&mut hasher);
    let folder = cache.join("answers");
    let path = folder.join(format!("{:016x}", hasher.finish()));
    if let Ok(text) = fs::read_to_string(&path) {
        return Ok(text.lines().map(str::to_owned).collect());
    }
    let truth = subject.truth(prepared, case)?;
    fs::create_dir_all(&folder)?;
    let text: String = truth.iter().map(|file| format!("{file}\n")).collect();
    let whole = tempfile::NamedTempFile::new_in(&folder)?;
    fs::write(whole.path(), text)?;
    whole.persist(&path)?;
    Ok(truth)
}
