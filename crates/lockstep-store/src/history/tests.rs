//! Importing journals and reading changes back.

use super::*;
use crate::StateDir;

struct Fixture {
    _dir: tempfile::TempDir,
    journal: JournalDir,
    store: Store,
    session: SessionId,
}

impl Fixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self {
            journal: JournalDir::new(dir.path().join("tmp")),
            store: Store::open(&StateDir::for_project(dir.path())).unwrap(),
            session: SessionId::new("s").unwrap(),
            _dir: dir,
        }
    }

    fn read(&mut self) -> Vec<RecordedChange> {
        self.store.import_journal(&self.journal, &self.session, &|_| true).unwrap();
        self.store.changes(&ChangeFilter::default()).unwrap()
    }
}

fn line(tool: &str, path: &str, agent: Option<&str>) -> JournalLine {
    JournalLine {
        at: "2026-02-14T15:30:42+09:00".to_owned(),
        tool: tool.to_owned(),
        path: path.into(),
        agent: agent.and_then(AgentId::new),
        tool_use: None,
        attribution: Attribution::Exact,
    }
}

fn seen(changes: &[RecordedChange]) -> Vec<(&str, &str)> {
    changes.iter().map(|c| (c.line.path.to_str().unwrap(), c.kind.as_str())).collect()
}

#[test]
fn each_journal_line_is_imported_once() {
    let mut f = Fixture::new();
    assert!(f.read().is_empty());
    f.journal.append(&f.session, &[line("Edit", "/a", None)]).unwrap();
    assert_eq!(f.read().len(), 1);
    f.journal.append(&f.session, &[line("Write", "/b", Some("x"))]).unwrap();
    f.read();
    let changes = f.read();
    assert_eq!(seen(&changes), [("/a", "written"), ("/b", "written")]);
    assert_eq!(changes[1].line, line("Write", "/b", Some("x")));
}

#[test]
fn a_sweep_keeps_its_kinds_and_others_lines_in_between() {
    let mut f = Fixture::new();
    f.journal.append(&f.session, &[line("Edit", "/a", None)]).unwrap();
    let found = [
        (line("Sweep", "/old", None), ChangeKind::RenamedTo("/new".into())),
        (line("Sweep", "/new", None), ChangeKind::RenamedFrom("/old".into())),
        (line("Sweep", "/gone", None), ChangeKind::Deleted),
    ];
    f.store.record_sweep(&f.journal, &f.session, &found, &|_| true).unwrap();
    f.journal.append(&f.session, &[line("Edit", "/b", None)]).unwrap();
    let changes = f.read();
    assert_eq!(
        seen(&changes),
        [
            ("/a", "written"),
            ("/old", "renamed_to"),
            ("/new", "renamed_from"),
            ("/gone", "deleted"),
            ("/b", "written")
        ]
    );
    assert_eq!(changes[1].kind, ChangeKind::RenamedTo("/new".into()));
}

#[test]
fn filters_by_session_agent_and_place() {
    let mut f = Fixture::new();
    f.journal.append(&f.session, &[line("Edit", "/a", None), line("Edit", "/b", Some("x"))]).unwrap();
    f.store.record_agent_type(&f.session, &AgentId::new("x").unwrap(), "implementer").unwrap();
    let all = f.read();
    assert_eq!(all[1].describe_agents(), "implementer x");
    let x = AgentId::new("x").unwrap();
    let by = |by| f.store.changes(&ChangeFilter { by, ..ChangeFilter::default() }).unwrap();
    assert_eq!(seen(&by(ChangeAuthor::Lead)), [("/a", "written")]);
    assert_eq!(seen(&by(ChangeAuthor::Agent(&x))), [("/b", "written")]);
    let after = ChangeFilter { after: all[0].id, session: Some(&f.session), by: ChangeAuthor::Anyone };
    assert_eq!(seen(&f.store.changes(&after).unwrap()), [("/b", "written")]);
    let other = SessionId::new("other").unwrap();
    assert!(
        f.store
            .changes(&ChangeFilter { session: Some(&other), ..ChangeFilter::default() })
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_shared_change_belongs_to_each_of_its_agents() {
    let mut f = Fixture::new();
    let (x, y) = (AgentId::new("x").unwrap(), AgentId::new("y").unwrap());
    let shared = Attribution::Shared(vec![None, Some(y.clone())]);
    let lines = [
        JournalLine { attribution: shared, ..line("Sweep", "/a", Some("y")) },
        JournalLine { attribution: Attribution::Unknown, ..line("Sweep", "/b", Some("x")) },
    ];
    f.journal.append(&f.session, &lines).unwrap();
    f.store.record_agent_type(&f.session, &y, "implementer").unwrap();
    let all = f.read();
    assert_eq!(all.iter().map(|candidate| candidate.line.clone()).collect::<Vec<_>>(), lines);
    assert_eq!(
        all.iter().map(RecordedChange::describe_agents).collect::<Vec<_>>(),
        ["lead or implementer y", "x?"]
    );
    assert!(all[0].is_by("lead") && all[0].is_by("y") && all[0].is_by("implementer") && !all[0].is_by("x"));
    let by = |by| f.store.changes(&ChangeFilter { by, ..ChangeFilter::default() }).unwrap();
    assert_eq!(seen(&by(ChangeAuthor::Lead)), [("/a", "written")]);
    assert_eq!(seen(&by(ChangeAuthor::Agent(&y))), [("/a", "written")]);
    assert_eq!(seen(&by(ChangeAuthor::Agent(&x))), [("/b", "written")]);
}

#[test]
fn foreign_paths_are_left_out_and_reader_cursors_only_advance() {
    let mut f = Fixture::new();
    f.journal.append(&f.session, &[line("Edit", "/mine/a", None), line("Edit", "/other/b", None)]).unwrap();
    f.store.import_journal(&f.journal, &f.session, &|path| path.starts_with("/mine")).unwrap();
    assert_eq!(f.store.changes(&ChangeFilter::default()).unwrap().len(), 1);
    f.store.set_reader_cursor(&f.session, "lead", 5).unwrap();
    f.store.set_reader_cursor(&f.session, "lead", 3).unwrap();
    assert_eq!(f.store.reader_cursor(&f.session, "lead").unwrap(), 5);
    assert_eq!(f.store.reader_cursor(&f.session, "x").unwrap(), 0);
}

#[test]
fn successor_of_a_removed_journal_is_read_from_the_start() {
    let mut f = Fixture::new();
    f.journal.append(&f.session, &[line("Edit", "/a", None)]).unwrap();
    f.read();
    f.journal.append(&f.session, &[line("Edit", "/b", None)]).unwrap();
    assert!(f.store.remove_journal(&f.journal, &f.session, &|_| true).unwrap());
    assert!(!f.store.remove_journal(&f.journal, &f.session, &|_| true).unwrap());
    let more: Vec<_> = ["/c", "/d", "/e"].iter().map(|path| line("Edit", path, None)).collect();
    f.journal.append(&f.session, &more).unwrap();
    let paths: Vec<_> = f.read().iter().map(|c| c.line.path.to_str().unwrap().to_owned()).collect();
    assert_eq!(paths, ["/a", "/b", "/c", "/d", "/e"]);
}

#[test]
fn many_readers_and_writers_agree() {
    let f = Fixture::new();
    let (journal, session, state) = (&f.journal, &f.session, f.store.state().clone());
    std::thread::scope(|scope| {
        for writer in 0..4 {
            scope.spawn(move || {
                for n in 0..50 {
                    journal.append(session, &[line("Edit", &format!("/{writer}/{n}"), None)]).unwrap();
                }
            });
        }
        for sweeper in 0..2 {
            let state = &state;
            scope.spawn(move || {
                let mut store = Store::open(state).unwrap();
                for n in 0..20 {
                    let found = [(line("Sweep", &format!("/s{sweeper}/{n}"), None), ChangeKind::Deleted)];
                    store.record_sweep(journal, session, &found, &|_| true).unwrap();
                }
            });
        }
    });
    let mut f = f;
    let changes = f.read();
    let mut paths: Vec<_> = changes.iter().map(|c| &c.line.path).collect();
    paths.sort();
    paths.dedup();
    assert_eq!((changes.len(), paths.len()), (240, 240), "nothing lost, nothing twice");
    assert!(changes.iter().all(|c| (c.line.tool == "Sweep") == (c.kind == ChangeKind::Deleted)));
}
