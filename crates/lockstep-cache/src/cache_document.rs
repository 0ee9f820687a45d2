//! The cache file: header, sections, and parsing.
//!
//! Parsing is strict. A file with text between its sections, or an unclosed section, was not written by this
//! crate or was edited, and is rejected.

use std::fmt::Write as _;
use std::ops::Range;

use jiff::Timestamp;

use crate::escape::{escape, unescape};
use crate::section::SectionName;
use crate::text_length::{one_line, prefix};

pub const HEADER_PREFIX: &str = "<!-- SESSION CACHE: Generated ";

const MAX_REASON: usize = 300;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheHeader {
    pub generated: String,
    /// From how many files.
    pub sources: usize,
    /// The first eight hexadecimal digits of the content hash.
    pub hash: String,
}

impl CacheHeader {
    /// The header of a build at `time`.
    pub fn new(time: Timestamp, sources: usize, hash: &blake3::Hash) -> Self {
        let generated = time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        Self { generated, sources, hash: hash.to_hex()[..8].to_owned() }
    }

    fn line(&self) -> String {
        format!("{HEADER_PREFIX}{} | Sources: {} | Hash: {} -->", self.generated, self.sources, self.hash)
    }

    pub(crate) fn parse(line: &str) -> Option<Self> {
        let (generated, rest) = line.strip_prefix(HEADER_PREFIX)?.split_once(" | Sources: ")?;
        let (sources, rest) = rest.split_once(" | Hash: ")?;
        let hash = rest.strip_suffix(" -->")?;
        let well_formed = hash.len() == 8 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let sources = sources.parse().ok()?;
        well_formed.then(|| Self { generated: generated.to_owned(), sources, hash: hash.to_owned() })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SectionContent {
    Text(String),
    /// Nothing, for this reason.
    Skipped(String),
}

pub fn render<'a>(
    header: &CacheHeader,
    sections: impl IntoIterator<Item = (&'a SectionName, &'a SectionContent)>,
) -> String {
    let mut out = header.line();
    for (name, content) in sections {
        let written = match content {
            SectionContent::Text(text) => {
                write!(out, "\n\n<!-- SECTION: {name} -->\n{}\n<!-- /SECTION: {name} -->", escape(text))
            }
            SectionContent::Skipped(why) => {
                write!(out, "\n\n<!-- SECTION: {name} SKIPPED: {} -->", reason(why))
            }
        };
        written.expect("a string takes everything");
    }
    out + "\n"
}

/// A reason that stays inside its marker: one line, no end of a comment.
fn reason(why: &str) -> String {
    let line = one_line(why).replace("--", "- -");
    // Behind a dash at the end, the marker's own end would be read as part of it.
    prefix(&line, MAX_REASON).trim_end_matches('-').trim_end().to_owned()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheDocument<'a> {
    pub text: &'a str,
    /// The parsed first line.
    pub header: CacheHeader,
    pub sections: Vec<CacheSectionView<'a>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheSectionView<'a> {
    pub name: &'a str,
    /// The position in the text, including markers.
    pub span: Range<usize>,
    /// The first and last line, 1-based, including markers.
    pub lines: (usize, usize),
    /// The escaped content, or the reason why there is none.
    raw: Result<&'a str, &'a str>,
}

impl CacheSectionView<'_> {
    /// Returns the original content, or the reason why it was skipped.
    pub fn content(&self) -> SectionContent {
        match self.raw {
            Ok(raw) => SectionContent::Text(unescape(raw)),
            Err(why) => SectionContent::Skipped(why.to_owned()),
        }
    }

    /// The reason why it was skipped; `None` if it was not.
    pub fn skipped(&self) -> Option<&str> {
        self.raw.err()
    }
}

/// The position at which a text is not a cache.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ParseCacheError {
    pub line: usize,
    pub what: &'static str,
}

impl<'a> CacheDocument<'a> {
    pub fn parse(text: &'a str) -> Result<Self, ParseCacheError> {
        let (first, _) =
            text.split_once('\n').ok_or(ParseCacheError { line: 1, what: "the header is missing" })?;
        let header = CacheHeader::parse(first)
            .ok_or(ParseCacheError { line: 1, what: "the header is not one of a cache" })?;
        let mut parser = CacheParser { text, at: first.len(), line: 1 };
        let mut sections = Vec::new();
        while let Some(entry) = parser.section()? {
            sections.push(entry);
        }
        Ok(Self { text, header, sections })
    }

    pub fn section(&self, name: &str) -> Option<&CacheSectionView<'a>> {
        self.sections.iter().find(|section| section.name == name)
    }
}

/// Reads sections one after the other. Stands at the end of a line.
struct CacheParser<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> CacheParser<'a> {
    fn section(&mut self) -> Result<Option<CacheSectionView<'a>>, ParseCacheError> {
        let rest = &self.text[self.at..];
        if rest == "\n" {
            return Ok(None);
        }
        let wrong = |line, what| ParseCacheError { line, what };
        let first_line = self.line + 2;
        let body = rest
            .strip_prefix("\n\n<!-- SECTION: ")
            .ok_or(wrong(self.line + 1, "a section must begin here, after a blank line"))?;
        let (marker, _) =
            body.split_once(" -->\n").ok_or(wrong(first_line, "the section's marker does not end"))?;
        let (name, skipped) = match marker.split_once(" SKIPPED: ") {
            Some((name, why)) => (name, Some(why)),
            None => (marker, None),
        };
        if SectionName::new(name).is_err() || marker.contains('\n') {
            return Err(wrong(first_line, "this is not a section's marker"));
        }
        let start = self.at + 2;
        let opened = self.text.len() - body.len() + marker.len() + " -->".len();
        let (end, raw) = match skipped {
            Some(why) => (opened, Err(why)),
            None => {
                let (end, raw) =
                    self.content(name, opened).ok_or(wrong(first_line, "the section is not closed"))?;
                (end, Ok(raw))
            }
        };
        let last_line = first_line + self.text[start..end].matches('\n').count();
        (self.at, self.line) = (end, last_line);
        Ok(Some(CacheSectionView { name, span: start..end, lines: (first_line, last_line), raw }))
    }

    /// The content behind an opening marker that ends at `opened`, and where its closing marker ends.
    fn content(&self, name: &str, opened: usize) -> Option<(usize, &'a str)> {
        let closing = format!("\n<!-- /SECTION: {name} -->");
        let start = opened + 1;
        let length = self.text[start..].find(&closing)?;
        Some((start + length + closing.len(), &self.text[start..start + length]))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header() -> CacheHeader {
        CacheHeader::new(Timestamp::UNIX_EPOCH, 3, &blake3::hash(b"x"))
    }

    fn named(contents: Vec<SectionContent>) -> Vec<(SectionName, SectionContent)> {
        contents
            .into_iter()
            .enumerate()
            .map(|(at, content)| (SectionName::new(&format!("S_{at}")).unwrap(), content))
            .collect()
    }

    fn written(sections: &[(SectionName, SectionContent)]) -> String {
        render(&header(), sections.iter().map(|(name, content)| (name, content)))
    }

    #[test]
    fn the_format() {
        let sections = named(vec![
            SectionContent::Text("a\n".into()),
            SectionContent::Skipped("no\nfile -->\n<!-- SECTION: X -->".into()),
        ]);
        assert_eq!(
            written(&sections),
            "<!-- SESSION CACHE: Generated 1970-01-01T00:00:00Z | Sources: 3 | Hash: 8c84e0e0 -->\n\n\
             <!-- SECTION: S_0 -->\na\n\n<!-- /SECTION: S_0 -->\n\n\
             <!-- SECTION: S_1 SKIPPED: no file - -> <!- - SECTION: X - -> -->\n"
                .replace("8c84e0e0", &header().hash)
        );
    }

    #[test]
    fn lines_are_where_they_say() {
        let text = written(&named(vec![
            SectionContent::Text("one\ntwo".into()),
            SectionContent::Skipped("x".into()),
            SectionContent::Text("three".into()),
        ]));
        let document = CacheDocument::parse(&text).unwrap();
        let lines: Vec<_> = text.lines().collect();
        for entry in &document.sections {
            assert!(lines[entry.lines.0 - 1].starts_with(&format!("<!-- SECTION: {}", entry.name)));
            assert_eq!(&text[entry.span.clone()], lines[entry.lines.0 - 1..entry.lines.1].join("\n"));
        }
    }

    #[test]
    fn invalid_cache_is_refused_with_its_line() {
        let good = written(&named(vec![SectionContent::Text("a".into())]));
        let damaged = [
            (String::new(), 1),
            ("# Notes\n".into(), 1),
            (good.replace("Hash: ", "Hash: z"), 1),
            (good.replace("<!-- /SECTION", "<!-- /SECT"), 3),
            (good.trim_end().to_owned(), 6),
            (format!("{good}more\n"), 6),
            (good.replace("<!-- SECTION: S_0 -->", "hello\n\n<!-- SECTION: S_0 -->"), 2),
        ];
        for (text, line) in damaged {
            assert_eq!(CacheDocument::parse(&text).unwrap_err().line, line, "{text}");
        }
    }

    fn content() -> impl Strategy<Value = String> {
        let hostile =
            "(<~{0,2}!-- /?SECTION: S_[0-3]( SKIPPED: x)? -->|<!-- SESSION CACHE: Generated|\n|\r|<!--| -->)";
        prop::collection::vec(prop_oneof![any::<String>(), hostile], 0..10).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn extraction_returns_exactly_what_went_in(contents in prop::collection::vec(
            prop_oneof![content().prop_map(SectionContent::Text), content().prop_map(SectionContent::Skipped)], 0..6,
        )) {
            let sections = named(contents);
            let text = written(&sections);
            let document = CacheDocument::parse(&text).unwrap();
            prop_assert_eq!(&document.header, &header());
            prop_assert_eq!(document.sections.len(), sections.len());
            for (entry, (name, content)) in document.sections.iter().zip(&sections) {
                prop_assert_eq!(entry.name, name.as_str());
                match content {
                    SectionContent::Text(_) => prop_assert_eq!(&entry.content(), content),
                    SectionContent::Skipped(why) => prop_assert_eq!(entry.skipped().unwrap(), reason(why)),
                }
            }
        }
    }
}
