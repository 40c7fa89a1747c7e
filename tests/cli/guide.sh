#!/bin/sh
# The guide of experiments/README.md, "From an idea to a verified gait", works as printed: its specs and all commands,
# in order. Searches, runs and seeds are fewer here. FULL=1 takes those of the page, a minute or two; then the program
# must print the outputs that the page shows.
. "$(dirname "$0")/../scratch.sh"
page=$work/guide.md
awk '/^## / { inside = $0 == "## From an idea to a verified gait" } inside' "$root"/experiments/README.md >"$page"

# block N: the N-th YAML block of the page
block() { awk -v wanted="$1" '$0 == "```yaml" { inside = ++n == wanted; next } /^```/ { inside = 0 } inside' "$page"; }
shorten()
{
    [ -n "${FULL-}" ] && cat && return
    sed -e 's/duration: 4.0, settle: 1.0/duration: 0.8, settle: 0.3/' -e 's/generations: 30/generations: 2/'
}
block 1 | shorten >idea.yaml
block 2 | shorten >gait.yaml
[ "$(head -n 2 gait.yaml | tail -n 1)" = "experiment: gait" ] || { echo "FAIL guide: no spec gait.yaml" && status=1; }

hopscotch() { "$HOPSCOTCH" "$@"; }
# the best trial of gait; empty before the campaign exists
best_of_gait() { "$HOPSCOTCH" best gait --top 1 --format csv 2>/dev/null | sed -n '2s/^1,\([0-9]*\),.*/\1/p'; }
# The command as it runs here: fewer seeds, and the best trial of this shorter search instead of the page's, 880.
here()
{
    [ -n "${FULL-}" ] && echo "$1" && return
    echo "$1" | sed -e 's/--seeds 300/--seeds 8/' -e 's/compare idea gait/& --seeds 8/' -e "s/880/$(best_of_gait)/g"
}

# Commands and their output, as lines: `$ COMMAND` and `> LINE`.
awk '/^```/ { inside = !inside } inside { next } /^    \$ / { print substr($0, 5); shown = 1; next }
    /^    / && shown { print "> " substr($0, 5); next } { shown = 0 }' "$page" >lines
[ "$(grep -c '^\$ ' lines)" -ge 20 ] || { echo "FAIL guide: it has no commands" && status=1; }
[ "$(grep -c '^> ' lines)" -ge 10 ] || { echo "FAIL guide: it shows no outputs" && status=1; }
: >out
while IFS= read -r line; do
    case $line in
        '$ '*)
            command=${line#\$ }
            eval "$(here "$command")" >out 2>err
            check $? "$command"
            case $command in
                *' replay '*)
                    ! grep -q 'fitness none' out
                    check $? "the replayed trial did not fail"
                    ;;
            esac
            ;;
        '> ...') ;;
        *)
            [ -n "${FULL-}" ] || continue
            grep -qxF -e "${line#> }" out
            check $? "the output has '${line#> }'"
            ;;
    esac
done <lines
if [ -n "${FULL-}" ]; then
    expect "$(best_of_gait)" 880 "the best trial of gait is the page's"
fi
grep -qF "replay gait/880" "$page" && ! grep -q "replay gait/0" "$page"
check $? "the page replays the best trial"
hopscotch list --tag verified --format csv | grep -q '^gait,done'
check $? "the campaign is tagged"
[ -s worst.html ] && [ -s gait.csv ] && [ -s gait.h5 ]
check $? "files are written"
exit $status
