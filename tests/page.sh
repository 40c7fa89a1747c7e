# What tests of pages of the guide share: a page of experiments/ works as printed. Sourced behind scratch.sh.

hopscotch() { "$HOPSCOTCH" "$@"; }

# page NAME: the page, for what follows
page()
{
    page=$root/experiments/$1
}

# block N [LANGUAGE]: the Nth of the page
block()
{
    awk -v wanted="$1" -v begin="\`\`\`${2:-yaml}" \
        '$0 == begin { inside = ++n == wanted; next } /^```/ { inside = 0 } inside' "$page"
}

# Runs all commands of the page, in order. What it shows of outputs is printed. A command behind which it shows an error
# is refused.
page_commands()
{
    # commands and their output, as lines: `$ COMMAND` and `> LINE`
    awk '/^```/ { inside = !inside } inside { next } /^    \$ / { print substr($0, 5); shown = 1; next }
        /^    / && shown { print "> " substr($0, 5); next } { shown = 0 }' "$page" >lines
    [ "$(grep -c '^\$ ' lines)" -ge 8 ] || { echo "FAIL ${page##*/}: the page has no commands" && status=1; }
    : >out
    : >err
    while IFS= read -r line; do
        case $line in
            '$ '*)
                eval "${line#\$ }" >out 2>err </dev/null
                got=$?
                wanted=$(awk -v line="$line" 'found { if (/^> .*error: /) print 1; exit }
                    $0 == line { found = 1 }' lines)
                expect $got "${wanted:-0}" "${line#\$ }"
                ;;
            *)
                cat out err | grep -qxF -e "${line#> }"
                check $? "it prints '${line#> }'"
                ;;
        esac
    done <lines
}

# The experiments in the page's tables are there.
page_experiments()
{
    for name in $(sed -n 's/^| `\([a-z_]*\.yaml\)` .*/\1/p' "$page"); do
        [ -f "$root/experiments/$name" ]
        check $? "there is $name"
    done
}
