//! The Debian package: an `ar` archive of two tar archives.

use super::archive::{Entry, gzip, tar};
use super::payload::Payload;
use super::{Package, Release};
use crate::XtaskResult;

const DESCRIPTION: &str = "show which files a change breaks
 Lockstep compares the old and the new content of changed files and lists the
 lines of other files that no longer fit. With hooks it tells a coding agent
 before it moves on.";

pub(super) fn package(
    release: &Release,
    architecture: &str,
    binary: &[u8],
    payload: &Payload,
) -> XtaskResult<Package> {
    let entries = data(binary, payload)?;
    let kibibytes = entries.iter().map(|entry| entry.bytes.len().div_ceil(1024)).sum::<usize>();
    let control = format!(
        "Package: lockstep\nVersion: {}\nArchitecture: {architecture}\nMaintainer: {}\nInstalled-Size: {kibibytes}\n\
         Depends: git\nSection: devel\nPriority: optional\nDescription: {DESCRIPTION}\n",
        release.version, release.maintainer
    );
    let control = gzip(&tar(vec![Entry::file("./control", control)], release.time, true)?)?;
    let data = gzip(&tar(entries, release.time, true)?)?;
    let mut builder = ar::Builder::new(Vec::new());
    for (name, bytes) in
        [("debian-binary", &b"2.0\n"[..]), ("control.tar.gz", &control), ("data.tar.gz", &data)]
    {
        let mut header = ar::Header::new(name.as_bytes().to_vec(), bytes.len() as u64);
        header.set_mode(0o100644);
        header.set_mtime(release.time);
        builder.append(&header, bytes)?;
    }
    let name = format!("lockstep_{}_{architecture}.deb", release.version);
    Ok(Package { name, bytes: builder.into_inner()? })
}

fn data(binary: &[u8], payload: &Payload) -> XtaskResult<Vec<Entry>> {
    let mut entries = vec![Entry::program("./usr/bin/lockstep", binary)];
    for page in payload.pages("./usr/share/man/man1") {
        entries.push(Entry::file(page.path + ".gz", gzip(&page.bytes)?));
    }
    entries.extend(payload.completions(
        "./usr/share",
        "./usr/share/zsh/vendor-completions",
        "./usr/share/fish/vendor_completions.d",
    ));
    let documents = "./usr/share/doc/lockstep";
    entries.push(Entry::file(format!("{documents}/changelog.gz"), gzip(&payload.changelog)?));
    let licences = payload.licences("");
    let copyright =
        licences.iter().map(|licence| String::from_utf8_lossy(&licence.bytes)).collect::<Vec<_>>();
    let copyright =
        format!("Lockstep is licensed under MIT or Apache-2.0, at your option.\n\n{}", copyright.join("\n"));
    entries.push(Entry::file(format!("{documents}/copyright"), copyright));
    Ok(entries)
}
