#!/bin/sh
# Systems of a spec (model equations) against numbers from elsewhere: problems of the test set for initial value
# problems (Mazzia & Magherini, release 2.4) at their end points, Lorenz's and Duffing's by Taylor series with 40
# digits. Then the orders of the integrators, without an event and with one.
. "$(dirname "$0")/../scratch.sh"
. "$root/tests/equations.sh"

# ---- stiff ----------------------------------------------------------------------------------------------------------

# t = 40: as in Hairer & Wanner II, IV.10; 1e11: the test set
system robertson 'duration: 1.0e11' 'integrator: rodas5p' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {a: {start: 1, scale: 1.0e-8}, b: {start: 0, scale: 1.0e-14}, c: 0}
let: {first: 0.04*a, second: 3.0e7*b^2, third: 1.0e4*b*c}
rates: {a: third - first, b: first - second - third, c: second}
metrics: {a_end: {final: a}, b_end: {final: b}, c_end: {final: c}, total: {final: a + b + c}}
END_OF_SYSTEM
for tolerance in 1e-6 1e-9; do
    rows robertson --set "simulation.tolerance=$tolerance"
    holds "100*$tolerance" '1e8*a_end' 2.083340149701255
    holds "20*$tolerance" '1e13*b_end' 0.8333360770334713
    holds "20*$tolerance" c_end 0.9999999791665050
    holds 1e-12 total 1
    rows robertson --set "simulation.tolerance=$tolerance" --set simulation.duration=40
    holds "20*$tolerance" a_end 0.7158270687193941
    holds "20*$tolerance" '1e5*b_end' 0.9185534764557338
    holds "20*$tolerance" c_end 0.2841637457458413
done

system hires 'duration: 321.8122' 'integrator: rodas5p' <<'END_OF_SYSTEM'
parameters: {p: 0}
states:
  a: {start: 1, scale: 1.0e-3}
  b: {start: 0, scale: 1.0e-3}
  c: {start: 0, scale: 1.0e-3}
  d: {start: 0, scale: 1.0e-3}
  e: {start: 0, scale: 1.0e-3}
  f: {start: 0, scale: 1.0e-3}
  g: {start: 0, scale: 1.0e-3}
  h: {start: 0.0057, scale: 1.0e-3}
let: {fh: 280*f*h}
rates:
  a: "-1.71*a + 0.43*b + 8.32*c + 0.0007"
  b: "1.71*a - 8.75*b"
  c: "-10.03*c + 0.43*d + 0.035*e"
  d: "8.32*b + 1.71*c - 1.12*d"
  e: "-1.745*e + 0.43*f + 0.43*g"
  f: "-fh + 0.69*d + 1.71*e - 0.43*f + 0.69*g"
  g: "fh - 1.81*g"
  h: "-fh + 1.81*g"
metrics: {a_end: {final: a}, b_end: {final: b}, e_end: {final: e}, g_end: {final: g}, h_end: {final: h}}
END_OF_SYSTEM
for integrator in rodas5p dormand_prince; do
    for tolerance in 1e-6 1e-9; do
        rows hires --set "simulation.tolerance=$tolerance" --set "simulation.integrator=$integrator"
        holds "50*$tolerance" '1e3*a_end' 0.7371312573325668 "$integrator"
        holds "50*$tolerance" '1e3*b_end' 0.1442485726316185 "$integrator"
        holds "50*$tolerance" '1e3*e_end' 2.386356198831331 "$integrator"
        holds "50*$tolerance" '1e3*g_end' 2.849998395185769 "$integrator"
        holds "50*$tolerance" '1e3*h_end' 2.850001604814231 "$integrator"
    done
done

# van der Pol's equation with mu = 1/sqrt(eps), in the time t/mu, at 2
over='{eps: [1.0e-6]}' system vdpol 'duration: 2' 'integrator: rodas5p' <<'END_OF_SYSTEM'
parameters: {eps: 1.0e-6}
states: {y: 2, v: 0}
rates: {y: v, v: "((1 - y^2)*v - y)/eps"}
metrics: {y_end: {final: y}, v_end: {final: v}}
END_OF_SYSTEM
for tolerance in 1e-6 1e-9; do
    rows vdpol --set "simulation.tolerance=$tolerance"
    holds "200*$tolerance" y_end 1.706167732170483
    holds "200*$tolerance" v_end -0.8928097010247975
done
system vdpol_slow 'duration: 2000' 'integrator: rodas5p' 'tolerance: 1e-9' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {y: 2, v: {start: 0, scale: 1.0e-3}}
rates: {y: v, v: "1000*(1 - y^2)*v - y"}
metrics: {y_end: {final: y}, v_end: {final: v}}
END_OF_SYSTEM
rows vdpol_slow
holds 2e-7 y_end 1.706167732170469
holds 2e-7 '1000*v_end' -0.892809701024

# ---- not stiff ------------------------------------------------------------------------------------------------------

# seven stars; masses 1 to 7
awk 'BEGIN {
    split("3 3 -1 -3 2 -2 2", x, " "); split("3 -3 2 0 0 -4 4", y, " ")
    split("0 0 0 0 0 1.75 -1.5", vx, " "); split("0 0 0 -1.25 1 0 0", vy, " ")
    print "parameters: {p: 0}\nstates:"
    for (i = 1; i <= 7; i++)
        printf "  x%d: %s\n  y%d: %s\n  vx%d: %s\n  vy%d: %s\n", i, x[i], i, y[i], i, vx[i], i, vy[i]
    print "let:"
    for (i = 1; i <= 7; i++)
        for (j = i + 1; j <= 7; j++) printf "  r%d%d: hypot(x%d - x%d, y%d - y%d)^3\n", i, j, i, j, i, j
    print "rates:"
    for (i = 1; i <= 7; i++) {
        printf "  x%d: vx%d\n  y%d: vy%d\n", i, i, i, i
        for (axis = 0; axis < 2; axis++) {
            name = axis ? "y" : "x"
            printf "  v%s%d: \"0", name, i
            for (j = 1; j <= 7; j++)
                if (j != i)
                    printf " + %d*(%s%d - %s%d)/r%d%d", j, name, j, name, i, i < j ? i : j, i < j ? j : i
            print "\""
        }
    }
    printf "metrics: {x1_end: {final: x1}, x3_end: {final: x3}, x7_end: {final: x7}, "
    print "y4_end: {final: y4}, y7_end: {final: y7}}"
}' | system pleiades 'duration: 3'
for integrator in dormand_prince rodas5p; do
    for tolerance in 1e-7 1e-10; do
        rows pleiades --set "simulation.tolerance=$tolerance" --set "simulation.integrator=$integrator"
        holds "3000*$tolerance" x1_end 0.3706139143970502 "$integrator"
        holds "3000*$tolerance" x3_end -3.222559032418324 "$integrator"
        holds "3000*$tolerance" x7_end -0.7003092922212495 "$integrator"
        holds "3000*$tolerance" y4_end -2.590612434977470 "$integrator"
        holds "3000*$tolerance" y7_end 1.091449240428980 "$integrator"
    done
done

system lorenz 'duration: 10' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {x: 1, y: 1, z: 1}
rates: {x: "10*(y - x)", y: "x*(28 - z) - y", z: "x*y - 8*z/3"}
metrics: {x_end: {final: x}, y_end: {final: y}, z_end: {final: z}}
END_OF_SYSTEM
system duffing 'duration: 10' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {x: 1, v: 0}
rates: {x: v, v: "x - x^3 - 0.3*v + 0.5*cos(1.2*time)"}
metrics: {x_end: {final: x}, v_end: {final: v}}
END_OF_SYSTEM
for integrator in dormand_prince rodas5p; do
    for tolerance in 1e-8 1e-12; do
        set -- --set "simulation.tolerance=$tolerance" --set "simulation.integrator=$integrator"
        rows lorenz "$@"
        holds "20000*$tolerance" x_end -4.902687541134645731904 "$integrator"
        holds "20000*$tolerance" y_end -3.743872921802919616315 "$integrator"
        holds "20000*$tolerance" z_end 24.69085810279055545322 "$integrator"
        rows duffing "$@"
        holds "50*$tolerance + 1e-13" x_end 0.1439625288165923989821 "$integrator"
        holds "50*$tolerance + 1e-13" v_end -0.04816343124454919361747 "$integrator"
    done
done

# ---- orders ---------------------------------------------------------------------------------------------------------

# x'' = -x from 1 at rest: cos t. wall: it comes back from x = -1/2 with 0.8 of its speed, at 2 pi/3.
system smooth 'duration: 4' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {x: 1, v: 0}
rates: {x: v, v: -x}
metrics: {x_end: {final: x}, v_end: {final: v}, square: {integral: x^2}}
END_OF_SYSTEM
sed 's/: smooth/: wall/; s/^    metrics/    events: [{name: hit, falls: x + 0.5, set: {v: -0.8*v}}]\n    metrics/' \
    smooth.yaml >wall.yaml

# error NAME: of $order's run, the larger of those of x and v
error()
{
    awk -F , -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { x = cos(4); v = -sin(4); pi = atan2(0, -1)
          if (name == "wall") { s = 4 - 2*pi/3; c = 0.8*sqrt(0.75); x = -cos(s)/2 + c*sin(s); v = sin(s)/2 + c*cos(s) }
          x -= $at["x_end"]; v -= $at["v_end"]; printf "%.17g\n", sqrt(x*x + v*v) }' rows.csv
}
while read -r integrator order; do
    for case in smooth wall; do
        rows "$case" --set "simulation.integrator=$integrator" --set simulation.dt=0.08
        coarse=$(error "$case")
        rows "$case" --set "simulation.integrator=$integrator" --set simulation.dt=0.005
        fine=$(error "$case")
        got=$(awk -v a="$coarse" -v b="$fine" 'BEGIN { printf "%.2f", log(a/b)/log(16) }')
        awk -v got="$got" -v order="$order" 'BEGIN { exit !(got > order - 0.2 && got < order + 0.5) }'
        check $? "$integrator, $case: order $got, expected $order (errors $coarse, $fine)"
    done
done <<'END_OF_ORDERS'
rk4 4
semi_implicit_euler 1
implicit_midpoint 2
END_OF_ORDERS
for integrator in dormand_prince rodas5p; do
    for case in smooth wall; do
        for tolerance in 1e-4 1e-7 1e-10; do
            rows "$case" --set "simulation.integrator=$integrator" --set "simulation.tolerance=$tolerance"
            awk -v error="$(error "$case")" -v most="$tolerance" 'BEGIN { exit !(error < 20*most) }'
            check $? "$integrator, $case: the error $(error "$case") is about the tolerance $tolerance"
        done
    done
done
exit $status
