//! Two builds and ten readers at once: no reader sees half a file.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use lockstep_cache::BuildOptions;
use lockstep_cache::cache_document::CacheDocument;
use lockstep_cache::fixture::FixtureSize;

use crate::project::{Project, time};

#[test]
fn readers_see_whole_caches_only() {
    let project = Project::of(FixtureSize::SMALL);
    // Two lengths, so that a file half replaced would show.
    let texts = ["short\n".to_owned(), "long\n".repeat(20_000)];
    project.put("docs/isdlc/constitution.md", &texts[0]);
    project.build();
    let (done, reads) = (AtomicBool::new(false), AtomicUsize::new(0));
    let project = &project;
    thread::scope(|scope| {
        let builders: Vec<_> = (0..2)
            .map(|builder| {
                let texts = &texts;
                scope.spawn(move || {
                    for round in 0..25 {
                        // Replaced in one step, as an editor does: half an input would be the input's fault.
                        let at = project.root().join(format!("docs/isdlc/new-{builder}"));
                        std::fs::write(&at, &texts[(round + builder) % 2]).unwrap();
                        std::fs::rename(&at, project.root().join("docs/isdlc/constitution.md")).unwrap();
                        let options = BuildOptions { force: true, deadline: None };
                        project.cache().build(&project.given, time(0), options).unwrap();
                    }
                })
            })
            .collect();
        for _ in 0..10 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let text = project.cache().read().unwrap().expect("there is always a cache");
                    let document = CacheDocument::parse(&text).expect("it is always whole");
                    assert_eq!(document.sections.len(), 8);
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for builder in builders {
            builder.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(reads.load(Ordering::Relaxed) >= 10);
    let left: Vec<_> =
        std::fs::read_dir(project.root().join(".isdlc")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "no temporary file is left: {left:?}");
}
