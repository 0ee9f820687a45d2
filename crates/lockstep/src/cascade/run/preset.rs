//! Agents by name: how the clients that people have are started without a person.

use lockstep_cascade::grouping::AgentRole;

/// The shell command for an agent: a preset's, or the command itself.
pub(crate) fn command(agent: &str, role: AgentRole, max_turns: u32) -> String {
    match agent {
        "claude" => claude(role, max_turns),
        "codex" => "codex exec --sandbox workspace-write --skip-git-repo-check -".to_owned(),
        command => command.to_owned(),
    }
}

/// Returns the command for Claude Code, which reads the prompt from its standard input and prints the result.
/// The allowed tools are listed completely, because no user is there to be asked.
fn claude(role: AgentRole, max_turns: u32) -> String {
    let tools = match role {
        AgentRole::Implementer => "Read,Grep,Glob,Edit,Write,Bash",
        AgentRole::InfraImplementer => "Read,Grep,Glob,Edit,Write",
    };
    let denied = match role {
        AgentRole::Implementer => "",
        AgentRole::InfraImplementer => " --disallowedTools Bash",
    };
    format!(
        "env -u CLAUDECODE claude --print --permission-mode acceptEdits --max-turns {max_turns} --allowedTools {tools}{denied}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preset_limits_tools_by_role_and_keeps_a_custom_command() {
        let code = command("claude", AgentRole::Implementer, 25);
        assert!(code.contains("--max-turns 25") && code.contains("Write,Bash"), "{code}");
        let infra = command("claude", AgentRole::InfraImplementer, 15);
        assert!(infra.contains("--disallowedTools Bash") && !infra.contains("Write,Bash"), "{infra}");
        assert!(
            command("codex", AgentRole::Implementer, 1).ends_with(" -"),
            "it reads the prompt from its standard input"
        );
        assert_eq!(command("./fix.sh --all", AgentRole::Implementer, 1), "./fix.sh --all");
    }
}
