//! Entries of a client's settings that look like the hook but have no effect.

use super::Numbers;

/// Commands that contain `lockstep hook claude` and would not do the work of an event.
const COMMANDS: [&str; 26] = [
    "/no/such/lockstep hook claude",
    "./lockstep hook claude",
    "exit 0; lockstep hook claude",
    "false && lockstep hook claude",
    "true || lockstep hook claude",
    "lockstep hook claude < /dev/null",
    "lockstep hook claude > /dev/null",
    "lockstep hook claude 2>&1 | cat",
    "lockstep hook claude &",
    "lockstep hook claude --part 2/2",
    "lockstep hook claude --part x",
    "lockstep hook claude --help",
    "lockstep hook --version claude",
    "lockstep -C /x hook claude",
    "PATH= lockstep hook claude",
    "env PATH= lockstep hook claude",
    "exec lockstep hook claude",
    "$X lockstep hook claude",
    "# lockstep hook claude",
    "if false; then lockstep hook claude; fi",
    "timeout 0.001 lockstep hook claude",
    "cd /nonexistent && lockstep hook claude",
    "lockstep() { :; }; lockstep hook claude",
    "lockstep hook claude; true",
    "(lockstep hook claude)",
    "lockstep hook claude || true",
];

/// Returns commands of entries that do nothing, some behind a generated beginning.
pub fn idle_commands(numbers: &mut Numbers) -> Vec<String> {
    let beginnings = [
        "exit 0 #",
        ": ",
        "echo ",
        "true;exit;",
        "[ -e /nonexistent ] &&",
        "alias lockstep=true;",
        "return;",
        "nohup true ",
    ];
    let commands = (0..8).map(|_| format!("{} lockstep hook claude", numbers.choose(&beginnings)));
    COMMANDS.iter().map(|command| (*command).to_owned()).chain(commands.collect::<Vec<_>>()).collect()
}

/// Changes of sound settings, as texts to be replaced, after which the client does not run the entry.
pub fn idle_settings() -> [(&'static str, &'static str, &'static str); 6] {
    [
        ("a condition", "\"type\"", "\"if\":\"Bash(x)\",\"type\""),
        ("another kind", "\"type\":\"command\"", "\"type\":\"prompt\""),
        ("a short timeout", "\"type\"", "\"timeout\":0.01,\"type\""),
        ("another PATH", "{\"hooks\"", "{\"env\":{\"PATH\":\"\"},\"hooks\""),
        ("a condition of the group", "\"matcher\"", "\"if\":\"false\",\"matcher\""),
        ("hooks disabled", "{\"hooks\"", "{\"disableAllHooks\":true,\"hooks\""),
    ]
}
