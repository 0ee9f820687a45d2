#!/usr/bin/env bash
# What the journaling hook does, as such hooks are usually written: bash with a jq for each field it wants, `date` for the
# time, one line of TSV appended. The benchmark's yardstick, not part of the product.
# Usage: CHANGES_DIR=… journal.sh < event.json
set -u
command -v jq >/dev/null 2>&1 || exit 0
event=$(cat)
session=$(jq -r '.session_id // empty' <<<"$event" 2>/dev/null) || exit 0
tool=$(jq -r '.tool_name // empty' <<<"$event" 2>/dev/null) || exit 0
path=$(jq -r '.tool_input.file_path // empty' <<<"$event" 2>/dev/null) || exit 0
success=$(jq -r '.tool_response.success' <<<"$event" 2>/dev/null) || exit 0
[ -n "$session" ] && [ -n "$path" ] && [ "$success" != false ] || exit 0
printf '%s\t%s\t%s\n' "$(date -Iseconds)" "$tool" "$path" >>"$CHANGES_DIR/src-changes-$session.log"
