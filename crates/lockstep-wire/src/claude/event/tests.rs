//! Events of the client, from bytes to model.

use std::path::Path;

use lockstep_model::event::{EditHunk, Replacement};
use proptest::prelude::*;

use super::*;
use crate::claude::samples;

fn event(json: &str) -> Event {
    parse(json.as_bytes()).unwrap()
}

#[test]
fn every_recorded_payload_is_an_event_of_its_name() {
    for (file, json) in samples::ALL {
        let event = event(json);
        assert!(event.session.is_ok(), "{file}");
        assert_eq!(event.cwd.as_deref(), Some(Path::new("/repo")), "{file}");
        let named = json.contains(&format!("\"hook_event_name\": \"{}\"", event.kind.name()));
        assert!(named, "{file} became {:?}", event.kind);
    }
}

#[test]
fn an_edit_inside_a_subagent() {
    let event = event(samples::POST_TOOL_USE_EDIT_IN_SUBAGENT);
    assert_eq!(
        event.actor,
        Actor::Subagent {
            id: AgentId::new("a0c6fe70d0852012e").unwrap(),
            agent_type: Some("implementer".to_owned()),
        }
    );
    assert_eq!(
        event.kind,
        EventKind::PostToolUse {
            call: ToolCall {
                id: ToolUseId::new("toolu_272536dcfd7d413a92575f91"),
                tool: ToolUse::File {
                    tool: ChangeTool::Edit,
                    path: Some("/repo/a.py".into()),
                    former: Some(OriginalContent::Text("def hello(): pass\n".to_owned())),
                    undo: Undo {
                        hunks: vec![EditHunk {
                            new_start: 1,
                            lines: vec!["-def hello(): pass".to_owned(), "+def greet(): pass".to_owned()],
                        }],
                        replacements: vec![Replacement {
                            old: "hello".to_owned(),
                            new: "greet".to_owned(),
                            all: false,
                        }],
                    },
                },
            },
            outcome: ToolOutcome::Succeeded,
        }
    );
}

#[test]
fn distinguishes_null_from_missing_original_file() {
    for (response, expected) in [
        (r#"{"originalFile":null}"#, Some(OriginalContent::Absent)),
        (r#"{"originalFile":"x\n"}"#, Some(OriginalContent::Text("x\n".to_owned()))),
        (r#"{"originalFile":7}"#, None),
        ("{}", None),
    ] {
        let json =
            format!(r#"{{"hook_event_name":"PostToolUse","tool_name":"Write","tool_response":{response}}}"#);
        let EventKind::PostToolUse { call, .. } = event(&json).kind else { panic!("PostToolUse") };
        let ToolUse::File { former, .. } = call.tool else { panic!("File") };
        assert_eq!(former, expected, "{response}");
    }
}

#[test]
fn edit_that_replaced_a_text_did_not_create_the_file() {
    for (input, expected) in [
        (r#"{"old_string":"a","new_string":"b"}"#, None),
        (r#"{"old_string":"","new_string":"b"}"#, Some(OriginalContent::Absent)),
    ] {
        let json = format!(
            r#"{{"hook_event_name":"PostToolUse","tool_name":"Edit","tool_input":{input},"tool_response":{{"originalFile":null}}}}"#
        );
        let EventKind::PostToolUse { call, .. } = event(&json).kind else { panic!("PostToolUse") };
        let ToolUse::File { former, .. } = call.tool else { panic!("File") };
        assert_eq!(former, expected, "{input}");
    }
}

#[test]
fn both_names_of_the_agent_tool() {
    for (json, background) in [
        (samples::POST_TOOL_USE_AGENT, false),
        (samples::POST_TOOL_USE_AGENT_BACKGROUND, true),
        (samples::OLD_POST_TOOL_USE_TASK, false),
    ] {
        let EventKind::PostToolUse { call, .. } = event(json).kind else { panic!("PostToolUse") };
        let ToolUse::Agent { agent_type, background: seen, .. } = call.tool else { panic!("Agent") };
        assert_eq!((agent_type.as_deref(), seen), (Some("implementer"), background));
    }
}

#[test]
fn agents_of_our_plugin_are_known_by_their_names_and_no_others() {
    for (output, known) in [
        ("lockstep:pt-manager", "pt-manager"),
        ("pt-manager", "pt-manager"),
        ("other:pt-manager", "other:pt-manager"),
        ("other:lockstep:pt-manager", "other:lockstep:pt-manager"),
    ] {
        let json = samples::SUBAGENT_STOP.replace("\"implementer\"", &format!("{output:?}"));
        let Actor::Subagent { agent_type, .. } = event(&json).actor else { panic!("a subagent") };
        assert_eq!(agent_type.as_deref(), Some(known));
        let json = samples::PRE_TOOL_USE_AGENT.replace("\"implementer\"", &format!("{output:?}"));
        let EventKind::PreToolUse(call) = event(&json).kind else { panic!("PreToolUse") };
        let ToolUse::Agent { agent_type, .. } = call.tool else { panic!("Agent") };
        assert_eq!(agent_type.as_deref(), Some(known));
    }
}

#[test]
fn a_notebook_is_known_by_its_own_path_field() {
    let EventKind::PostToolUse { call, .. } = event(samples::POST_TOOL_USE_NOTEBOOK_EDIT).kind else {
        panic!("PostToolUse")
    };
    assert_eq!(
        call.tool,
        ToolUse::File {
            tool: ChangeTool::NotebookEdit,
            path: Some("/repo/n.ipynb".into()),
            former: None,
            undo: Undo::default()
        }
    );
}

#[test]
fn only_an_explicit_false_is_a_failure() {
    let with = |response: &str| {
        let json =
            format!(r#"{{"hook_event_name":"PostToolUse","tool_name":"Edit","tool_response":{response}}}"#);
        let EventKind::PostToolUse { outcome, .. } = event(&json).kind else { panic!("PostToolUse") };
        outcome
    };
    for fine in ["{}", r#"{"success":true}"#, r#"{"success":null}"#, r#"{"success":"no"}"#, "[1]", r#""ok""#]
    {
        assert_eq!(with(fine), ToolOutcome::Succeeded, "{fine}");
    }
    assert_eq!(with(r#"{"success":false}"#), ToolOutcome::Failed);
}

#[test]
fn parses_stop_events_of_old_and_new_clients() {
    let new = event(samples::SUBAGENT_STOP);
    assert!(new.actor.agent_id().is_some());
    let own = "5f0c2f4e-6a1b-4a53-9d0e-1c2b3a4d5e6f/subagents/agent-a0c6fe70d0852012e.jsonl";
    assert!(new.transcript.unwrap().ends_with(own));
    assert!(matches!(new.kind, EventKind::SubagentStop(StopEvent { already_continued: false })));
    let old = event(samples::OLD_SUBAGENT_STOP);
    assert_eq!(old.actor, Actor::Lead);
    assert!(matches!(old.kind, EventKind::SubagentStop(_)));
    let tool = event(samples::PRE_TOOL_USE_EDIT_IN_SUBAGENT);
    assert!(tool.transcript.unwrap().ends_with(own), "it follows from the session's");
}

#[test]
fn unknown_values_stay_text_and_wrong_types_are_absent() {
    assert_eq!(
        event(r#"{"hook_event_name":"SomethingNew","x":1}"#).kind,
        EventKind::Other("SomethingNew".to_owned())
    );
    let start = event(r#"{"hook_event_name":"SessionStart","source":"teleport","session_id":7,"cwd":[]}"#);
    assert_eq!(start.kind, EventKind::SessionStart { source: "teleport".to_owned() });
    assert_eq!((start.session, start.cwd), (Err(SessionIdError::Empty), None));
    let sweep = event(r#"{"hook_event_name":"PreToolUse","tool_name":"Sweep","tool_input":3}"#);
    let EventKind::PreToolUse(call) = sweep.kind else { panic!("PreToolUse") };
    assert_eq!(call.tool, ToolUse::Other("Sweep".to_owned()));
}

#[test]
fn invalid_event_is_refused_with_a_reason() {
    for (bytes, why) in [
        (&b""[..], "empty"),
        (b" \n", "empty"),
        (b"{", "not a JSON object"),
        (b"[]", "not a JSON object"),
        (b"{\"hook_event_name\":\"Stop\",\"cwd\":1,\"cwd\":2}", "not a JSON object"),
        (b"{}", "no `hook_event_name`"),
        (b"{\"hook_event_name\":3}", "no `hook_event_name`"),
    ] {
        let error = parse(bytes).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

const COMMIT: &str = r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"git commit"}}"#;

fn command_of(bytes: &[u8]) -> Option<String> {
    let EventKind::PreToolUse(call) = parse(bytes).ok()?.kind else { return None };
    let ToolUse::Bash { command, .. } = call.tool else { return None };
    Some(command)
}

#[test]
fn commands_are_read_in_every_encoding_and_form() {
    let utf16: Vec<u8> = COMMIT.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [
        COMMIT.as_bytes().to_vec(),
        [b"\xef\xbb\xbf", COMMIT.as_bytes()].concat(),
        [&b"\xff\xfe"[..], &utf16].concat(),
        COMMIT.replace("\"git commit\"", r#"["git","commit"]"#).into_bytes(),
        COMMIT.replace("\"git commit\"", r#"["git commit"]"#).into_bytes(),
        COMMIT.replace(r#"{"command":"git commit"}"#, r#""{\"command\":\"git commit\"}""#).into_bytes(),
    ] {
        assert_eq!(command_of(&bytes).as_deref(), Some("git commit"), "{}", String::from_utf8_lossy(&bytes));
    }
    let list = COMMIT.replace("\"git commit\"", r#"["sh","-c","git commit"]"#);
    assert_eq!(command_of(list.as_bytes()).as_deref(), Some("'sh' '-c' 'git commit'\nsh -c git commit"));
    for (name, other) in
        [("Bash", "bash"), ("Bash", " Bash"), ("Bash", "Bash\\ud800"), ("PreToolUse", "pretooluse")]
    {
        assert_eq!(
            command_of(COMMIT.replace(name, other).as_bytes()).as_deref(),
            Some("git commit"),
            "{other}"
        );
    }
    for other in ["mcp__Bash", "BashOutput", "Bash:x", "Bäsh"] {
        assert_eq!(command_of(COMMIT.replace("Bash", other).as_bytes()), None, "{other}");
    }
    let surrogate = COMMIT.replace("commit\"", r#"commit -m \ud800""#);
    assert_eq!(command_of(surrogate.as_bytes()).as_deref(), Some("git commit -m \u{fffd}"));
    let control = COMMIT.replace("git commit", "git\tcommit\u{1}");
    assert_eq!(command_of(control.as_bytes()).as_deref(), Some("git\tcommit\u{1}"));
}

#[test]
fn unclear_calls_are_errors_and_not_other_calls() {
    for json in [
        COMMIT.replace("\"git commit\"", "7"),
        COMMIT.replace("\"git commit\"", "null"),
        COMMIT.replace("\"command\"", "\"Command\""),
        COMMIT.replace("\"command\"", "\"comm\\ud800and\""),
        COMMIT.replace(r#"{"command":"git commit"}"#, "null"),
        COMMIT.replace(r#","tool_input":{"command":"git commit"}"#, ""),
        COMMIT.replace("\"Bash\"", "null"),
        COMMIT.replace("\"Bash\"", "[\"Bash\"]"),
        COMMIT.replace("Bash", "Write"),
        COMMIT.replace("Bash", "Agent"),
        COMMIT.replace("\"git commit\"", r#"["git",1]"#),
        COMMIT.replace("\"git commit\"", r#"{"x":"git commit"}"#),
        COMMIT.replace("\"git commit\"", r#""git commit","command":"ls""#),
        COMMIT.replace(r#"{"command":"git commit"}"#, r#""git commit""#),
        COMMIT.replace(r#"{"command":"git commit"}"#, r#"["git commit"]"#),
        COMMIT.replace("\"tool_name\"", "\"tool_name\":\"Read\",\"tool_name\""),
        format!("{COMMIT} x"),
        format!("{COMMIT}{COMMIT}"),
        COMMIT[..COMMIT.len() - 9].to_owned(),
    ] {
        assert!(parse(json.as_bytes()).is_err(), "{json}");
    }
}

#[test]
fn agents_without_a_proper_id_are_not_the_lead() {
    let actor = |fields: &str| event(&format!(r#"{{"hook_event_name":"Stop",{fields}"x":1}}"#)).actor;
    for id in ["\"\"", "7", "[]", "{}", "true", "\"\\ud800\""] {
        assert!(actor(&format!("\"agent_id\":{id},")).agent_id().is_some(), "{id}");
    }
    let named = r#""agent_type":"implementer","#;
    assert!(actor(&format!("\"agent_id\":null,{named}")).agent_id().is_some());
    assert_eq!(actor("\"agent_id\":null,"), Actor::Lead);
    assert_eq!(actor(named), Actor::Lead, "a session that was started with --agent");
    assert_eq!(actor(""), Actor::Lead);
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse(&bytes);
    }

    /// Real payloads with a damaged stretch reach deeper than arbitrary bytes do.
    #[test]
    fn no_damaged_payload_panics(
        which in 0..samples::ALL.len(), at in 0.0..1.0_f64,
        junk in proptest::collection::vec(any::<u8>(), 0..12), drop in 0_usize..40,
    ) {
        let mut bytes = samples::ALL[which].1.as_bytes().to_vec();
        let from = (at * bytes.len() as f64) as usize;
        let to = (from + drop).min(bytes.len());
        bytes.splice(from..to, junk);
        if let Ok(event) = parse(&bytes) {
            prop_assert!(!event.kind.name().is_empty() || matches!(event.kind, EventKind::Other(_)));
        }
    }
}
