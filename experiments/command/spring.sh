#!/bin/sh
# A simulator in a shell: a mass on a damped spring, released at 1 m; semi-implicit Euler in awk. Every request is one
# line of JSON on standard input, every answer one line on standard output; the first line each way is a hello.

read -r hello
echo '{"hello": 1, "version": "spring 1"}'

while read -r request; do
    printf '%s\n' "$request" | awk '
    function number(name,    text) { # the number behind "name":
        text = $0
        sub(".*\"" name "\": *", "", text)
        return text + 0
    }
    {
        stiffness = number("stiffness"); damping = number("damping")
        dt = 0.001; x = 1; v = 0; times = ""; places = ""
        for (i = 1; i <= 5000 && x < 10; i++) {
            v += dt * (-stiffness * x - damping * v)
            x += dt * v
            energy += dt * damping * v * v
            if (x > 0.02 || x < -0.02) settled = i * dt
            if (i % 50 == 0) {
                comma = i > 50 ? ", " : ""
                times = times comma i * dt
                places = places comma sprintf("%.17g", x)
            }
        }
        wanted = index($0, "\"trajectory\": true")
        printf "{\"id\": %d, \"metrics\": {\"settled\": %.17g, \"energy\": %.17g}, ", number("id"), settled, energy
        printf "\"failure\": %s, ", x < 10 ? "null" : "\"unstable\""
        printf "\"trajectory\": %s}\n", wanted ? "{\"time\": [" times "], \"x\": [" places "]}" : "null"
    }'
done
