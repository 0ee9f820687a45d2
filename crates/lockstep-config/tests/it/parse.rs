//! Texts of a configuration file, whole and broken.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lockstep_config::diagnostic::render;
use lockstep_config::key_schema::all_keys;
use lockstep_config::keys::{AlertThreshold, JournalDirSetting, SweepTiming};
use lockstep_config::parse::MAX_BYTES;
use lockstep_config::steps::ExpectedOutcome;
use lockstep_config::{Config, LoadedConfig, Position, ValueOrigin, parse};
use lockstep_model::failure_policy::OnFailure;
use proptest::prelude::*;

fn rendered(loaded: &LoadedConfig) -> String {
    render(Path::new("lockstep.toml"), &loaded.problems)
}

#[test]
fn an_empty_file_is_all_defaults() {
    for text in ["", "\n", "# nothing\n", "\u{feff}", "[journal]\n[alert]\n"] {
        let loaded = parse(text);
        assert_eq!(loaded, LoadedConfig::default(), "{text:?}");
        assert_eq!(loaded.config.journal.dir, JournalDirSetting::System);
        assert_eq!(loaded.config.journal.sweep, SweepTiming::Bash);
        assert_eq!(loaded.config.journal.grace, Duration::from_secs(86_400));
        assert_eq!(loaded.config.alert.subagent, AlertThreshold::Any);
        assert_eq!(loaded.config.alert.lead, AlertThreshold::Breaking);
        assert_eq!(loaded.config.hooks.on_failure, OnFailure::Block);
    }
}

#[test]
fn every_key_applies_with_its_origin() {
    let loaded = parse(
        "[journal]\ndir = \"logs\"\nsweep = \"stop\"\ngrace = \"7d\"\n\n[alert]\nsubagent = \"off\"\n\
         lead = 'any'\n[hooks]\non_failure = \"\"\"allow\"\"\"\n",
    );
    assert_eq!(rendered(&loaded), "");
    let Config { journal, alert, hooks, .. } = &loaded.config;
    assert_eq!(journal.dir, JournalDirSetting::At("logs".into()));
    assert_eq!((journal.sweep, journal.grace), (SweepTiming::Stop, Duration::from_secs(7 * 86_400)));
    assert_eq!(
        (alert.subagent, alert.lead, hooks.on_failure),
        (AlertThreshold::Off, AlertThreshold::Any, OnFailure::Allow)
    );
    assert_eq!(loaded.origin("alert", "lead"), ValueOrigin::Line(8));
    // A key that was not written has its default, and its origin says so.
    let written =
        ["journal.dir", "journal.sweep", "journal.grace", "alert.subagent", "alert.lead", "hooks.on_failure"];
    for (setting, default) in loaded.settings().iter().zip(parse("").settings()) {
        let name = format!("{}.{}", setting.key.section, setting.key.name);
        match setting.origin {
            ValueOrigin::Default => assert_eq!(setting.value, default.value, "{name}"),
            _ => assert!(written.contains(&&*name), "{name}"),
        }
    }
}

#[test]
fn step_settings_are_parsed_and_listed() {
    let loaded = parse(
        "[steps]\ndir = \"docs/steps/\"\n[steps.evidence]\nRED_UNIT = \"fail\"\nGREEN = \"passs\"\n[audit]\ndir = \"logs\"\n",
    );
    assert_eq!(loaded.config.steps.dir.0, "docs/steps");
    assert_eq!(loaded.config.steps.evidence.0, [("RED_UNIT".to_owned(), ExpectedOutcome::Fail)].into());
    assert_eq!(loaded.config.audit.dir.resolve(Path::new("/p")), Some(PathBuf::from("/p/logs")));
    assert!(rendered(&loaded).contains("did you mean \"pass\"?"), "{}", rendered(&loaded));
    for dir in ["", "/etc", "../steps"] {
        assert_eq!(parse(format!("[steps]\ndir = {dir:?}\n")).problems.len(), 1, "{dir}");
    }
}

#[test]
fn all_ways_to_write_a_key_are_one() {
    for text in [
        "[journal]\nsweep = \"off\"\n",
        "journal.sweep = \"off\"\n",
        "journal = { sweep = \"off\" }\n",
        "\"journal\".'sweep' = \"off\"\n",
        "\u{feff}[ journal ]\r\n\tsweep=\"off\"\r\n",
        "[journal] # here\nsweep = \"off\" # there",
    ] {
        let loaded = parse(text);
        assert_eq!(rendered(&loaded), "", "{text:?}");
        assert_eq!(loaded.config.journal.sweep, SweepTiming::Off, "{text:?}");
        assert_ne!(loaded.origin("journal", "sweep"), ValueOrigin::Default, "{text:?}");
    }
}

#[test]
fn all_problems_are_reported_and_valid_keys_apply() {
    let loaded = parse(
        "sweep = \"off\"\ncolour = \"red\"\nhooks = true\n\n[jornal]\nx = 1\n\n[journal]\nswep = \"off\"\nlead = \"any\"\n\
         nonsense = 1\ngrace = 24\ndir = \"~/logs\"\nsweep = \"bsh\"\n\n[alert]\nsubagent = \"loud\"\nlead = \"off\"\n\
         subagents.x = 1\n[[warnings]]\n",
    );
    assert_eq!(loaded.config.alert.lead, AlertThreshold::Off);
    assert_eq!(loaded.origins.len(), 1);
    insta::assert_snapshot!(rendered(&loaded));
}

#[test]
fn rejects_invalid_durations_and_types() {
    let loaded = parse(
        "[journal]\ngrace = \"1 day\"\nsweep = [\"bash\"]\ndir = 1979-05-27\n[alert]\nlead = true\nsubagent = {}\n\
         [hooks]\non_failure = 1.5\n[journal.more]\n[[hooks.on]]\n",
    );
    assert_eq!(loaded.config, Config::default());
    insta::assert_snapshot!(rendered(&loaded));
}

#[test]
fn broken_toml_is_reported_by_line_and_the_rest_applies() {
    let loaded = parse(
        "[journal]\nsweep = off\ngrace =\ndir = \"logs\n[alert\nlead = \"any\"\n[hooks]\non_failure = \"allow\"\n\
         <<<<<<< HEAD\n[hooks]\non_failure = \"block\"\n",
    );
    assert_eq!(loaded.config.hooks.on_failure, OnFailure::Allow);
    assert_eq!(loaded.config.journal, Config::default().journal, "a broken line sets nothing");
    insta::assert_snapshot!(rendered(&loaded));
}

#[test]
fn a_duplicate_keeps_the_first_value() {
    let loaded = parse("[journal]\nsweep = \"stop\"\nsweep = \"off\"\n[journal]\ngrace = \"1h\"\n");
    assert_eq!(loaded.config.journal.sweep, SweepTiming::Stop);
    assert_eq!(loaded.config.journal.grace, Duration::from_secs(3600));
    insta::assert_snapshot!(rendered(&loaded));
}

#[test]
fn bytes_that_are_not_utf8_spoil_their_line_only() {
    let loaded =
        parse(b"# caf\xe9 \xff\n[journal]\ndir = \"/tmp/\xc3\xa4\xe9x\"\nsweep = \"off\"\n\xff = 1\n");
    assert_eq!(loaded.config.journal.dir, JournalDirSetting::System);
    assert_eq!(loaded.config.journal.sweep, SweepTiming::Off);
    insta::assert_snapshot!(rendered(&loaded));
}

#[test]
fn a_byte_order_mark_is_no_column() {
    let loaded = parse("\u{feff}swep = 1\n");
    assert_eq!(loaded.problems[0].at, Position { line: 1, column: 1 });
}

#[test]
fn a_huge_file_is_refused_unread() {
    let loaded = parse("# comment\n".repeat(MAX_BYTES));
    assert_eq!(loaded.config, Config::default());
    insta::assert_snapshot!(rendered(&loaded));
}

/// A text within the limit must not cost more than its length: every key of it is a problem here.
#[test]
fn every_problem_of_a_large_broken_file_is_reported() {
    let pairs = "x=1,".repeat(MAX_BYTES / 4 - 10);
    let loaded = parse(format!("journal = {{{pairs}}}"));
    assert!(loaded.problems.len() > 200_000);
    let keys: String = (0..60_000).map(|n| format!("k{n}=0\n")).collect();
    assert!(parse(format!("[journal]\n{keys}?")).problems.len() > 60_000);
}

#[test]
fn deep_nesting_is_a_problem_not_a_crash() {
    for text in ["a = ".to_owned() + &"[".repeat(100_000), "a = ".to_owned() + &"{a=".repeat(100_000)] {
        assert!(!parse(text).problems.is_empty());
    }
}

#[test]
fn a_problem_fits_on_one_line() {
    let loaded = parse("[journal]\nswep = \"off\"\n");
    insta::assert_snapshot!(loaded.problems[0].to_string(), @"line 2, column 1: unknown key `swep` in [journal] (what is not known would be ignored silently, so it is refused); did you mean `sweep`?");
}

#[test]
fn journal_dir_resolves_below_the_root() {
    let (root, system) = (Path::new("/project"), Path::new("/var/tmp"));
    for (text, expected) in
        [("", "/var/tmp"), ("logs", "/project/logs"), ("../logs/.", "/logs"), ("/var/log", "/var/log")]
    {
        let loaded = parse(format!("[journal]\ndir = \"{text}\"\n"));
        assert_eq!(loaded.config.journal.dir.resolve(root, system), PathBuf::from(expected));
    }
}

/// Generates texts that are close to a configuration: its own words, TOML's signs, and noise.
fn near_toml() -> impl Strategy<Value = String> {
    let words: Vec<String> = all_keys()
        .flat_map(|key| [key.section.to_owned(), key.name.to_owned(), key.default_toml()])
        .chain(
            [
                "[", "]", "{", "}", "=", ".", ",", "\"", "'", "\"\"\"", "#", "\n", "\r\n", " ", "\u{feff}",
                "\\u00e4", "<<<<<<<",
            ]
            .map(str::to_owned),
        )
        .collect();
    let word = prop_oneof![4 => proptest::sample::select(words), 1 => any::<String>()];
    proptest::collection::vec(word, 0..40).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_text_panics_and_problems_have_places(text in near_toml()) {
        let loaded = parse(&text);
        let lines = text.split('\n').count();
        for problem in &loaded.problems {
            prop_assert!((1..=lines).contains(&problem.at.line), "{problem}");
            prop_assert!(!problem.what.is_empty() && !problem.why.is_empty() && !problem.fix.is_empty());
        }
        prop_assert!(loaded.problems.is_sorted_by_key(|problem| problem.at));
        for set in &loaded.origins {
            prop_assert!((1..=lines).contains(&set.line));
        }
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let loaded = parse(&bytes);
        prop_assert!(std::str::from_utf8(&bytes).is_ok() || !loaded.problems.is_empty());
    }

    #[test]
    fn a_key_alone_round_trips(
        key in proptest::sample::select(all_keys().collect::<Vec<_>>()),
        word in proptest::sample::select(vec!["bash", "stop", "off", "any", "breaking", "block", "allow", "1h", "90s", "a/b", "", "ä \\\" b"]),
    ) {
        let loaded = parse(format!("[{}]\n{} = \"{word}\"\n", key.section, key.name));
        prop_assert_eq!(loaded.problems.len() + loaded.origins.len(), 1);
        let written = format!("[{}]\n{} = {}\n", key.section, key.name, key.value_toml(&loaded.config));
        let again = parse(written);
        prop_assert_eq!(&again.problems, &[]);
        prop_assert_eq!(again.config, loaded.config);
    }
}

#[test]
fn tables_of_the_users_naming_apply_however_they_are_written() {
    let texts = [
        "[task.agents.reviewer]\ncreate = \"task\"\nupdate = [\"constraints\", \"metrics when PASS\"]\nfork = true\n",
        "[task]\nagents.reviewer = { create = \"task\", update = [\"constraints\", \"metrics when PASS\"], fork = true }\n",
        "task.agents = { reviewer = { fork = true, create = 'task', update = [\n\"constraints\",\n\"metrics when PASS\"] } }",
    ];
    for text in texts {
        let loaded = parse(text);
        assert_eq!(rendered(&loaded), "", "{text}");
        let rule = &loaded.config.task.agents["reviewer"];
        assert_eq!((rule.update.len(), rule.fork), (2, true), "{text}");
        assert_ne!(loaded.origin("task", "agents"), ValueOrigin::Default);
        let again = parse(format!("[task]\nagents = {}\n", {
            all_keys().find(|key| key.name == "agents").unwrap().value_toml(&loaded.config)
        }));
        assert_eq!(again.config, loaded.config);
    }
    let loaded = parse(
        "[task.skills.\"my skill\"]\nphases = [\"P7\"]\nwrites = [\"metrics\"]\nmust_read = [\"user_intent\"]\n",
    );
    assert_eq!(rendered(&loaded), "");
    assert_eq!(loaded.config.task.skills["my skill"].grants().len(), 2);
}

#[test]
fn table_problems_have_positions_and_other_keys_apply() {
    let loaded = parse(
        "[task]\nmax_bytes = 12\nl2_path = \"../{phase}/x.md\"\nevents = \"\"\n\n[task.agents.reviewer]\nupdates = [\"*\"]\n\
         create = \"tsak\"\nupdate = [\"a..b\"]\nfork = \"yes\"\n\n[task.agents]\nplain = 3\n\n[task.skills.s]\nphases = [\"P10\"]\n\
         writes = \"metrics\"\nnonsense = 1\nmust_read = [\"user_intent\"]\n\n[task.agent.x]\nfork = true\n",
    );
    assert_eq!(loaded.config.task.skills["s"].must_read, ["user_intent"]);
    insta::assert_snapshot!(rendered(&loaded));
}

#[test]
fn the_l2_path_stays_in_the_project_and_its_placeholders_are_known() {
    for (text, fine) in [
        ("work/{session-id}/{N}-{coordinator}.md", true),
        ("L2.md", true),
        ("/abs/L2.md", false),
        ("a/../../L2.md", false),
        ("{phase}/L2.md", false),
        ("{N/L2.md", false),
        ("", false),
    ] {
        assert_eq!(parse(format!("[task]\nl2_path = '{text}'\n")).problems.is_empty(), fine, "{text:?}");
    }
}

#[test]
fn sections_of_the_cache_are_a_list_of_tables() {
    let texts = [
        "[[cache.section]]\nname = \"RULES\"\nsource = \"a.md\"\n\n[[cache.section]]\nname = \"MORE\"\nstrategy = \"json\"\n\
         source = [\"b.json\", \"c.json\"]\npriority = 2\n",
        "[cache]\nsection = [{ name = \"RULES\", source = [\"a.md\"] }, { name = \"MORE\", strategy = \"json\", \
         source = [\"b.json\", \"c.json\"], priority = 2 }]\n",
    ];
    for text in texts {
        let loaded = parse(text);
        assert_eq!(rendered(&loaded), "", "{text}");
        let [rules, more] = &loaded.config.cache.section[..] else { panic!("{:?}", loaded.config.cache) };
        assert_eq!(
            (rules.name.0.as_str(), rules.source.0.as_slice(), rules.priority.0),
            ("RULES", &["a.md".to_owned()][..], 9)
        );
        assert_eq!((more.source.0.len(), more.priority.0), (2, 2));
        let key = all_keys().find(|key| key.name == "section").unwrap();
        let again = parse(format!("[cache]\nsection = {}\n", key.value_toml(&loaded.config)));
        assert_eq!(again.config, loaded.config);
    }
}

#[test]
fn all_cache_problems_are_reported_together() {
    let loaded = parse(
        "[cache]\nbudget = 5\nbudget_chars = 12\ndeliver = \"indx\"\npreset = \"isdl\"\npath = 3\nconventions = [1]\n\n\
         [[cache.section]]\nname = 4\nsorce = \"a\"\nstrategy = \"skil-index\"\npriority = 0\n\n[cache.sections]\n",
    );
    insta::assert_snapshot!(rendered(&loaded));
}
