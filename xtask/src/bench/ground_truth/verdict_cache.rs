//! Caches compiler results: the same change of the same package with the same compiler has the same result.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use super::cases::Case;
use super::language::{GroundTruth, LanguageBench, PreparedPackage};
use crate::XtaskResult;

/// Raised when the way of asking a compiler changes.
const CACHE_VERSION: u32 = 1;

/// The truth about every case, asked once.
pub(super) fn truths(
    subject: &dyn LanguageBench,
    prepared: &PreparedPackage,
    cases: &[Case],
    cache: &Path,
) -> XtaskResult<Vec<GroundTruth>> {
    let folder = cache.join("answers");
    fs::create_dir_all(&folder)?;
    let path = |case: &Case| folder.join(key(prepared, case));
    let mut truths: Vec<Option<GroundTruth>> = cases.iter().map(|case| read(&path(case))).collect();
    let open: Vec<usize> = (0..cases.len()).filter(|at| truths[*at].is_none()).collect();
    let asked: Vec<&Case> = open.iter().map(|at| &cases[*at]).collect();
    if !asked.is_empty() {
        eprintln!("  asking about {} of {} changes", asked.len(), cases.len());
        subject.truths(prepared, &asked, &mut |at, truth| {
            write(&folder, &path(asked[at]), &truth)?;
            truths[open[at]] = Some(truth);
            Ok(())
        })?;
    }
    let all: Option<Vec<GroundTruth>> = truths.into_iter().collect();
    all.ok_or_else(|| "the compiler did not answer about every change".into())
}

pub(super) fn key(prepared: &PreparedPackage, case: &Case) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    (CACHE_VERSION, &prepared.stamp, &case.file, &case.old, &case.new, case.mutation).hash(&mut hasher);
    format!("{:016x}", hasher.finish()).into()
}

fn read(path: &Path) -> Option<GroundTruth> {
    let text = fs::read_to_string(path).ok()?;
    let entry = |line: &str| {
        let (file, why) = line.split_once('\t').unwrap_or((line, ""));
        (file.to_owned(), why.to_owned())
    };
    Some(text.lines().map(entry).collect())
}

fn write(folder: &Path, path: &Path, truth: &GroundTruth) -> XtaskResult {
    let line = |(file, why): (&String, &String)| format!("{file}\t{}\n", why.replace('\n', " "));
    let text: String = truth.iter().map(line).collect();
    let whole = tempfile::NamedTempFile::new_in(folder)?;
    fs::write(whole.path(), text)?;
    whole.persist(path)?;
    Ok(())
}
