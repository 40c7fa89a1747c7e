#!/bin/sh
# The page "From an idea to a verified gait" works as it stands: its specs and every command, in order. Searches and
# seeds are fewer here.
. "$(dirname "$0")/../scratch.sh"
page=$root/experiments/README.md

# block N: the N-th block of YAML
block() { awk -v wanted="$1" '$0 == "```yaml" { inside = ++n == wanted; next } /^```/ { inside = 0 } inside' "$page"; }
shorten() { sed -e 's/duration: 4.0, settle: 1.0/duration: 0.8, settle: 0.3/' -e 's/generations: 30/generations: 2/'; }
block 1 | shorten >idea.yaml
block 2 | shorten >gait.yaml
[ "$(head -n 2 gait.yaml | tail -n 1)" = "experiment: gait" ] || { echo "FAIL guide: no spec gait.yaml" && status=1; }

hopscotch() { "$HOPSCOTCH" "$@"; }
sed -n 's/^    \$ //p' "$page" >commands
[ "$(wc -l <commands)" -ge 18 ] || { echo "FAIL guide: it has no commands" && status=1; }
while IFS= read -r command; do
    command_here=$(echo "$command" | sed -e 's/--seeds 300/--seeds 8/' -e 's/compare idea gait/& --seeds 8/')
    if eval "$command_here" >out 2>err; then
        echo "ok   guide: $command"
    else
        echo "FAIL guide: $command"
        tail -n 5 out err
        status=1
    fi
done <commands
hopscotch list --tag verified --format csv | grep -q '^gait,done'
[ $? -eq 0 ] || { echo "FAIL guide: the campaign is not tagged" && status=1; }
exit $status
