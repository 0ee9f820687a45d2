//! Claude Code's event JSON. Every field is optional and read on its own: one field of an unexpected type is absent,
//! it does not spoil the event.

use std::path::PathBuf;

use lockstep_model::change::ChangeTool;
use lockstep_model::event::{Actor, Event, EventKind, Former, Outcome, Stop, Tool, ToolCall, Undo};
use lockstep_model::ids::{AgentId, InvalidSessionId, SessionId, ToolUseId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{edits, task_list};
use crate::WireError;

/// The fields Lockstep reads, still unparsed. What a tool took and gave can be megabytes: it is skipped over, and
/// only the tools we look at have theirs parsed.
#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow, default)]
    hook_event_name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    session_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cwd: Option<&'a RawValue>,
    #[serde(borrow, default)]
    transcript_path: Option<&'a RawValue>,
    #[serde(borrow, default)]
    agent_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    agent_type: Option<&'a RawValue>,
    #[serde(borrow, default)]
    agent_transcript_path: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_use_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_response: Option<&'a RawValue>,
    #[serde(borrow, default)]
    source: Option<&'a RawValue>,
    #[serde(borrow, default)]
    reason: Option<&'a RawValue>,
    #[serde(borrow, default)]
    trigger: Option<&'a RawValue>,
    #[serde(borrow, default)]
    prompt: Option<&'a RawValue>,
    #[serde(borrow, default)]
    stop_hook_active: Option<&'a RawValue>,
}

/// Reads one event.
pub fn parse(bytes: &[u8]) -> Result<Event, WireError> {
    match bytes.trim_ascii_start().first() {
        None => return Err(WireError::Empty),
        Some(b'{') => {}
        // serde would take an array as the fields in order.
        Some(_) => return Err(WireError::NotAnObject),
    }
    let fields: Fields<'_> = serde_json::from_slice(bytes).map_err(WireError::Json)?;
    let name = text(fields.hook_event_name).ok_or(WireError::NoName)?;
    Ok(Event {
        session: text(fields.session_id).ok_or(InvalidSessionId::Empty).and_then(|id| SessionId::new(&id)),
        cwd: text(fields.cwd).map(PathBuf::from),
        transcript: transcript(&fields),
        actor: actor(&fields),
        kind: kind(name, &fields),
    })
}

fn kind(name: String, fields: &Fields<'_>) -> EventKind {
    match name.as_str() {
        "SessionStart" => EventKind::SessionStart { source: text(fields.source).unwrap_or_default() },
        "SessionEnd" => EventKind::SessionEnd { reason: text(fields.reason).unwrap_or_default() },
        "UserPromptSubmit" => EventKind::UserPromptSubmit { prompt: text(fields.prompt).unwrap_or_default() },
        "PreToolUse" => EventKind::PreToolUse(tool_call(fields)),
        "PostToolUse" => EventKind::PostToolUse { call: tool_call(fields), outcome: outcome(fields) },
        "SubagentStart" => EventKind::SubagentStart,
        "SubagentStop" => EventKind::SubagentStop(stop(fields)),
        "Stop" => EventKind::Stop(stop(fields)),
        "PreCompact" => EventKind::PreCompact { trigger: text(fields.trigger).unwrap_or_default() },
        _ => EventKind::Other(name),
    }
}

/// What the client puts before the names of our plugin's agents.
const OUR_PLUGIN: &str = "lockstep:";

fn actor(fields: &Fields<'_>) -> Actor {
    match text(fields.agent_id).and_then(|id| AgentId::new(&id)) {
        Some(id) => Actor::Subagent { id, agent_type: agent_type(fields.agent_type) },
        None => Actor::Lead,
    }
}

/// An agent's type. The client calls an agent of a plugin `PLUGIN:NAME`; those of our own are known everywhere by their names, as
/// the same agents in a project's `.claude/agents` are. Another plugin's keep their prefix: a name is no claim to its rights.
fn agent_type(raw: Option<&RawValue>) -> Option<String> {
    let name = text(raw)?;
    Some(name.strip_prefix(OUR_PLUGIN).map(str::to_owned).unwrap_or(name))
}

/// The transcript of whoever acts. Tool events name only the session's; a subagent's lies beside it.
fn transcript(fields: &Fields<'_>) -> Option<PathBuf> {
    let session = text(fields.transcript_path).map(PathBuf::from);
    match text(fields.agent_id).and_then(|id| AgentId::new(&id)) {
        None => session,
        Some(agent) => {
            let own = text(fields.agent_transcript_path).map(PathBuf::from);
            own.or_else(|| Some(super::transcript::of_subagent(&session?, &agent)))
        }
    }
}

fn stop(fields: &Fields<'_>) -> Stop {
    Stop { already_continued: value(fields.stop_hook_active).unwrap_or(false) }
}

/// What we use of the input of the tools we look at.
#[derive(Deserialize)]
struct ToolInput<'a> {
    #[serde(borrow, default)]
    file_path: Option<&'a RawValue>,
    #[serde(borrow, default)]
    notebook_path: Option<&'a RawValue>,
    #[serde(borrow, default)]
    command: Option<&'a RawValue>,
    #[serde(borrow, default)]
    subagent_type: Option<&'a RawValue>,
    #[serde(borrow, default)]
    prompt: Option<&'a RawValue>,
    #[serde(borrow, default)]
    run_in_background: Option<&'a RawValue>,
    #[serde(borrow, default)]
    old_string: Option<&'a RawValue>,
    #[serde(borrow, default)]
    new_string: Option<&'a RawValue>,
    #[serde(borrow, default)]
    replace_all: Option<&'a RawValue>,
    #[serde(borrow, default)]
    edits: Option<&'a RawValue>,
}

impl<'a> ToolInput<'a> {
    /// The replacements of `Edit`, or of `MultiEdit`.
    fn edits(&self) -> edits::Given<'a> {
        edits::Given {
            old: self.old_string,
            new: self.new_string,
            all: self.replace_all,
            several: self.edits,
        }
    }
}

fn tool_call(fields: &Fields<'_>) -> ToolCall {
    let name = text(fields.tool_name).unwrap_or_default();
    let id = text(fields.tool_use_id).and_then(|id| ToolUseId::new(&id));
    if let Some(call) = task_list::call(&name, fields.tool_input, fields.tool_response) {
        return ToolCall { id, tool: Tool::TaskList(call) };
    }
    let input: Option<ToolInput<'_>> = fields.tool_input.and_then(|raw| serde_json::from_str(raw.get()).ok());
    ToolCall { id, tool: tool(name, input.as_ref(), fields.tool_response) }
}

fn tool(name: String, input: Option<&ToolInput<'_>>, response: Option<&RawValue>) -> Tool {
    let of = |pick: fn(&ToolInput<'_>) -> Option<String>| input.and_then(pick);
    match (name.as_str(), ChangeTool::from_name(&name)) {
        // `Sweep` is our own word for a change no tool reported; a client's tool of that name is not ours.
        (_, Some(tool)) if tool != ChangeTool::Sweep => Tool::File {
            tool,
            path: of(|i| text(i.file_path).or_else(|| text(i.notebook_path)))
                .filter(|path| !path.is_empty())
                .map(PathBuf::from),
            former: former(response),
            undo: input.map_or_else(Undo::default, |input| edits::undo(input.edits(), response)),
        },
        ("Bash", _) => Tool::Bash {
            command: of(|i| text(i.command)).unwrap_or_default(),
            edited: edits::of_command(response),
        },
        ("Agent" | "Task", _) => Tool::Agent {
            agent_type: of(|i| agent_type(i.subagent_type)),
            prompt: of(|i| text(i.prompt)).unwrap_or_default(),
            background: input.and_then(|i| value(i.run_in_background)).unwrap_or(false),
        },
        _ => Tool::Other(name),
    }
}

#[derive(Deserialize)]
struct ToolResponse<'a> {
    #[serde(borrow, default)]
    success: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct WrittenFile<'a> {
    #[serde(borrow, default, rename = "originalFile", deserialize_with = "even_null")]
    original: Option<&'a RawValue>,
}

/// A field that is there, even if it is `null`: serde takes that for a missing one.
fn even_null<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// What a file was before: `null` where it did not exist, nothing where the client does not say.
fn former(response: Option<&RawValue>) -> Option<Former> {
    let written: WrittenFile<'_> = serde_json::from_str(response?.get()).ok()?;
    let original: Option<String> = serde_json::from_str(written.original?.get()).ok()?;
    Some(original.map_or(Former::Absent, Former::Text))
}

/// Only an explicit `success: false` is a failure: the client leaves the field out when all went well.
fn outcome(fields: &Fields<'_>) -> Outcome {
    let response: Option<ToolResponse<'_>> =
        fields.tool_response.and_then(|raw| serde_json::from_str(raw.get()).ok());
    match response.and_then(|r| value(r.success)) {
        Some(false) => Outcome::Failed,
        _ => Outcome::Succeeded,
    }
}

pub(super) fn text(raw: Option<&RawValue>) -> Option<String> {
    value(raw)
}

pub(super) fn value<T: DeserializeOwned>(raw: Option<&RawValue>) -> Option<T> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
}

#[cfg(test)]
mod tests {
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
                    tool: Tool::File {
                        tool: ChangeTool::Edit,
                        path: Some("/repo/a.py".into()),
                        former: Some(Former::Text("def hello(): pass\n".to_owned())),
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
                outcome: Outcome::Succeeded,
            }
        );
    }

    #[test]
    fn a_file_that_did_not_exist_is_told_from_one_nobody_speaks_of() {
        for (response, expected) in [
            (r#"{"originalFile":null}"#, Some(Former::Absent)),
            (r#"{"originalFile":"x\n"}"#, Some(Former::Text("x\n".to_owned()))),
            (r#"{"originalFile":7}"#, None),
            ("{}", None),
        ] {
            let json = format!(
                r#"{{"hook_event_name":"PostToolUse","tool_name":"Write","tool_response":{response}}}"#
            );
            let EventKind::PostToolUse { call, .. } = event(&json).kind else { panic!("PostToolUse") };
            let Tool::File { former, .. } = call.tool else { panic!("File") };
            assert_eq!(former, expected, "{response}");
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
            let Tool::Agent { agent_type, background: seen, .. } = call.tool else { panic!("Agent") };
            assert_eq!((agent_type.as_deref(), seen), (Some("implementer"), background));
        }
    }

    #[test]
    fn agents_of_our_plugin_are_known_by_their_names_and_no_others() {
        for (told, known) in [
            ("lockstep:pt-manager", "pt-manager"),
            ("pt-manager", "pt-manager"),
            ("other:pt-manager", "other:pt-manager"),
            ("other:lockstep:pt-manager", "other:lockstep:pt-manager"),
        ] {
            let json = samples::SUBAGENT_STOP.replace("\"implementer\"", &format!("{told:?}"));
            let Actor::Subagent { agent_type, .. } = event(&json).actor else { panic!("a subagent") };
            assert_eq!(agent_type.as_deref(), Some(known));
            let json = samples::PRE_TOOL_USE_AGENT.replace("\"implementer\"", &format!("{told:?}"));
            let EventKind::PreToolUse(call) = event(&json).kind else { panic!("PreToolUse") };
            let Tool::Agent { agent_type, .. } = call.tool else { panic!("Agent") };
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
            Tool::File {
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
            let json = format!(
                r#"{{"hook_event_name":"PostToolUse","tool_name":"Edit","tool_response":{response}}}"#
            );
            let EventKind::PostToolUse { outcome, .. } = event(&json).kind else { panic!("PostToolUse") };
            outcome
        };
        for fine in
            ["{}", r#"{"success":true}"#, r#"{"success":null}"#, r#"{"success":"no"}"#, "[1]", r#""ok""#]
        {
            assert_eq!(with(fine), Outcome::Succeeded, "{fine}");
        }
        assert_eq!(with(r#"{"success":false}"#), Outcome::Failed);
    }

    #[test]
    fn stops_old_and_new() {
        let new = event(samples::SUBAGENT_STOP);
        assert!(new.actor.agent_id().is_some());
        let own = "5f0c2f4e-6a1b-4a53-9d0e-1c2b3a4d5e6f/subagents/agent-a0c6fe70d0852012e.jsonl";
        assert!(new.transcript.unwrap().ends_with(own));
        assert!(matches!(new.kind, EventKind::SubagentStop(Stop { already_continued: false })));
        let old = event(samples::OLD_SUBAGENT_STOP);
        assert_eq!(old.actor, Actor::Lead);
        assert!(matches!(old.kind, EventKind::SubagentStop(_)));
        let tool = event(samples::PRE_TOOL_USE_EDIT_IN_SUBAGENT);
        assert!(tool.transcript.unwrap().ends_with(own), "it follows from the session's");
    }

    #[test]
    fn unknown_things_are_kept_as_text_and_wrong_types_are_absent() {
        assert_eq!(
            event(r#"{"hook_event_name":"SomethingNew","x":1}"#).kind,
            EventKind::Other("SomethingNew".to_owned())
        );
        let start =
            event(r#"{"hook_event_name":"SessionStart","source":"teleport","session_id":7,"cwd":[]}"#);
        assert_eq!(start.kind, EventKind::SessionStart { source: "teleport".to_owned() });
        assert_eq!((start.session, start.cwd), (Err(InvalidSessionId::Empty), None));
        let sweep = event(r#"{"hook_event_name":"PreToolUse","tool_name":"Sweep","tool_input":3}"#);
        let EventKind::PreToolUse(call) = sweep.kind else { panic!("PreToolUse") };
        assert_eq!(call.tool, Tool::Other("Sweep".to_owned()));
    }

    #[test]
    fn what_is_no_event_says_why() {
        for (bytes, why) in [
            (&b""[..], "empty"),
            (b" \n", "empty"),
            (b"{", "not a JSON object"),
            (b"[]", "not a JSON object"),
            (b"{\"hook_event_name\":\"\xff\"}", "not a JSON object"),
            (b"{}", "no `hook_event_name`"),
            (b"{\"hook_event_name\":3}", "no `hook_event_name`"),
        ] {
            let error = parse(bytes).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
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
}
