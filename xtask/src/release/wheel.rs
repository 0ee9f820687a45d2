//! The wheel for pip, pipx and uv: a zip archive whose program is installed as a script.

use std::io::{Cursor, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::archive::Entry;
use super::payload::Payload;
use super::target::Target;
use super::{Package, Release};
use crate::XtaskResult;

pub(super) fn wheel(
    release: &Release,
    target: &Target,
    binary: &[u8],
    payload: &Payload,
) -> XtaskResult<Package> {
    let stem = format!("lockstep_cli-{}", release.version);
    let tags = target.wheel();
    let (data, info) = (format!("{stem}.data"), format!("{stem}.dist-info"));
    let mut entries = vec![Entry::program(format!("{data}/scripts/{}", target.program()), binary)];
    for mut shared in payload.shared("share/zsh/site-functions") {
        shared.path = format!("{data}/data/{}", shared.path);
        entries.push(shared);
    }
    entries.extend(payload.licences(&format!("{info}/licenses/")));
    entries.push(Entry::file(format!("{info}/METADATA"), metadata(release, payload)));
    entries.push(Entry::file(format!("{info}/WHEEL"), wheel_file(tags)));
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    // By convention the metadata is at the end of the archive; the record lists all other files.
    entries.sort_by_key(|entry| entry.path.starts_with(&info));
    let record = record(&entries, &info);
    entries.push(Entry::file(format!("{info}/RECORD"), record));
    Ok(Package { name: format!("{stem}-py3-none-{tags}.whl"), bytes: zip(&entries, release.time)? })
}

fn metadata(release: &Release, payload: &Payload) -> String {
    format!(
        "Metadata-Version: 2.4\nName: lockstep-cli\nVersion: {}\nSummary: Show which files a change breaks\n\
         License-Expression: MIT OR Apache-2.0\nLicense-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\n\
         Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n{}",
        release.version,
        String::from_utf8_lossy(&payload.readme)
    )
}

fn wheel_file(tags: &str) -> String {
    let tags: String = tags.split('.').map(|tag| format!("Tag: py3-none-{tag}\n")).collect();
    format!("Wheel-Version: 1.0\nGenerator: lockstep-xtask\nRoot-Is-Purelib: false\n{tags}")
}

fn record(entries: &[Entry], info: &str) -> String {
    let line = |entry: &Entry| {
        let hash = URL_SAFE_NO_PAD.encode(Sha256::digest(&entry.bytes));
        format!("{},sha256={hash},{}\n", entry.path, entry.bytes.len())
    };
    entries.iter().map(line).collect::<String>() + &format!("{info}/RECORD,,\n")
}

fn zip(entries: &[Entry], time: u64) -> XtaskResult<Vec<u8>> {
    let time = Timestamp::from_second(time.cast_signed())?.to_zoned(TimeZone::UTC);
    // The format begins in 1980.
    let time = match u16::try_from(time.year()).ok().filter(|year| *year >= 1980) {
        Some(year) => {
            let part = |value: i8| value.unsigned_abs();
            let (month, day) = (part(time.month()), part(time.day()));
            zip::DateTime::from_date_and_time(
                year,
                month,
                day,
                part(time.hour()),
                part(time.minute()),
                part(time.second()),
            )?
        }
        None => zip::DateTime::default(),
    };
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for entry in entries {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(9))
            .last_modified_time(time)
            .unix_permissions(0o100_000 | entry.mode);
        writer.start_file(entry.path.as_str(), options)?;
        writer.write_all(&entry.bytes)?;
    }
    Ok(writer.finish()?.into_inner())
}
