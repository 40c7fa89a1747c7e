#!/bin/sh
# A simulator in a shell: a mass of 1 kg on a damped spring, released at 1 m; semi-implicit Euler in awk. Its metrics
# are where the mass is after 0.25, 0.5, ... 2 s.

read -r hello
echo '{"hello": 1, "version": "identify_spring 1"}'

while read -r request; do
    printf '%s\n' "$request" | awk '
    function number(name,    text) { # the number behind "name":
        text = $0
        sub(".*\"" name "\": *", "", text)
        return text + 0
    }
    {
        stiffness = number("stiffness"); damping = number("damping")
        dt = 0.001; x = 1; v = 0; metrics = ""
        for (i = 1; i <= 2000; i++) {
            v += dt * (-stiffness * x - damping * v)
            x += dt * v
            if (i % 250 == 0) metrics = metrics (i > 250 ? ", " : "") sprintf("\"x%d\": %.17g", i / 250, x)
        }
        printf "{\"id\": %d, \"metrics\": {%s}, \"failure\": null}\n", number("id"), metrics
    }'
done
