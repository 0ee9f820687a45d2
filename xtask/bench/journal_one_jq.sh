#!/usr/bin/env bash
# The same as journal.sh, written as kindly as bash allows: one jq for all fields, bash's own clock, no other process.
# Usage: CHANGES_DIR=… journal_one_jq.sh < event.json
set -u
{ read -r session && read -r tool && read -r path && read -r success; } < <(
    jq -r '.session_id // "", .tool_name // "", .tool_input.file_path // "", (.tool_response.success | tostring)' 2>/dev/null
) || exit 0
[ -n "$session" ] && [ -n "$path" ] && [ "$success" != false ] || exit 0
printf '%(%Y-%m-%dT%H:%M:%S%z)T\t%s\t%s\n' -1 "$tool" "$path" >>"$CHANGES_DIR/src-changes-$session.log"
