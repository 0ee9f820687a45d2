#!/bin/sh
# `lockstep` is not on PATH. Says so once per session, in one line, where a project asks for Lockstep; exits 0 whatever happens.
# Usage: missing.sh EVENT, the event's JSON on standard input.
event=$1

# Only where the text reaches the Lead: elsewhere it would be lost, or keep an agent going.
case $event in
    SessionStart | UserPromptSubmit | PostToolUse) ;;
    *) exit 0 ;;
esac
case $(cat) in
    *'"agent_id"'*) exit 0 ;;
esac

dir=${CLAUDE_PROJECT_DIR:-$PWD}
while [ ! -e "$dir/lockstep.toml" ]; do
    case $dir in
        /*/* | /?*) dir=${dir%/*} ;;
        *) exit 0 ;;
    esac
done

# The client names the session; what is not a plain name becomes no path.
session=${CLAUDE_CODE_SESSION_ID:-}
case $session in
    '' | .* | *[!A-Za-z0-9._-]*) [ "$event" = SessionStart ] || exit 0 ;;
    *)
        told="${CLAUDE_PLUGIN_DATA:-${TMPDIR:-/tmp}/lockstep-missing}"
        mkdir -p "$told" 2>/dev/null
        # Making a directory succeeds for exactly one of several at once.
        mkdir "$told/missing-$session" 2>/dev/null || exit 0
        ;;
esac

text='lockstep: the program is not on PATH, so nothing is journaled, reported or checked in this session; install it (docs/guide/install.md: npm, pip, Debian package, installer), or put it on PATH.'
printf '{"systemMessage":"%s","hookSpecificOutput":{"hookEventName":"%s","additionalContext":"%s"}}\n' "$text" "$event" "$text"
exit 0
