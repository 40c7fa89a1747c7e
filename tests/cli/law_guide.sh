#!/bin/sh
# The page experiments/control_law.md works as printed: its specs and all commands, in order; what it shows of outputs
# is printed. A command behind which it shows an error is refused.
. "$(dirname "$0")/../scratch.sh"
. "$root/tests/page.sh"
page control_law.md

cp -R "$root/experiments" .
block 1 xml >pendulum.xml
block 1 >hold.yaml
block 2 >integral.yaml
block 3 >swing.yaml
block 1 csv >damp.csv
block 5 >damp.yaml
block 8 >pushed.yaml
page_commands

# the law of many motors, in a robot whose joints are leg1 to leg3
{
    printf '%s\n' 'version: 1' 'experiment: many' 'model: articulated' 'simulation:' '  robot: legs.xml' \
        '  duration: 1' '  control:' '    mode: law' '    law:'
    block 4 | sed 's/^/      /'
    printf '%s\n' 'search: {over: {leg1_start: [0.1]}}' 'objective: {minimize: energy}'
} >many.yaml
awk 'BEGIN { print "<mujoco><worldbody><body name=\"bar\"><geom type=\"sphere\" size=\"0.1\"/>"
    for (i = 1; i <= 3; i++) {
        printf "<body name=\"b%d\"><joint name=\"leg%d\" axis=\"0 1 0\"/>", i, i
        print "<geom type=\"capsule\" fromto=\"0 0 0 0 0 -0.3\" size=\"0.02\"/></body>"
    }
    print "</body></worldbody><actuator>"
    for (i = 1; i <= 3; i++) printf "<motor name=\"m%d\" joint=\"leg%d\"/>", i, i
    print "</actuator></mujoco>" }' >legs.xml
works run many.yaml --progress none
page_experiments
exit $status
