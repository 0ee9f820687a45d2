//! Composes drafts into the cache's text, within the budget.
//!
//! Over budget, in this order and no further than needed: sections are omitted that cannot be shortened and do not
//! fit even alone, external skills are cut, the skills manifest is omitted (the skill index has the same
//! content), topics are cut. If that is not enough, the sections are
//! packed by priority: each keeps its longest form that fits (personas and topics can become titles, then
//! names), and is omitted if none fits. An oversized section therefore never displaces the others. JSON is
//! never cut inside.

use std::fmt;

use crate::cache_document::{CacheHeader, SectionContent, render};
use crate::escape::count_markers;
use crate::finding::{BuildFinding, BuildFindingKind};
use crate::section::SectionName;
use crate::section_body::{LengthCaps, SectionBody};
use crate::text_length::chars;

/// The reason in the marker of a section that had to go.
pub const BUDGET_EXCEEDED: &str = "budget_exceeded";

/// The section that is omitted before any other is truncated.
const FIRST_DROPPED_SECTION: &str = "SKILLS_MANIFEST";

/// The maximum length of an external skill over budget.
const EXTERNAL_CAP: usize = 3_000;

/// The maximum length of a topic over budget.
const TOPIC_CAP: usize = 2_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionDraft {
    pub name: SectionName,
    /// The priority; 1 is kept longest.
    pub priority: u32,
    /// The content, or the reason why there is none.
    pub body: Result<SectionBody, String>,
}

/// A cache's text, and the measures taken to keep the budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComposedCache {
    pub text: String,
    pub chars: usize,
    pub mitigations: Vec<BudgetMitigation>,
}

/// Something done to keep the budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BudgetMitigation {
    /// External skills were cut to this length each.
    ExternalCut(usize),
    /// Topics were cut to this length each.
    TopicsCut(usize),
    /// A section was shortened to titles or names.
    Shortened(String),
    Dropped(String),
    /// Not even the marker that a section is left out had room.
    Omitted(String),
}

impl fmt::Display for BudgetMitigation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ExternalCut(cap) => write!(f, "external skills were cut to {cap} characters each"),
            Self::TopicsCut(cap) => write!(f, "topics were cut to {cap} characters each"),
            Self::Shortened(name) => write!(f, "{name} was shortened to titles"),
            Self::Dropped(name) => write!(f, "{name} was left out"),
            Self::Omitted(name) => write!(f, "{name} has no room even to say that it was left out"),
        }
    }
}

/// Writes the cache of `drafts`, at most `budget` characters long. The budget must have room for the header.
pub fn compose(header: &CacheHeader, drafts: &[SectionDraft], budget: usize) -> ComposedCache {
    let mut work = BudgetFitter::new(drafts);
    let (text, chars) = work.fit(header, budget);
    ComposedCache { chars, text, mitigations: work.mitigations }
}

/// Section markers inside the drafts' content, which writing will escape.
pub fn find_spoofed_markers(drafts: &[SectionDraft]) -> Vec<BuildFinding> {
    let mut findings = Vec::new();
    for draft in drafts {
        let mut found = |place: &str, text: &str| {
            let count = count_markers(text);
            if count > 0 {
                let place = place.to_owned();
                findings.push(BuildFinding::new(&draft.name, BuildFindingKind::Markers { place, count }));
            }
        };
        match &draft.body {
            Err(_) => {}
            Ok(SectionBody::Whole(text)) => found("its content", text),
            Ok(SectionBody::Roundtable(pieces)) => {
                pieces.iter().for_each(|piece| found(piece.heading.trim_start_matches("### "), &piece.text));
            }
            Ok(SectionBody::External(blocks)) => blocks.iter().for_each(|block| {
                found(&format!("external skill `{}`", block.title()), block.content().unwrap_or_default());
            }),
        }
    }
    findings
}

/// The sections between two mitigations.
struct BudgetFitter<'a> {
    drafts: &'a [SectionDraft],
    caps: LengthCaps,
    /// `None`: not even mentioned.
    contents: Vec<Option<SectionContent>>,
    mitigations: Vec<BudgetMitigation>,
}

impl<'a> BudgetFitter<'a> {
    fn new(drafts: &'a [SectionDraft]) -> Self {
        let contents = drafts.iter().map(|draft| {
            Some(match &draft.body {
                Ok(body) => SectionContent::Text(body.text(LengthCaps::DEFAULT)),
                Err(why) => SectionContent::Skipped(why.clone()),
            })
        });
        Self { drafts, caps: LengthCaps::DEFAULT, contents: contents.collect(), mitigations: Vec::new() }
    }

    /// Returns the text within `budget` and its length. The result of the last mitigation is not checked:
    /// nothing else can be removed.
    fn fit(&mut self, header: &CacheHeader, budget: usize) -> (String, usize) {
        let fitting =
            |work: &Self| Some(work.render_and_measure(header)).filter(|(_, chars)| *chars <= budget);
        if let Some(text) = fitting(self) {
            return text;
        }
        self.drop_oversized(budget);
        if let Some(text) = fitting(self) {
            return text;
        }
        self.cap(
            LengthCaps { external: EXTERNAL_CAP, ..self.caps },
            BudgetMitigation::ExternalCut(EXTERNAL_CAP),
        );
        if let Some(text) = fitting(self) {
            return text;
        }
        let redundant = self.drafts.iter().position(|draft| draft.name.as_str() == FIRST_DROPPED_SECTION);
        redundant.into_iter().for_each(|at| self.drop_section(at));
        if let Some(text) = fitting(self) {
            return text;
        }
        self.cap(LengthCaps { topic: Some(TOPIC_CAP), ..self.caps }, BudgetMitigation::TopicsCut(TOPIC_CAP));
        if let Some(text) = fitting(self) {
            return text;
        }
        self.pack(header, budget);
        self.render_and_measure(header)
    }

    /// Keeps of every section the longest form that fits, the most important section first.
    fn pack(&mut self, header: &CacheHeader, budget: usize) {
        let forms: Vec<Vec<String>> = (0..self.drafts.len()).map(|at| self.forms(at)).collect();
        let order: Vec<usize> = self.least_important_first().into_iter().rev().collect();
        for (content, forms) in self.contents.iter_mut().zip(&forms) {
            if !forms.is_empty() {
                *content = Some(SectionContent::Skipped(BUDGET_EXCEEDED.to_owned()));
            }
        }
        self.drop_markers(header, budget);
        for (place, at) in order.iter().enumerate() {
            let lower = &order[place + 1..];
            let chosen = self.longest_that_fits(*at, lower, &forms, header, budget);
            if let Some(form) = chosen {
                self.contents[*at] = Some(SectionContent::Text(forms[*at][form].clone()));
            }
        }
        self.note_packing(&forms);
    }

    /// Returns the forms of a section with content, longest first; none for an omitted section.
    fn forms(&self, at: usize) -> Vec<String> {
        let (Some(SectionContent::Text(text)), Ok(body)) = (&self.contents[at], &self.drafts[at].body) else {
            return Vec::new();
        };
        let length = chars(text);
        let shorter = body.short_forms().into_iter().filter(|form| chars(form) < length);
        std::iter::once(text.clone()).chain(shorter).collect()
    }

    /// Returns the longest form of a section that fits. A section with several forms leaves room for the
    /// shortest forms of less important ones, if one of its own forms does.
    fn longest_that_fits(
        &self,
        at: usize,
        lower: &[usize],
        forms: &[Vec<String>],
        header: &CacheHeader,
        budget: usize,
    ) -> Option<usize> {
        let fits = |form: usize, with_lower: bool| {
            let mut contents = self.contents.clone();
            contents[at] = Some(SectionContent::Text(forms[at][form].clone()));
            for other in lower.iter().filter(|other| with_lower && forms[**other].len() > 1) {
                contents[*other] = forms[*other].last().map(|text| SectionContent::Text(text.clone()));
            }
            chars(&self.render_with(header, &contents)) <= budget
        };
        let mut all = 0..forms[at].len();
        let reserving = (forms[at].len() > 1).then(|| all.clone().find(|form| fits(*form, true))).flatten();
        reserving.or_else(|| match forms[at].len() {
            0 | 1 => all.find(|form| fits(*form, false)),
            _ => all.rev().find(|form| fits(*form, false)),
        })
    }

    /// Leaves out markers of skipped sections, the least important first, until the rest fits.
    fn drop_markers(&mut self, header: &CacheHeader, budget: usize) {
        for at in self.least_important_first() {
            if self.render_and_measure(header).1 <= budget {
                return;
            }
            self.contents[at] = None;
        }
    }

    /// Records the effects of packing, the least important section first.
    fn note_packing(&mut self, forms: &[Vec<String>]) {
        for at in self.least_important_first() {
            let name = self.drafts[at].name.to_string();
            let longest = forms[at].first();
            self.mitigations.extend(match &self.contents[at] {
                None => Some(BudgetMitigation::Omitted(name)),
                Some(SectionContent::Text(text)) => {
                    longest.filter(|longest| *longest != text).map(|_| BudgetMitigation::Shortened(name))
                }
                Some(SectionContent::Skipped(_)) => longest.map(|_| BudgetMitigation::Dropped(name)),
            });
        }
    }

    fn render_and_measure(&self, header: &CacheHeader) -> (String, usize) {
        let text = self.render(header);
        let chars = chars(&text);
        (text, chars)
    }

    /// Truncates content to `caps`. The mitigation is recorded only if something became shorter.
    fn cap(&mut self, caps: LengthCaps, mitigation: BudgetMitigation) {
        let mut shorter = false;
        for (draft, content) in self.drafts.iter().zip(&mut self.contents) {
            if let (Ok(body), Some(SectionContent::Text(text))) = (&draft.body, content) {
                let now = body.text(caps);
                shorter |= now != *text;
                *text = now;
            }
        }
        self.caps = caps;
        if shorter {
            self.mitigations.push(mitigation);
        }
    }

    fn drop_section(&mut self, at: usize) {
        if let Some(SectionContent::Text(_)) = self.contents[at] {
            self.contents[at] = Some(SectionContent::Skipped(BUDGET_EXCEEDED.to_owned()));
            self.mitigations.push(BudgetMitigation::Dropped(self.drafts[at].name.to_string()));
        }
    }

    /// Leaves out the sections that no other mitigation could keep.
    fn drop_oversized(&mut self, budget: usize) {
        for at in 0..self.drafts.len() {
            if matches!(&self.drafts[at].body, Ok(SectionBody::Whole(text)) if chars(text) > budget) {
                self.drop_section(at);
            }
        }
    }

    /// Of sections that matter equally, the later one is less important.
    fn least_important_first(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.drafts.len()).rev().collect();
        order.sort_by_key(|at| std::cmp::Reverse(self.drafts[*at].priority));
        order
    }

    fn render(&self, header: &CacheHeader) -> String {
        self.render_with(header, &self.contents)
    }

    fn render_with(&self, header: &CacheHeader, contents: &[Option<SectionContent>]) -> String {
        let sections = self.drafts.iter().zip(contents);
        render(header, sections.filter_map(|(draft, content)| Some((&draft.name, content.as_ref()?))))
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::*;
    use crate::cache_document::CacheDocument;
    use crate::external_skills::{ExternalSkillContent, ExternalSkillSource, external_skills};
    use crate::section_body::RoundtableItem;
    use crate::settings::{DEFAULT_BUDGET, LEAST_BUDGET};

    fn header() -> CacheHeader {
        CacheHeader::new(Timestamp::UNIX_EPOCH, 12, &blake3::hash(b""))
    }

    fn draft(name: &str, priority: u32, body: SectionBody) -> SectionDraft {
        SectionDraft { name: SectionName::new(name).unwrap(), priority, body: Ok(body) }
    }

    fn external(text: String) -> SectionBody {
        let (skills, _) = external_skills(r#"{"skills": [{"name": "x", "file": "x.md"}]}"#).unwrap();
        SectionBody::External(vec![ExternalSkillSource::new(&skills[0], ExternalSkillContent::Text(text))])
    }

    fn topic(text: String) -> SectionBody {
        SectionBody::Roundtable(vec![RoundtableItem { heading: "### Topic: t".into(), text, topic: true }])
    }

    fn drafts() -> Vec<SectionDraft> {
        let json = |n: usize| format!("{{\"a\": \"{}\"}}", "j".repeat(n));
        vec![
            draft("CONSTITUTION", 1, SectionBody::Whole("c".repeat(2_000))),
            draft("WORKFLOW_CONFIG", 2, SectionBody::Whole(json(2_000))),
            draft("SKILLS_MANIFEST", 7, SectionBody::Whole(json(4_000))),
            draft("EXTERNAL_SKILLS", 6, external("e".repeat(6_000))),
            draft("ROUNDTABLE_CONTEXT", 8, topic("t".repeat(5_000))),
        ]
    }

    #[test]
    fn section_that_fits_nowhere_costs_the_others_nothing() {
        let mut drafts = drafts();
        drafts[0].body = Ok(SectionBody::Whole("c".repeat(50_000)));
        let composed = compose(&header(), &drafts, 40_000);
        assert_eq!(composed.mitigations, [BudgetMitigation::Dropped("CONSTITUTION".to_owned())]);
    }

    #[test]
    fn mitigations_come_in_their_order_and_no_further_than_needed() {
        use BudgetMitigation::{Dropped, ExternalCut, Shortened, TopicsCut};
        let d = |name: &str| Dropped(name.to_owned());
        let s = |name: &str| Shortened(name.to_owned());
        let cut = [ExternalCut(3_000), d("SKILLS_MANIFEST"), TopicsCut(2_000)];
        let whole = compose(&header(), &drafts(), usize::MAX).chars;
        assert!(compose(&header(), &drafts(), whole).mitigations.is_empty());
        let mut seen: Vec<Vec<BudgetMitigation>> = Vec::new();
        for budget in (LEAST_BUDGET..whole).rev().step_by(40) {
            let composed = compose(&header(), &drafts(), budget);
            assert!(composed.chars <= budget);
            if seen.last() != Some(&composed.mitigations) {
                seen.push(composed.mitigations);
            }
        }
        let mut expected: Vec<Vec<BudgetMitigation>> =
            (1..=cut.len()).map(|done| cut[..done].to_vec()).collect();
        expected.push([&cut[..], &[s("ROUNDTABLE_CONTEXT")]].concat());
        assert_eq!(seen[..4], expected);
        assert!(seen.last().is_some_and(|last| last.contains(&d("CONSTITUTION"))), "{seen:#?}");
    }

    /// A project of the size that the preset is made for: a constitution over the budget, eight sections,
    /// many topics.
    #[test]
    fn one_section_over_the_budget_leaves_the_others_in_place() {
        let json = |n: usize| format!("{{\"a\": \"{}\"}}", "j".repeat(n));
        let piece = |n: usize| RoundtableItem {
            heading: format!("### Topic: topic-{n}"),
            text: format!("---\ntopic_id: topic-{n}\n---\n# Topic number {n}\n{}", "t".repeat(6_000)),
            topic: true,
        };
        let drafts = [
            draft("CONSTITUTION", 1, SectionBody::Whole("c".repeat(150_000))),
            draft("WORKFLOW_CONFIG", 2, SectionBody::Whole(json(25_000))),
            draft("ITERATION_REQUIREMENTS", 3, SectionBody::Whole(json(18_000))),
            draft("ARTIFACT_PATHS", 4, SectionBody::Whole(json(6_000))),
            draft("SKILLS_MANIFEST", 7, SectionBody::Whole(json(40_000))),
            draft("SKILL_INDEX", 5, SectionBody::Whole("s".repeat(45_000))),
            draft("EXTERNAL_SKILLS", 6, external("e".repeat(6_000))),
            draft("ROUNDTABLE_CONTEXT", 8, SectionBody::Roundtable((0..40).map(piece).collect())),
        ];
        let composed = compose(&header(), &drafts, DEFAULT_BUDGET);
        assert!(composed.chars <= DEFAULT_BUDGET);
        let document = CacheDocument::parse(&composed.text).unwrap();
        let text =
            |name: &str| match document.sections.iter().find(|entry| entry.name == name).unwrap().content() {
                SectionContent::Text(text) => Some(text),
                SectionContent::Skipped(_) => None,
            };
        assert_eq!(text("CONSTITUTION"), None);
        for name in
            ["WORKFLOW_CONFIG", "ITERATION_REQUIREMENTS", "ARTIFACT_PATHS", "SKILL_INDEX", "EXTERNAL_SKILLS"]
        {
            assert!(text(name).is_some(), "{name}");
        }
        let topics = text("ROUNDTABLE_CONTEXT").unwrap();
        assert!(
            (0..40).all(|n| topics.contains(&format!("### Topic: topic-{n}\nTopic number {n}"))),
            "{topics}"
        );
        let left_out: Vec<String> = composed.mitigations.iter().map(ToString::to_string).collect();
        for warning in ["CONSTITUTION was left out", "ROUNDTABLE_CONTEXT was shortened to titles"] {
            assert!(left_out.iter().any(|line| line == warning), "{left_out:#?}");
        }
    }

    #[test]
    fn uncuttable_sections_are_omitted() {
        let composed = compose(&header(), &drafts()[..2], 3_000);
        assert_eq!(composed.mitigations, [BudgetMitigation::Dropped("WORKFLOW_CONFIG".into())]);
        assert!(composed.text.contains("<!-- SECTION: WORKFLOW_CONFIG SKIPPED: budget_exceeded -->"));
    }

    #[test]
    fn markers_are_found_where_they_are() {
        let spoof = "x\n<!-- /SECTION: A -->\n<!-- SECTION: CONSTITUTION -->".to_owned();
        let findings = find_spoofed_markers(&[
            draft("A", 1, external(spoof)),
            draft("B", 1, SectionBody::Whole("clean".into())),
        ]);
        assert_eq!(
            findings[0].to_string(),
            "A: external skill `x` contains 2 section markers; they are escaped. Remove them if they are no example"
        );
        assert_eq!(findings.len(), 1);
    }

    fn body() -> impl Strategy<Value = SectionBody> {
        let text = prop_oneof![
            (0usize..9_000, "[a-z😀é\n]").prop_map(|(n, c)| c.repeat(n)),
            (0usize..200).prop_map(|n| "<!-- SECTION: X -->".repeat(n)),
        ];
        prop_oneof![
            (0usize..9_000).prop_map(|n| SectionBody::Whole(format!("[\"{}\"]", "j".repeat(n)))),
            text.clone().prop_map(external),
            text.prop_map(topic),
        ]
    }

    proptest! {
        #[test]
        fn budget_is_never_exceeded_and_json_is_never_cut(
            bodies in prop::collection::vec((body(), 1u32..5), 0..12),
            budget in LEAST_BUDGET..40_000,
        ) {
            let drafts: Vec<_> = bodies
                .into_iter()
                .enumerate()
                .map(|(at, (body, priority))| {
                    let long = format!("SECTION_WITH_A_NAME_AS_LONG_AS_NAMES_MAY_BE_{at}");
                    draft(if at == 0 { "SKILLS_MANIFEST" } else { &long }, priority, body)
                })
                .collect();
            let composed = compose(&header(), &drafts, budget);
            prop_assert!(composed.chars <= budget);
            prop_assert_eq!(composed.chars, composed.text.encode_utf16().count());
            let document = CacheDocument::parse(&composed.text).unwrap();
            for entry in &document.sections {
                let SectionContent::Text(text) = entry.content() else { continue };
                if text.starts_with("[\"") {
                    prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
                }
            }
            // Omitted sections are reported. They did not fit beside sections of higher priority.
            let kept: Vec<Option<SectionContent>> = drafts
                .iter()
                .map(|draft| document.sections.iter().find(|entry| entry.name == draft.name.as_str()).map(|entry| entry.content()))
                .collect();
            let reported = |name: &str| composed.mitigations.iter().any(|done| match done {
                BudgetMitigation::Dropped(dropped) | BudgetMitigation::Omitted(dropped) => dropped == name,
                _ => false,
            });
            for (at, draft) in drafts.iter().enumerate() {
                if matches!(kept[at], Some(SectionContent::Text(_))) {
                    continue;
                }
                prop_assert!(reported(draft.name.as_str()), "{} is not reported", draft.name);
                let Ok(body) = &draft.body else { continue };
                if draft.name.as_str() == FIRST_DROPPED_SECTION || kept[at].is_none() {
                    continue;
                }
                let smallest = body.short_forms().pop().unwrap_or_else(|| body.text(LengthCaps::DEFAULT));
                let mut alone = kept.clone();
                for (other, content) in alone.iter_mut().enumerate() {
                    let less = (drafts[other].priority, other) > (draft.priority, at);
                    if less && matches!(content, Some(SectionContent::Text(_))) {
                        *content = Some(SectionContent::Skipped(BUDGET_EXCEEDED.to_owned()));
                    }
                }
                alone[at] = Some(SectionContent::Text(smallest));
                let sections = drafts.iter().zip(&alone);
                let text = render(&header(), sections.filter_map(|(draft, content)| Some((&draft.name, content.as_ref()?))));
                prop_assert!(chars(&text) > budget, "{} would have fitted", draft.name);
            }
        }
    }
}
