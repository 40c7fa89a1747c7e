#!/bin/sh
# Raibert's hopper as equations of a spec (experiments/raibert_as_equations.yaml) against the built-in model, both by
# dormand_prince at tolerance 1e-11: metrics and terms of the energy agree to 1e-9, over 5 s or until a fall, whose time
# agrees too. So do the columns of the trajectory in the root mean square. Where the leg is in its stop, which brakes it
# at 3,000 m/s^2, rates are up to 2e-8 apart, as are those of the built-in at tolerances 1e-11 and 1e-12.
#
# Two kinds of metrics of the built-in converge slower than its states, so that they can't agree: heights of the apex
# are those at ends of steps, and energy is integrated across the kinks of |power|. The former are compared with the
# trajectory of the built-in; of the latter the difference must fall as h^2, that is as tolerance^(2/5).
#
# The gains are such that the motion does not amplify errors much. A hopper that tumbles for a second before it falls
# amplifies them by 1e4 and more; results of each model at tolerances 1e-11 and 1e-12 then are as far apart.
. "$(dirname "$0")/../scratch.sh"
. "$root/tests/equations.sh"

gains='{k_fp: [50, 105, 160], k_att: [100], k_xdot: [0.02, 0.08], thrust: [30, 50]}'
[ -z "${QUICK:-}" ] || gains='{k_fp: [50, 160], k_att: [100], k_xdot: [0.02], thrust: [30, 50]}'

# hoppers NAME SPEC TOLERANCE [option]...: runs the spec; the trials are in NAME.csv
hoppers()
{
    hopper=$1 spec=$2 tolerance=$3
    shift 3
    "$HOPSCOTCH" run "$spec" --progress none --set "experiment=$hopper" --set "search.over=$gains" \
        --set simulation.integrator=dormand_prince --set "simulation.tolerance=$tolerance" --set replicates.count=1 \
        "$@" >out 2>err </dev/null || check 1 "run $hopper"
    "$HOPSCOTCH" query "$hopper" --columns all --format csv >"$hopper.csv" 2>err
}

# beside: rows.csv <- equations.csv with the columns of built_in.csv behind, as b_NAME, and those of other files
beside()
{
    sed '1s/,/,b_/g; 1s/^/b_/' built_in.csv >behind.csv
    paste -d , equations.csv behind.csv "$@" >rows.csv
}

# same NAME...: metrics agree to 1e-9 of their size
same()
{
    for metric in "$@"; do holds 5e-10 "$metric/b_$metric" 1 'of the built-in'; done
}

# the terms of the energy are metrics of the built-in with `accounting: parts`
sed 's/^    metrics:$/&\
      work_hip: {integral: hip}\
      work_thrust: {integral: leg}\
      dissipated_stop: {integral: stopped*b_stop*dlen_leg^2}\
      dissipated_ground: {integral: "-F_x*dx_foot - damper*dz_foot"}\
      change_kinetic: {final: kinetic - K_start}/
    s/^      E_start: .*/&\
      K_start: 0/
    s/E_start: energy}}/E_start: energy, K_start: kinetic}}/' "$root/experiments/raibert_as_equations.yaml" >parts.yaml
hoppers equations parts.yaml 1e-11
hoppers built_in "$root/experiments/raibert_gains.yaml" 1e-11 --set simulation.accounting=parts
hoppers finer "$root/experiments/raibert_gains.yaml" 1e-12

# ---- trajectories ---------------------------------------------------------------------------------------------------

# apexes FILE.csv: mean and deviation of the body's greatest heights in flights between a lift-off and a touchdown,
# from samples: the greatest value of the cubic with the heights and their rates at both ends of an interval. Nothing
# where a flight is highest at one of its ends, which events have located for both models.
apexes()
{
    awk -F , 'function between(a, b, da, db, u) { # Hermite; u: fraction of the interval
            return a + u*(da + u*((3*(b - a) - 2*da - db) + u*(da + db - 2*(b - a)))) }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { t = $1; a = $at["phi_leg"]; b = $at["phi_body"]; l = $at["len_leg"]; fsm = $at["fsm"]
          z = $at["z_foot"] + l*cos(a) + 0.4*cos(b)
          dz = $at["dz_foot"] + $at["dlen_leg"]*cos(a) - l*sin(a)*$at["dphi_leg"] - 0.4*sin(b)*$at["dphi_body"]
          if (fsm == 2 && last == 1) { flying = 1; top = 0; high_z = z }
          if (fsm != 2 && last == 2 && flying) {
              n++; sum += top; sum2 += top*top; flying = 0; lacks += top < high_z
          }
          if (flying && fsm == 2 && z > high_z) high_z = z
          if (flying && last == 2 && last_dz > 0 && dz <= 0) {
              h = t - last_t; low = 0; high = 1
              while (high - low > 1e-6) { # the cubic has one maximum here
                  u = (low + high)/2
                  if (between(last_z, z, h*last_dz, h*dz, u + 1e-3) > between(last_z, z, h*last_dz, h*dz, u - 1e-3))
                      low = u
                  else
                      high = u
              }
              peak = between(last_z, z, h*last_dz, h*dz, low)
              if (peak > top) top = peak
          }
          last = fsm; last_t = t; last_z = z; last_dz = dz }
        END { if (lacks) { print ","; exit }
              mean = sum/n; printf "%.17g,%.17g\n", mean, sqrt(sum2/n - mean*mean) }' "$1"
}

# tracks FILE.csv FILE.csv: the columns of two files agree to 1e-9 of their greatest value in the root mean square, to
# 2e-8 everywhere. The first has modes in place of the machine's states.
tracks()
{
    paste -d , "$1" "$2" | awk -F , -v columns="$(head -n 1 "$1" | awk -F , '{ print NF }')" '
        NR == 1 { for (i = 1; i <= NF; i++) if (i <= columns) of_one[$i] = i; else of_two[$i] = i
            next }
        { rows++
          fsm = $of_one["mode"] == 0 ? 2 : $of_one["mode"] - 1
          if (fsm != $of_two["fsm"]) { printf "t = %s: fsm %s, expected %s\n", $1, fsm, $of_two["fsm"]; bad = 1 }
          for (name in of_two) {
              if (name == "fsm") continue
              apart = $of_one[name] - $of_two[name]; apart = apart < 0 ? -apart : apart
              size = $of_two[name] < 0 ? -$of_two[name] : $of_two[name]
              squares[name] += apart*apart
              if (apart > far[name]) { far[name] = apart; when[name] = $1 }
              if (size > great[name]) great[name] = size
          } }
        END { for (name in of_two) {
                  rms = sqrt(squares[name]/rows)
                  if (far[name] <= 2e-8*great[name] && rms <= 1e-9*great[name]) continue
                  printf "%s: %g apart, %g at t = %s, of at most %g\n", name, rms, far[name], when[name], great[name]
                  bad = 1
              }
              exit bad || rows < 1000 }'
}

echo apex_mean,apex_deviation | sed 's/apex/t_apex/g' >apexes.csv
trials=$(awk -F , 'NR > 1 { print $1 }' built_in.csv)
for trial in $trials; do
    for hopper in equations built_in; do
        "$HOPSCOTCH" replay "$hopper/$trial" --sample 0.001 -o "$hopper.track.csv" >out 2>err ||
            check 1 "replay $hopper/$trial"
    done
    tracks equations.track.csv built_in.track.csv >out
    check $? "trial $trial: the trajectories agree"
    apexes built_in.track.csv >>apexes.csv
done

# ---- metrics --------------------------------------------------------------------------------------------------------

sed 's/^/f_/; s/,/,f_/g; q' finer.csv >finer_named.csv && sed 1d finer.csv >>finer_named.csv
beside finer_named.csv apexes.csv
grep -q fell built_in.csv && awk -F , 'NR > 1 && $0 !~ /fell/ { some = 1 } END { exit !some }' built_in.csv
check $? "some hoppers fall, some do not"
holds 0 'failure == b_failure' 1
holds 0 hop_count b_hop_count
same survived velocity_error mean_speed distance attitude_rms peak_ground_force max_penetration
for metric in work_hip work_thrust dissipated_stop dissipated_ground change_kinetic; do
    holds 1e-9 "($metric - b_$metric)/b_energy" 0
done
holds 1e-9 energy_drift/b_energy 0
for metric in apex_mean apex_deviation; do
    holds 5e-10 "(t_$metric != nan ? $metric/t_$metric : 1)" 1 'of peaks in the trajectory of the built-in'
done
[ "$(grep -c '^[0-9]' apexes.csv)" -ge 1 ]
check $? "trajectories with all apexes inside of flights: $(grep -c '^[0-9]' apexes.csv)"
holds 5e-5 apex_mean/b_apex_mean 1 'at ends of steps'
holds 5e-4 apex_deviation/b_apex_std 1 'at ends of steps'
holds 2e-6 energy/b_energy 1 'across kinks'
holds 2e-6 cost_of_transport/b_cost_of_transport 1 'across kinks'
holds 5e-10 'cost_of_transport*b_energy/b_cost_of_transport/energy' 1 'but for the energy'

awk -F , 'function size(x) { return x < 0 ? -x : x }
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { energy = $at["energy"]; coarse += size($at["b_energy"]/energy - 1); fine += size($at["f_energy"]/energy - 1) }
    END { printf "a tenth of the tolerance: differences of %g become %g, expected a factor of 2.5\n", coarse, fine
          exit !(coarse > 1.8*fine && coarse < 4*fine) }' rows.csv >out
check $? "the energy of the built-in approaches that of the equations: $(cat out)"
exit $status
