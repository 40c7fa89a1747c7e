#!/bin/sh
# Control laws of many legs (#, patterns) against the same ones written out; names that a law has of its own; limits.
. "$(dirname "$0")/../scratch.sh"

cat >legs.xml <<'END'
<mujoco model="legs"><compiler angle="radian"/>
<worldbody><body name="bar" pos="0 0 1"><geom type="box" size="0.3 0.1 0.05" mass="2"/>
  <body name="a" pos="-0.2 0 0"><joint name="leg1" axis="0 1 0" damping="0.05"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" mass="0.2"/></body>
  <body name="b"><joint name="leg2" axis="0 1 0" damping="0.05"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.02" mass="0.2"/></body>
  <body name="c" pos="0.2 0 0"><joint name="leg3" axis="0 1 0" damping="0.05"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.02" mass="0.2"/></body>
</body></worldbody>
<actuator><motor name="u" joint="leg1"/><motor name="v" joint="leg2"/><motor name="w" joint="leg3"/></actuator></mujoco>
END
# law NAME: reads a law, the whole spec goes to NAME.yaml
law()
{
    printf '%s\n' 'version: 1' "experiment: $1" 'model: articulated' 'simulation:' '  robot: legs.xml' \
        '  duration: 1' '  dt: 0.002' '  control:' '    mode: law' '    period: 0.006' '    law:' >"$1.yaml"
    sed 's/^/      /' >>"$1.yaml"
    printf '%s\n' 'search: {over: {leg1_start: [0, 0.3]}}' 'objective: {minimize: energy}' >>"$1.yaml"
}
# equal A B WHAT: both run and have the same metrics to the bit
equal()
{
    for name in "$1" "$2"; do
        works run "$name.yaml" --progress none
        "$HOPSCOTCH" query "$name" --columns all --order id --format csv >"$name.csv" 2>err
    done
    cmp -s "$1.csv" "$2.csv" && [ "$(wc -l <"$1.csv")" -eq 3 ]
    check $? "$3"
}

law copies <<'END'
parameters: {gain: 0.5}
held: {sum#: {repeat: 3, start: 0.1*#}}
let: {q#: leg#_q, middle: "mean(#j, q#j)"}
every_period: {sum#: "sum# + 0.01*(q# - middle)", sum2: sum2 - 0.02*q2}
effort: {leg#: "0.1*# - gain*q# - sum(#j, sum#j)*sum# + 0*q{#-0}", leg3: "max(#j, sum#j) - leg3_q"}
END
law written <<'END'
parameters: {gain: 0.5}
held: {sum1: 0.1, sum2: 0.2, sum3: {start: 0.1*3}}
let: {middle: (leg1_q + leg2_q + leg3_q)/3}
every_period: {sum1: sum1 + 0.01*(leg1_q - middle), sum2: sum2 - 0.02*leg2_q, sum3: sum3 + 0.01*(leg3_q - middle)}
effort:
  leg1: 0.1*1 - gain*leg1_q - (sum1 + sum2 + sum3)*sum1 + 0*leg1_q
  leg2: 0.1*2 - gain*leg2_q - (sum1 + sum2 + sum3)*sum2 + 0*leg2_q
  leg3: "max(max(sum1, sum2), sum3) - leg3_q"
END
equal copies written "held numbers of copies, sums over them in efforts and their patterns, are those written out"

law named <<'END'
held: {clock: 0}
every_period: {clock: clock + period}
effort: {leg*: "sin(7*clock) - 0.5*leg2_q"}
END
law number <<'END'
held: {clock: 0}
every_period: {clock: clock + 0.006}
effort: {leg*: "sin(7*clock) - 0.5*leg2_q"}
END
equal named number "period is the control period"
# a law without units is not checked; one with them is
law checked <<'END'
parameters: {gain: {value: 0.5, unit: N m/rad}}
effort: {leg*: -gain*leg2_q - 0.1*leg2_rate}
END
refused check checked.yaml
has 'checked.yaml:13:35: error: N m/rad - rad/s: both sides must have the same unit; a gain in kg m^2/s on the' err
law mine <<'END'
parameters: {period: 0.1, yaw: 2}
effort: {leg*: "period*yaw - 0.5*leg2_q"}
END
law other <<'END'
effort: {leg*: "0.1*2 - 0.5*leg2_q"}
END
works run mine.yaml --progress none
works run other.yaml --progress none
works query mine --columns energy --order id --format csv
mv out of_mine
works query other --columns energy --order id --format csv
cmp -s out of_mine
check $? "a law may call something of its own so"

# a table is a function; beyond its ends the trial fails, or the table is held
printf 'angle,push\n-4,8\n0,0\n4,-8\n' >spring.csv
law tables <<'END'
tables: {spring: {file: spring.csv}}
effort: {leg*: spring(leg1_q)}
END
law linear <<'END'
effort: {leg*: -2*leg1_q}
END
for name in tables linear; do
    works run $name.yaml --progress none
    "$HOPSCOTCH" query $name --columns energy --order id --format csv >$name.csv 2>err
done
paste -d, tables.csv linear.csv | awk -F, 'NR > 1 {
        rows++
        far = $1 - $2
        if (far > 1e-9 * $2 || far < -1e-9 * $2) bad++
    }
    END { exit !(rows == 2 && bad == 0) }'
check $? "a table gives what its line gives"
sed 's/file: spring.csv/at: [-0.01, 0.01], values: [0.02, -0.02]/' tables.yaml >narrow.yaml
works run narrow.yaml --progress none --set experiment=narrow
works query narrow --columns failure --format csv
has non_finite
works run narrow.yaml --progress none --set experiment=held \
    --set 'simulation.control.law.tables.spring={at: [-0.01, 0.01], values: [0.02, -0.02], beyond: hold}'
works query held --columns failure --format csv
lacks non_finite
law nowhere <<'END'
effort: {leg*: 0.1 + 0*sqrt(leg2_q - 0.01)}
END
works run nowhere.yaml --progress none
works query nowhere --columns failure --format csv
has non_finite

{
    echo 'let:'
    awk 'BEGIN { for (i = 1; i <= 2048; i++) printf "  n%d: %d\n", i, i }'
    echo 'effort: {leg*: n2048*0 + period}'
} >long
law long <long
works check long.yaml
{ sed '$d' long && printf '%s\n' '  n2049: 1' 'effort: {leg*: 0}'; } >longer
law longer <longer
refused check longer.yaml
has 'at most 2048 shorthands' err

# what is refused, and what to write
# wrong TITLE LINE:COLUMN TEXT: the law that is read has this error
wrong()
{
    law wrong
    refused check wrong.yaml
    has "wrong.yaml:$1: error: $2" err
}
wrong 12:25 "the effort of leg1 is given by 'leg#' already" <<'END'
effort: {leg#: 1, "l*1": 2}
END
wrong 12:16 "the model has no motor 'leg4'; did you mean 'leg1'?" <<'END'
effort: {leg4: 1}
END
wrong 12:16 "the model has no motor 'elbow_motor'; it has leg1, leg2" <<'END'
effort: {elbow_motor: 1}
END
wrong 12:33 "the delay of a sensor is a whole number of control periods, at most 64" <<'END'
sensors: {leg1_q: {delay: 10ms}}
effort: {leg1: leg1_q}
END
wrong 12:37 "the unit 'Nm' can't be read: write N m, with a space between units" <<'END'
held: {load: {start: 0, unit: Nm}}
effort: {leg1: load}
END
wrong 12:33 "the delay of a sensor is a whole number of control periods, at most 64" <<'END'
sensors: {leg1_q: {delay: 0.5}}
effort: {leg1: leg1_q}
END
wrong 12:33 "the delay of a sensor is a whole number of control periods, at most 64" <<'END'
sensors: {leg1_q: {delay: 65}}
effort: {leg1: leg1_q}
END
wrong 12:33 "the noise of a sensor must not be negative" <<'END'
sensors: {leg1_q: {noise: -1}}
effort: {leg1: leg1_q}
END
wrong 12:17 "the law knows the time: it is no sensor" <<'END'
sensors: {time: {delay: 1}}
effort: {leg1: time}
END
wrong 12:17 "the model has no column 'leg1_p'; did you mean 'leg1_q'?" <<'END'
sensors: {leg1_p: {delay: 1}}
effort: {leg1: leg1_q}
END
wrong 13:22 "'b' is not a held number; did you mean 'a'?" <<'END'
held: {a: 1}
every_period: {b: 1}
effort: {leg1: a}
END
wrong 12:7 "the law gives no motor a command or an effort: command: {leg1: 0}" <<'END'
held: {a: 1}
END
wrong 14:9 "mode two has no effort of leg1, and mode one has: write one here, or one for all modes" <<'END'
modes:
  one: {effort: {leg1: 1}, events: [{at: 0.1, to: two}]}
  two: {effort: {leg2: 1}, events: [{at: 0.2, to: one}]}
END
wrong 12:13 "the model has a column 'leg1_q': take another name" <<'END'
let: {leg1_q: 1}
effort: {leg1: leg1_q}
END
wrong 12:7 'the law is too long: ' <<'END'
held: {x#: {repeat: 60, start: 0}}
let: {y#: {repeat: 760, value: "sum(#j, 1, 60, sin(x#j*#))"}}
effort: {leg1: "sum(#j, 1, 760, y#j)"}
END
sed 's/mode: law/mode: hold/' named.yaml >without.yaml
refused check without.yaml
has 'control.law needs control: {mode: law}' err
printf '%s\n' 'version: 1' 'experiment: none' 'model: articulated' \
    'simulation: {robot: legs.xml, control: {mode: law}}' 'search: {over: {leg1_start: [0]}}' \
    'objective: {minimize: energy}' >none.yaml
refused check none.yaml
has 'control: {mode: law} needs control.law, such as {command: {all: 0}}' err
printf '%s\n' 'version: 1' 'experiment: hop' 'model: hopper' 'simulation: {control: {law: {effort: {u1: 0}}}}' \
    'search: {over: {thrust: [30]}}' 'objective: {minimize: energy}' >hop.yaml
refused check hop.yaml
has 'control: {mode: raibert} has the efforts: write add, which adds to them, or take {mode: law}' err
sed 's/effort: {u1: 0}/add: {u3: 0}/' hop.yaml >added.yaml
refused check added.yaml
has "u3" err
sed 's/{law: {effort: {u1: 0}}}/{mode: law, law: {add: {u1: 0}}}/' hop.yaml >added.yaml
refused check added.yaml
has 'there is nothing to add to: write effort' err
sed 's/{law: {effort: {u1: 0}}}/{mode: external, law: {add: {u1: 0}}}/' hop.yaml >added.yaml
refused check added.yaml
has 'control.law needs control: {mode: law}, or {mode: raibert}, to which it adds' err
sed 's/{law: {effort: {u1: 0}}}/{mode: law, law: {command: {u1: 0}}}/' hop.yaml >commands.yaml
refused check commands.yaml
has "this model's motors take no command: write effort" err

awk 'BEGIN { print "<mujoco model=\"chain\"><compiler angle=\"radian\"/><worldbody>"
    for (i = 1; i <= 300; i++)
        printf "<body name=\"b%d\"><joint name=\"j%d\" axis=\"0 1 0\"/><geom type=\"sphere\" size=\"0.1\"/>%s\n", i, i,
            (i > 1 ? "</body>" : "")
    print "</body></worldbody><actuator><motor name=\"m\" joint=\"j1\"/></actuator></mujoco>" }' >legs.xml
law large <<'END'
parameters: {gain: 0.5}
effort: {j1: -gain*j300_q}
END
sed -i.bak '/^search/d' large.yaml
works check large.yaml
exit $status
