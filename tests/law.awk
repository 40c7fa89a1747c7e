# A random control law of a robot (law.sh), as a spec: awk -v seed=N [-v nets=1] -f law.awk
# nets: it asks one or two networks. Expressions are smooth, or bend where laws do: min, max, clip, abs, if. Some laws add to a gait, and some have inputs.
function r(n) { return int(n * rand()) }
function pick(list,   parts, n) { n = split(list, parts, " "); return parts[1 + r(n)] }
function number() { return sprintf("%.3f", 0.05 + 0.9 * rand()) }
# a column, divided by 1 of its unit
function unit(name) {
    if (name == "time") return "u_s"
    if (name ~ /^(roll|pitch)$/) return "u_rad"
    if (name ~ /^base_[xz]$/) return "u_m"
    if (name == "base_vx" || name == "rail_rate") return "u_v"
    if (name == "base_wy" || name ~ /_rate$/) return "u_w"
    if (name == "rail_torque" || name ~ /_force$/) return "u_N"
    if (name ~ /_torque$/) return "u_t"
    if (name ~ /^rail_/) return "u_m"
    return name ~ /_(q|command)$/ ? "u_rad" : ""
}
function bare(name) { return unit(name) == "" ? name : name "/" unit(name) }
function leaf() { return rand() < 0.7 ? bare(pick(seen)) : rand() < 0.6 ? pick(gains) : number() }
function e(deep,   k) {
    if (deep == 0 || rand() < 0.15) return leaf()
    k = r(11)
    if (k < 2) return "(" e(deep - 1) " + " e(deep - 1) ")"
    if (k < 4) return "(" e(deep - 1) " * " e(deep - 1) ")"
    if (k == 4) return "(" e(deep - 1) " - " e(deep - 1) ")"
    if (k == 5) return "sin(" e(deep - 1) ")"
    if (k == 6) return "tanh(" e(deep - 1) ")"
    if (k == 7) return "clip(" e(deep - 1) ", -0.8, 0.9)"
    if (k == 8) return "max(" e(deep - 1) ", " e(deep - 1) ")"
    if (k == 9) return "atan2(" e(deep - 1) ", 2 + (" e(deep - 1) ")^2)"
    return "if(" e(deep - 1) " > " number() ", " e(deep - 1) ", " e(deep - 1) ")"
}
function small(size, of) { return sprintf("\"%s*%s*tanh(%s)\"", size, of, e(3)) }
# a network of this name with random weights, whose outputs are seen from now on
function network(name,   layers, width, k, o, i, row, given) {
    layers = 1 + r(3)
    width[0] = 1 + r(4)
    for (k = 1; k <= layers; k++) width[k] = 1 + r(k < layers ? 6 : 3)
    printf "        %s: {observe: [", name
    for (i = 0; i < width[0]; i++) printf "%s\"%s\"", (i > 0 ? ", " : ""), e(2)
    printf "], weights: ["
    for (k = 1; k <= layers; k++)
        for (o = 1; o <= width[k]; o++)
            for (i = 0; i <= width[k - 1]; i++)
                printf "%s[%d, %d, %d, %.4f]", (row++ > 0 ? ", " : ""), k, o, i, 1.6 * rand() - 0.8
    print "]}"
    for (o = 1; o <= width[layers]; o++) given = given " " name "_" o
    return given
}
BEGIN {
    srand(seed)
    robot = seed % 3 == 0 ? "quadruped" : seed % 3 == 1 ? "arm" : "leg"
    gains = "g1 g2 g3 g4"
    joints = robot == "quadruped" ? "front_left_hip front_left_knee hind_right_thigh hind_left_knee" : \
             robot == "arm" ? "rail link_1 link_2" : "hip knee"
    n = split(joints, joint, " ")
    seen = "time h1 h2 s"
    gait = seed % 4 == 2
    commands = gait ? "add" : "command"
    inputs = seed % 5 == 2
    if (inputs) seen = seen " push kick"
    for (i = 1; i <= n; i++)
        seen = seen " " joint[i] "_q " joint[i] "_rate " joint[i] "_torque " joint[i] "_command"
    if (robot != "arm") seen = seen " base_z roll pitch base_vx base_wy base_x"
    foot = robot == "quadruped" ? "front_left_shank_link_force" : robot == "leg" ? "shank_force" : ""
    if (foot != "") let = "0.01*" bare(foot) " + "
    print "version: 1\nexperiment: g\nmodel: articulated\nseed: " seed "\nsimulation:"
    print "  robot: " robot ".xml\n  duration: 0.24\n  dt: 0.002"
    if (robot == "quadruped") print "  keyframe: [stand]\n  settle: true"
    print "  control:\n    mode: " (gait ? "gait" : "law") "\n    period: " pick("0.002 0.004 0.01 0.016")
    if (inputs) print "    actions: [0.3, -0.2, 0.7, 0.4, -2, 0.1, 0.2, 0.6]"
    print "    law:"
    if (inputs) print "      inputs: {push: {range: [-0.8, 0.8]}, kick: {range: [-0.3, 0.5]}}"
    print "      parameters: {g1: " number() ", g2: " number() ", g3: " number() ", g4: " number() ", "
    print "        b: {value: 0.02, unit: " (robot == "arm" ? "m" : "rad") "}, u_s: {value: 1, unit: s},"
    print "        u_rad: {value: 1, unit: rad},"
    print "        u_m: {value: 1, unit: m}, u_v: {value: 1, unit: m/s}, u_w: {value: 1, unit: rad/s},"
    print "        u_N: {value: 1, unit: N}, u_t: {value: 1, unit: N m}}"
    print "      held: {h1: " number() ", h2: g2*" number() "}"
    print "      let: {s: \"" let "0.3*" bare(joint[1] "_rate") "\"}"
    print "      every_period: {h1: \"0.9*h1 + 0.1*tanh(" e(2) ")\", h2: \"0.5*h2 + tanh(" e(2) ")\"}"
    if (rand() < 0.5)
        print "      sensors: {" joint[1] "_q: {delay: " 1 + r(4) ", bias: b}, \"*_command\": {delay: 1}, " \
              (robot == "arm" ? "link_1_rate" : "base_wy") ": {noise: " (rand() < 0.5 ? "0.05" : "0.1*g1") "*u_w}}"
    if (nets) {
        print "      policies:"
        given = network("walk")
        if (seed % 2) given = given network("lean")
        seen = seen given given given
    }
    modes = rand() < 0.5
    if (modes) {
        print "      modes:"
        print "        one: {events: [{rises: time - 0.07*u_s, to: two, set: {h1: \"h1 + g3*" \
              bare(joint[2] "_q") "\"}}],"
        print "              every_period: {h2: \"0.3 + sin(" e(2) ")\"}, " commands ": {" joint[1] ": " \
              small("0.3", unit(joint[1] "_q")) "}}"
        print "        two: {events: [{at: 0.15, to: one}], " commands ": {" joint[1] ": " \
              small("0.2", unit(joint[1] "_q")) "}}"
    }
    printf "      %s: {", commands
    for (i = modes ? 2 : 1; i < n; i++)
        printf("%s%s: %s", (i == (modes ? 2 : 1) ? "" : ", "), joint[i], small("0.3", unit(joint[i] "_q")))
    if (n == 2 && modes) printf("%s: %s", joint[2], small("0.3", "u_rad"))
    print "}"
    print "      effort: {" joint[n] ": " small((rand() < 0.3 ? "9" : "2"), "u_t") "}"
    size = robot == "quadruped" ? "all_kp: 80, all_kd: 2, " : ""
    if (gait) size = size "all_amplitude: 0.1, all_phase: 0.4, gait_frequency: 2, "
    print "parameters: {" size "gravity: 9.7}"
    out = "hypot(2*" joint[n] "_q - 0.3, " joint[2] "_q)"
    print "metrics: {m1: {final: \"" out "\"}, m2: {rms: " joint[n] "_torque}, m3: {integral: " joint[1] "_command^2}}"
    print "search: {method: random, trials: 1, over: {g1: {range: [0.1, 0.9]}}}"
    print "objective: {minimize: \"m1 + 0.1*m2 + m3 + 0.01*energy" \
          (rand() < 0.5 ? " + 0.001*action_rate" : "") "\"}"
}
