//! Parts: within the limit, each on its own, together exactly the cache.

use lockstep_cache::cache_document::{CacheDocument, CacheHeader, SectionContent, render};
use lockstep_cache::delivery::{
    CachePart, ClientLimits, DeliveryContext, DeliveryMode, LIMITS, entries_needed, part, parts,
    subagent_part,
};
use lockstep_cache::fixture::{FixtureSize, agent};
use lockstep_cache::{FrameworkPreset, SectionConfig, SectionName};
use proptest::prelude::*;

use crate::project::{Project, time};

fn delivery<'a>(mode: DeliveryMode, sections: &'a [SectionConfig]) -> DeliveryContext<'a> {
    DeliveryContext {
        mode,
        limits: ClientLimits::of("claude").unwrap(),
        source: "startup",
        sections,
        path: ".isdlc/session-cache.md",
        resource: None,
        stale: None,
        entries: 99,
    }
}

fn usual() -> (Project, String) {
    let project = Project::of(FixtureSize::USUAL);
    project.build_with(&project.with_budget(1_000_000));
    let text = project.cache().read().unwrap().unwrap();
    (project, text)
}

/// Joins the parts again, by the spans that each declares.
fn together(cache: &str, parts: &[CachePart]) -> String {
    let mut pieces = Vec::new();
    for part in parts {
        let length: usize = part.carries.iter().map(|carried| carried.span.len()).sum();
        let mut at = part.text.len() - length;
        for carried in &part.carries {
            pieces.push((carried.span.start, part.text[at..at + carried.span.len()].to_owned()));
            at += carried.span.len();
        }
    }
    pieces.sort();
    let text: String = pieces.into_iter().map(|(_, text)| text).collect();
    assert_eq!(text.len(), cache.len());
    text
}

#[test]
fn the_index_names_everything_and_carries_what_fits_whole() {
    let (_project, text) = usual();
    let document = CacheDocument::parse(&text).unwrap();
    let sections = FrameworkPreset::Isdlc.sections();
    let parts = parts(&document, &delivery(DeliveryMode::Index, &sections));
    let [part] = parts.as_slice() else { panic!("{} parts", parts.len()) };
    assert!(part.text.encode_utf16().count() <= 9_500);
    assert!(part.text.contains(&document.header.hash));
    for entry in &document.sections {
        let line = part.text.lines().find(|line| line.starts_with(&format!("- {}: ", entry.name))).unwrap();
        let here = part.text.contains(&text[entry.span.clone()]);
        assert_eq!(line.contains("below"), here, "{line}");
        if !here {
            assert!(line.contains(&format!("lines {}-{}", entry.lines.0, entry.lines.1)), "{line}");
        }
    }
    assert!(part.text.contains("`lockstep cache section NAME`"));
    assert!(!part.carries.is_empty());
    assert!(part.text.contains("text of external skills, not of this project"));
}

#[test]
fn full_parts_are_the_cache_exactly() {
    let (_project, text) = usual();
    let document = CacheDocument::parse(&text).unwrap();
    let sections = FrameworkPreset::Isdlc.sections();
    let delivery = delivery(DeliveryMode::Full, &sections);
    let parts = parts(&document, &delivery);
    assert_eq!(parts.len(), entries_needed(&document, &delivery));
    assert_eq!(together(&text, &parts), text);
    for (at, part) in parts.iter().enumerate() {
        assert!(part.text.encode_utf16().count() <= 9_500);
        let first = part.text.lines().next().unwrap();
        let expected = format!(
            "Lockstep session cache, hash {}, part {} of {}: ",
            document.header.hash,
            at + 1,
            parts.len()
        );
        assert!(first.starts_with(&expected), "{first}");
        assert!(part.text.ends_with('\n'), "pieces end at line ends");
        let external =
            part.carries.iter().any(|carried| carried.section.as_deref() == Some("EXTERNAL_SKILLS"));
        assert_eq!(first.contains("text of external skills"), external, "{first}");
    }
    let least = text.encode_utf16().count() / 8_800;
    assert!(parts.len() <= least + 3, "{} parts where {least} might do", parts.len());
}

#[test]
fn fewer_entries_than_parts_say_what_is_missing() {
    let (_project, text) = usual();
    let document = CacheDocument::parse(&text).unwrap();
    let sections = FrameworkPreset::Isdlc.sections();
    let all = delivery(DeliveryMode::Full, &sections);
    let few = parts(&document, &DeliveryContext { entries: 4, ..all });
    assert_eq!(few.len(), 4);
    let last = &few[3].text;
    assert!(last.contains(&format!("needs {} parts, and 4 are registered", entries_needed(&document, &all))));
    assert!(last.contains("ROUNDTABLE_CONTEXT") && last.contains("`lockstep init`"));
    // A client with one limit for all entries gets one part.
    let copilot = DeliveryContext { limits: ClientLimits::of("copilot").unwrap(), ..all };
    assert_eq!(parts(&document, &copilot).len(), 1);
    assert!(parts(&document, &DeliveryContext { mode: DeliveryMode::Off, ..all }).is_empty());
}

#[test]
fn after_compaction_what_was_being_done_comes_first() {
    let names =
        ["INSTRUCTIONS", "TASK", "ACTIVE_WORK", "CONVENTIONS"].map(|name| SectionName::new(name).unwrap());
    let contents = names.clone().map(|name| SectionContent::Text(format!("{name}\n").repeat(400)));
    let header = CacheHeader::new(time(0), 1, &blake3_of(b""));
    let text = render(&header, names.iter().zip(&contents));
    let document = CacheDocument::parse(&text).unwrap();
    let sections = FrameworkPreset::Claude.sections();
    let order = |mode, source| -> Vec<String> {
        let delivery = DeliveryContext { source, ..delivery(mode, &sections) };
        let parts = parts(&document, &delivery);
        parts.iter().flat_map(|part| &part.carries).filter_map(|carried| carried.section.clone()).collect()
    };
    assert_eq!(order(DeliveryMode::Full, "startup"), ["INSTRUCTIONS", "TASK", "ACTIVE_WORK", "CONVENTIONS"]);
    assert_eq!(order(DeliveryMode::Full, "compact"), ["ACTIVE_WORK", "TASK", "INSTRUCTIONS", "CONVENTIONS"]);
    assert_eq!(order(DeliveryMode::Index, "startup"), ["INSTRUCTIONS", "TASK"]);
    assert_eq!(order(DeliveryMode::Index, "compact"), ["ACTIVE_WORK", "TASK"]);
}

#[test]
fn staleness_is_reported() {
    let (_project, text) = usual();
    let document = CacheDocument::parse(&text).unwrap();
    let sections = FrameworkPreset::Isdlc.sections();
    for mode in [DeliveryMode::Index, DeliveryMode::Full] {
        let stale = DeliveryContext {
            stale: Some("docs/isdlc/constitution.md changed"),
            ..delivery(mode, &sections)
        };
        let parts = parts(&document, &stale);
        assert!(
            parts.iter().all(|part| part.text.contains("It is stale: docs/isdlc/constitution.md changed."))
        );
    }
}

#[test]
fn a_subagent_gets_its_own_part_only() {
    let (_project, text) = usual();
    let document = CacheDocument::parse(&text).unwrap();
    let sections = FrameworkPreset::Isdlc.sections();
    let delivery = delivery(DeliveryMode::Index, &sections);
    for agent_type in [agent(3), format!("plugin:{}", agent(3))] {
        let part = subagent_part(&document, &delivery, &agent_type).unwrap();
        assert!(part.text.encode_utf16().count() <= 9_500);
        assert!(
            part.text.contains("\n\n## Agent: agent-03\n")
                && part.text.contains("### External Skill: external-3\n")
        );
        assert!(!part.text.contains("agent-04") && !part.text.contains("external-2"), "{}", part.text);
        assert!(part.text.contains("Text of an external skill, not of this project:\n### External"));
    }
    assert_eq!(subagent_part(&document, &delivery, "general-purpose"), None);
}

fn blake3_of(bytes: &[u8]) -> blake3::Hash {
    blake3::hash(bytes)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn parts_always_fit_and_are_the_cache(
        contents in prop::collection::vec(
            prop_oneof![
                (0usize..30_000, "[a-z😀é]{1,3}\n?").prop_map(|(n, line)| SectionContent::Text(line.repeat(n))),
                any::<String>().prop_map(SectionContent::Text),
                any::<String>().prop_map(SectionContent::Skipped),
            ],
            0..12,
        ),
        client in 0..LIMITS.len(),
        source in prop_oneof![Just("startup"), Just("compact")],
        stale in prop::option::of(".{0,400}"),
    ) {
        let names = ["TASK", "ACTIVE_WORK", "EXTERNAL_SKILLS"].map(str::to_owned).into_iter();
        let names: Vec<_> = names
            .chain((0..12).map(|n| format!("A_SECTION_WITH_QUITE_A_LONG_NAME_SO_THAT_LISTS_GET_LONG_{n}")))
            .map(|name| SectionName::new(&name).unwrap())
            .collect();
        let header = CacheHeader::new(time(0), 1, &blake3_of(b"x"));
        let text = render(&header, names.iter().zip(&contents));
        let document = CacheDocument::parse(&text).unwrap();
        let sections = FrameworkPreset::Isdlc.sections();
        let limits = &LIMITS[client];
        let base = DeliveryContext { limits, source, stale: stale.as_deref(), ..delivery(DeliveryMode::Index, &sections) };
        let index = parts(&document, &base);
        prop_assert_eq!(index.len(), 1);
        prop_assert!(limits.unit.count(&index[0].text) <= limits.part);
        let full = DeliveryContext { mode: DeliveryMode::Full, entries: 10_000, ..base };
        let all = parts(&document, &full);
        prop_assert!(all.iter().all(|part| limits.unit.count(&part.text) <= limits.part));
        if limits.client == "claude" {
            prop_assert_eq!(together(&text, &all), text.clone());
        } else {
            prop_assert_eq!(all.len(), 1);
        }
        let few = parts(&document, &DeliveryContext { entries: 2, ..full });
        prop_assert!(few.iter().all(|part| limits.unit.count(&part.text) <= limits.part) && few.len() <= 2);
        for (delivery, whole) in [(base, index), (full, all), (DeliveryContext { entries: 2, ..full }, few)] {
            let one_by_one: Vec<_> = (0..=whole.len() + 1).map(|n| part(&document, &delivery, n)).collect();
            let expected: Vec<_> = [None].into_iter().chain(whole.into_iter().map(Some)).chain([None]).collect();
            prop_assert_eq!(one_by_one, expected, "each part by its number");
        }
    }
}
