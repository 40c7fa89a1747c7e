#!/bin/sh
# The README works as printed: its spec, and every command in order, as a new user types them in the repository's
# folder. The program must print the lines that the page shows; `...` stands for lines that are left out. The page has
# at most 12 kB.
. "$(dirname "$0")/../scratch.sh"
page=$root/README.md
case $HOPSCOTCH in
*asan* | *tsan*) skip "its commands" "a build without sanitizers" "make test" && exit 0 ;;
esac

[ "$(wc -c <"$page")" -le 12000 ]
check $? "the README has at most 12 kB: $(wc -c <"$page")"
mkdir build && ln -s "$HOPSCOTCH" build/hopscotch && cp -r "$root"/experiments .
awk '$0 == "```yaml" { inside = 1; next } /^```/ { inside = 0 } inside' "$page" >first.yaml

# Commands and their output, as lines: `$ COMMAND` and `> LINE`.
awk '/^```/ { inside = !inside } inside { next } /^    \$ / { print substr($0, 5); shown = 1; next }
    /^    / && shown { print "> " substr($0, 5); next } { shown = 0 }' "$page" >lines
[ "$(grep -c '^\$ ' lines)" -ge 10 ] && [ "$(grep -c '^> ' lines)" -ge 30 ]
check $? "the README has commands and their output"

: >out
while IFS= read -r line; do
    case $line in
    '$ '*)
        eval "${line#\$ }" >out 2>&1 </dev/null
        ended=$? expected=0
        case $line in *thurst*) expected=1 ;; esac
        [ $ended -eq $expected ]
        check $? "${line#\$ }"
        ;;
    '> ...') ;;
    *)
        grep -qxF -e "${line#> }" out
        check $? "the output has '${line#> }'"
        ;;
    esac
done <lines
exit $status
