#!/bin/sh
# Reports the impact of a pull request: one comment that later runs update, a check run, SARIF, and a summary of the job.
#
# Reads the variables that GitHub Actions sets and INPUT_* of action.yml. GITHUB_API_URL is the base of every request. Needs git,
# curl, jq and lockstep. Exits with 1 if the change breaks something and INPUT_FAIL_ON asks for it.
set -eu

fail_on=${INPUT_FAIL_ON:-breaks}
out=${RUNNER_TEMP:-${TMPDIR:-/tmp}}/lockstep-report
api=${GITHUB_API_URL:-https://api.github.com}
repository=${GITHUB_REPOSITORY:-}
marker='<!-- lockstep-impact -->'
mkdir -p "$out"
notes=$out/notes.txt
: > "$notes"

for tool in git curl jq lockstep; do
    command -v "$tool" >/dev/null 2>&1 || { echo "::error::the Lockstep action needs $tool on PATH"; exit 2; }
done

note() { printf '%s\n' "$1" >> "$notes"; }
event() { jq -r "$1 // empty" "$GITHUB_EVENT_PATH"; }

number=$(event .pull_request.number)
base=$(event .pull_request.base.sha)
base_ref=$(event .pull_request.base.ref)
head=$(event .pull_request.head.sha)
if [ -z "$number" ] || [ -z "$base" ]; then
    echo '::error::the Lockstep action runs on pull_request events'
    exit 2
fi

# A commit can be used if it and the common ancestor with HEAD are there. `actions/checkout` fetches one commit by default.
has_ancestor() { git cat-file -e "$base^{commit}" 2>/dev/null && git merge-base "$base" HEAD >/dev/null 2>&1; }
is_shallow() { [ "$(git rev-parse --is-shallow-repository)" = true ]; }
fetch_history() {
    has_ancestor && return
    git fetch --quiet --no-tags --depth=1 origin "$base" 2>/dev/null || git fetch --quiet --no-tags origin "$base_ref" || true
    for depth in 1 30 300 3000; do
        has_ancestor && return
        is_shallow || break
        # Only boundaries below the requested commits move.
        git fetch --quiet --no-tags --deepen="$depth" origin "$(git rev-parse HEAD)" "$base" 2>/dev/null ||
            git fetch --quiet --no-tags --deepen="$depth" origin "${GITHUB_REF:-HEAD}" "$base_ref" || true
    done
    has_ancestor || git fetch --quiet --no-tags --unshallow origin 2>/dev/null || true
}
fetch_history

if has_ancestor; then
    range=$base...HEAD
elif git cat-file -e "$base^{commit}" 2>/dev/null; then
    range=$base..HEAD
    note 'The common ancestor of both branches could not be fetched. Changes of the base branch count as undone by this pull request.'
else
    echo "::error::commit $base of the base branch could not be fetched"
    exit 2
fi

ask() { lockstep impact --rev "$range" --time-limit "${INPUT_TIME_LIMIT:-120}" "$@"; }

# The first question builds the index; the others find it.
code=0
ask --fail-on breaks > "$out/report.txt" 2> "$out/errors.txt" || code=$?
case $code in
    0 | 1 | 5) ;;
    *)
        cat "$out/errors.txt" >&2
        echo "::error::lockstep impact failed with exit code $code"
        exit "$code"
        ;;
esac
[ "$code" != 5 ] || note 'The time limit was reached: the answer is incomplete.'
ask --format sarif > "$out/lockstep.sarif" || [ $? = 5 ]
ask --format json > "$out/report.json" || [ $? = 5 ]
any=$(jq '[.impacts[] | .dependents[]] | length' "$out/report.json")

# Paths are relative to the root of the repository. A name with a line break or a backtick is quoted by jq.
jq -r '.root as $root | [.impacts[].dependents[].file | ltrimstr($root + "/")] | unique | .[]
    | select(test("(^|/)(tests?|spec|__tests__)/|(^|/)test_[^/]*$|[._-](test|spec)s?\\.[^/]*$|_test\\.[^/]*$|Tests?\\.[^/]*$"))
    | if test("[\n\r`]") then tojson else . end' "$out/report.json" > "$out/tests.txt"

gate() {
    if "$@" > "$out/gate.txt" 2>&1; then
        printf -- '- passed: `%s`\n' "$*" >> "$out/gates.md"
    else
        printf -- '- **failed** (exit code %s): `%s`\n' "$?" "$*" >> "$out/gates.md"
        cat "$out/gate.txt"
        gates_failed=1
    fi
}
gates_failed=0
rm -f "$out/gates.md"
if [ "${INPUT_GATES:-false}" = true ]; then
    gate lockstep gate ci --range "$base..HEAD"
    gate lockstep audit verify
    gate lockstep map check
fi

# A fence longer than every run of backticks in the text: no line of the repository can end the block.
fence='```'
while grep -qF "$fence" "$out/report.txt"; do fence=$fence'`'; done
breaks=false
title='Lockstep: nothing breaks'
[ "$code" != 5 ] || title='Lockstep: the answer is incomplete'
[ "$code" != 1 ] || { breaks=true; title='Lockstep: this change breaks other files'; }
{
    printf '%s\n### %s\n\n%stext\n' "$marker" "$title" "$fence"
    # GitHub refuses bodies of more than 65,536 characters.
    head -c 50000 "$out/report.txt"
    [ "$(wc -c < "$out/report.txt")" -le 50000 ] || printf '\n… and more, in the log of this job\n'
    printf '%s\n' "$fence"
    if [ -s "$out/tests.txt" ]; then
        printf '\n**Tests that depend on the change**\n\n'
        head -n 50 "$out/tests.txt" | sed 's/.*/- `&`/'
    fi
    if [ -s "$out/gates.md" ]; then
        printf '\n**Gates**\n\n'
        cat "$out/gates.md"
    fi
    if [ -s "$notes" ]; then
        printf '\n**Limits of this answer**\n\n'
        sed 's/^/- /' "$notes"
    fi
} > "$out/report.md"

# request METHOD PATH [BODY-FILE]: prints the answer. A token without the right is a warning: pull requests from forks have none.
request() {
    body=${3:-}
    set -- --silent --show-error --request "$1" --output "$out/answer.json" --write-out '%{http_code}' \
        --header 'Accept: application/vnd.github+json' --header "Authorization: Bearer ${GITHUB_TOKEN:-}" "$api$2"
    if [ -n "$body" ]; then set -- --data-binary "@$body" --header 'Content-Type: application/json' "$@"; fi
    status=$(curl "$@") || { echo "::warning::$api did not answer"; return 1; }
    case $status in
        2*) ;;
        *)
            echo "::warning::$api answered $status; is the permission granted? The report is in the summary of this job"
            return 1
            ;;
    esac
}

# Finds the comment of an earlier run.
find_comment() {
    page=1
    while request GET "/repos/$repository/issues/$number/comments?per_page=100&page=$page"; do
        id=$(jq -r --arg marker "$marker" '[.[] | select(.body | startswith($marker))][0].id // empty' "$out/answer.json")
        [ -z "$id" ] || return 0
        [ "$(jq length "$out/answer.json")" = 100 ] || return 0
        page=$((page + 1))
    done
    return 1
}

if [ "${INPUT_COMMENT:-true}" = true ] && [ -n "${GITHUB_TOKEN:-}" ]; then
    jq -Rs '{body: .}' < "$out/report.md" > "$out/comment.json"
    id=
    if find_comment; then
        if [ -n "$id" ]; then
            request PATCH "/repos/$repository/issues/comments/$id" "$out/comment.json" || true
        else
            request POST "/repos/$repository/issues/$number/comments" "$out/comment.json" || true
        fi
    fi
fi

failed=0
case $fail_on in
    never) ;;
    any) [ "$any" = 0 ] || failed=1 ;;
    *) [ "$breaks" = false ] || failed=1 ;;
esac
[ "$gates_failed" = 0 ] || failed=1

if [ "${INPUT_CHECK:-false}" = true ] && [ -n "${GITHUB_TOKEN:-}" ]; then
    conclusion=success
    [ "$code" != 5 ] || conclusion=neutral
    [ "$failed" = 0 ] || conclusion=failure
    jq -Rs --arg title "$title" --arg head "$head" --arg conclusion "$conclusion" \
        '{name: "lockstep impact", head_sha: $head, status: "completed", conclusion: $conclusion,
          output: {title: $title, summary: .}}' < "$out/report.md" > "$out/check.json"
    request POST "/repos/$repository/check-runs" "$out/check.json" || true
fi

[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$out/report.md" >> "$GITHUB_STEP_SUMMARY"
if [ -n "${GITHUB_OUTPUT:-}" ]; then
    printf 'breaks=%s\nsarif=%s\nreport=%s\n' "$breaks" "$out/lockstep.sarif" "$out/report.md" >> "$GITHUB_OUTPUT"
fi
cat "$out/report.txt"
exit "$failed"
