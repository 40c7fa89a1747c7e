#!/bin/sh
# Names of all kinds for all that a spec lets a user name (tests/names/names.py): each is refused by `check` at its
# place, or goes through every command with the right values. NAMES=all: all names, which takes minutes.
. "$(dirname "$0")/../scratch.sh"

with_python "generated names" || exit "$status"
export PYTHONDONTWRITEBYTECODE=1
[ "${NAMES:-}" = all ] || export QUICK=1
for group in rigid command failures robots definitions campaigns; do
    mkdir $group
    (cd $group && python3 "$root/tests/names/names.py" "$HOPSCOTCH" $group) >out 2>err
    check $? "$(grep -c '^ok' out) kinds of $group"
    grep '^FAIL' -A 4 out
done
exit "$status"
