#!/usr/bin/env python3
"""Prints rows x, sin x, cos x, tan x for math_far of test_portable_math.c: doubles nearest to multiples of pi/2, from the
convergents of 2^e 2/pi, and some large ones. Needs mpmath."""
from mpmath import mp, mpf

mp.prec = 3000


def nearest(e):
    """(distance, m) with the least distance of m 2^e 2/pi to an integer, 2^40 <= m < 2^53."""
    a = x = mpf(2) ** e * 2 / mp.pi
    k0, k1, best = 0, 1, None
    while True:
        a = 1 / (a - mp.floor(a))
        k0, k1 = k1, int(mp.floor(a)) * k1 + k0
        if k1 >= 2**53:
            return best
        if k1 >= 2**40:
            distance = abs(k1 * x - mp.nint(k1 * x))
            if best is None or distance < best[0]:
                best = (distance, k1)


hardest = sorted((*found, e) for e in range(-22, 972) if (found := nearest(e)))[:24]
angles = [float(mpf(m) * mpf(2) ** e) for _, m, e in hardest] + [6381956970095103 * 2.0**797]
angles += [2.0**30 * (1 + 2.0**-52), -(2.0**31), 2.0**52 + 1, 2.0**53, -(2.0**64), 1e22, -1e100, 1e300, 2.0**1023]
for x in dict.fromkeys(angles + [1.7976931348623157e308]):
    if abs(x) > 2**30:
        print("    {%s}," % ", ".join(y.hex() for y in (x, float(mp.sin(x)), float(mp.cos(x)), float(mp.tan(x)))))
