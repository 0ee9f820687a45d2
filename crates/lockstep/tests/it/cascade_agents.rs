//! Agents of `cascade run` that delete or flood, and misleading names. Each test describes the attack and its
//! result.

use std::fs;

use crate::active;
use crate::rename_fixtures::{RENAMER, commit, list, run, rust, status};

/// A deleted file has no stale reference, but it is not up to date either.
#[test]
fn an_agent_deletes_its_files() {
    let env = rust(1, 1);
    let output = run(&env, "cat > /dev/null; rm -f $LOCKSTEP_FILES", &[]);
    assert_eq!(output.code, Some(1), "{}", output.snapshot());
    let status = status(&env);
    assert_eq!(status["status"], "partial", "{status:#}");
    assert_eq!(list(&status, "updated"), Vec::<String>::new(), "{status:#}");
    assert!(output.snapshot().contains("it was deleted"), "{}", output.snapshot());
}

/// A link to an empty device has no stale reference either.
#[test]
fn an_agent_replaces_its_files_by_links() {
    let env = rust(1, 1);
    let output = run(&env, "cat > /dev/null; for f in $LOCKSTEP_FILES; do ln -sf /dev/null $f; done", &[]);
    assert_eq!(output.code, Some(1), "{}", output.snapshot());
    let status = status(&env);
    assert_eq!(status["status"], "partial", "{status:#}");
    assert_eq!(list(&status, "updated"), Vec::<String>::new(), "{status:#}");
}

#[test]
fn an_agent_prints_without_end() {
    let env = rust(1, 1);
    let flood = "head -c 60000000 /dev/zero | tr '\\0' x; echo the end";
    run(&env, &format!("{RENAMER}{flood}\n"), &[]).assert_success();
    let reports = env.state().join("reports/cascade");
    let outputs: Vec<_> = fs::read_dir(reports)
        .unwrap()
        .flat_map(|cascade| fs::read_dir(cascade.unwrap().path()).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "out"))
        .collect();
    assert_eq!(outputs.len(), 1);
    let text = fs::read_to_string(&outputs[0]).unwrap();
    assert!(text.len() < 9 << 20, "{}", text.len());
    assert!(text.ends_with("the end\n") && text.contains("bytes were left out"));
}

/// The name of a file is two names to a shell, and the second is outside of the project.
#[test]
fn file_name_with_a_separator_cannot_reach_outside_the_project() {
    let env = active();
    let outside = env.outside_dir().join("victim.py");
    fs::write(&outside, "old_name = 1\n").unwrap();
    env.write("base.py", "def old_name():\n    return 1\n");
    for separator in ["\n", " "] {
        let name = format!("x{separator}{}", outside.display());
        env.write(name.trim_start_matches('/'), "from base import old_name\nold_name()\n");
    }
    env.write("plain.py", "from base import old_name\nold_name()\n");
    commit(&env);
    env.write("base.py", "def new_name():\n    return 1\n");
    let agent = "cat > prompt.log; sed -i s/old_name/new_name/g $LOCKSTEP_FILES; \
                 while IFS= read -r f; do sed -i s/old_name/new_name/g \"$f\"; done < $LOCKSTEP_FILES_LIST; \
                 xargs -0 sed -i s/old_name/new_name/g < $LOCKSTEP_FILES_LIST0";
    let output = run(&env, agent, &[]);
    assert_eq!(fs::read_to_string(&outside).unwrap(), "old_name = 1\n", "{}", output.snapshot());
    assert!(fs::read_to_string(env.project().join("plain.py")).unwrap().contains("new_name"));
    let spaced = env.project().join(format!("x {}", outside.display()));
    assert!(fs::read_to_string(spaced).unwrap().contains("new_name"), "the list with NUL has every name");
    let prompt = fs::read_to_string(env.project().join("prompt.log")).unwrap();
    assert!(!prompt.lines().any(|line| line.starts_with(&outside.display().to_string())), "{prompt}");
}
