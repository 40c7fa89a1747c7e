#!/bin/sh
# What scripts of tests/cli about robots begin with, in place of scratch.sh: . "$(dirname "$0")/../robots.sh"
# It has all words of that one. A failure is a line; a script that has none ends with `passed`.
#
# shellcheck disable=SC2034,SC2154
. "$(dirname "$0")/../scratch.sh"

fail()
{
    echo "FAIL $suite: $*"
    status=1
}
passed()
{
    [ "$status" -eq 0 ] && echo "ok   $suite"
    exit "$status"
}

# The program with these arguments, on campaigns in `r`; what it says is in `log`.
hop() { "$HOPSCOTCH" "$@" --results r --no-color >log 2>&1; }

# near WHAT GOT RIGHT TOLERANCE
near()
{
    awk -v got="$2" -v right="$3" -v most="$4" 'BEGIN { far = got - right; exit !(far <= most && -far <= most) }' ||
        fail "$1 is $2, not $3"
}

# spec NAME ROBOT DURATION DT [SETTINGS [LINES]]: writes NAME.yaml, with these settings of the simulation besides, and
# lines behind it. It minimises $minimize (energy).
spec()
{
    printf '%s\n' 'version: 1' "experiment: $1" 'model: articulated' \
        "simulation: {robot: $2, duration: $3, dt: $4${5:+, $5}}" "objective: {minimize: ${minimize:-energy}}" \
        ${6+"$6"} >"$1.yaml"
}

# value FILE ROW COLUMN: a number of a trajectory as CSV. ROW 1 is at t = 0, 0 at the end.
value()
{
    awk -F, -v row="$2" -v name="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) k = i }
        { got = $k } row > 0 && NR == row + 1 { exit } END { print k ? got : "none" }' "$1"
}

# last CAMPAIGN COLUMN...: values of its first trial at the end, after a replay
last()
{
    last_of=$1
    shift
    hop replay "$last_of/0" --output "$last_of.csv" || fail "replay of $last_of: $(cat log)"
    for column in "$@"; do value "$last_of.csv" 0 "$column"; done
}
