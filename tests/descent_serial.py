"""Oracle of lbfgs with forward differences and `line: 1`:

    python3 descent_serial.py TABLE N FORWARD RATE MEMORY ITERATIONS

TABLE is CSV with the columns search, round, x1 to xN in [-5, 5], fitness, by id. Replays every search from its stored
results by the rules of runner/experiment/search/descent/lbfgs.c, written anew: the inverse Hessian is a dense matrix,
updated pair by pair (Nocedal & Wright, equation 6.17), not the two-loop recursion. Each stored point must be the one
that the rules ask for. Prints what differs, and how many steps, longer and shorter points, restarts and bounds it saw;
exit code 1 if anything differs.
"""

import csv
import itertools
import math
import sys

SEEN = dict.fromkeys(("steps", "longer", "shorter", "restarts", "held", "steepest"), 0)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def inside(x):
    return [min(max(value, 0.0), 1.0) for value in x]


def direction(pairs, x, slope, rate):
    """Down the slope, and whether it is that of steepest descent."""
    n = len(x)
    held = [(x[i] <= 0 and slope[i] > 0) or (x[i] >= 1 and slope[i] < 0) for i in range(n)]
    SEEN["held"] += any(held)
    free = [0.0 if held[i] else slope[i] for i in range(n)]
    masked = [([0.0 if held[i] else s[i] for i in range(n)], [0.0 if held[i] else y[i] for i in range(n)])
              for s, y in pairs]
    masked = [(s, y) for s, y in masked if dot(s, y) > 0]
    if masked:
        gamma = max(dot(s, s) / dot(s, y) for s, y in masked)
        inverse = [[gamma * (i == j) for j in range(n)] for i in range(n)]
        for s, y in masked:  # the oldest first
            rho = 1.0 / dot(s, y)
            left = [[(i == j) - rho * s[i] * y[j] for j in range(n)] for i in range(n)]
            half = [[dot(left[i], [inverse[k][j] for k in range(n)]) for j in range(n)] for i in range(n)]
            inverse = [[dot(half[i], left[j]) + rho * s[i] * s[j] for j in range(n)] for i in range(n)]
        down = [dot(row, free) for row in inverse]
        if dot(down, slope) > 0:
            longest = max(1.0, max(map(abs, down)))
            return [-value / longest for value in down], False
    length = math.sqrt(dot(free, free))
    return [-rate / length * value for value in free], True


def line(x, value, slope, down):
    """Asks for points of a line, by yielding them, and is sent what was stored. Gives (point, value), or None."""
    scale, found, failed = 1.0, None, 0
    while True:
        point = inside([x[i] + scale * down[i] for i in range(len(x))])
        point, there = yield point
        along = dot(slope, [a - b for a, b in zip(point, x)])
        bend = there - value - along
        times = -along / (2 * bend) if bend > 0 else math.inf
        better = there < value and there <= value + 1e-4 * along and (found is None or there < found[1])
        if not better and found is None:
            failed += 1
            if failed == 5:
                return None
            scale *= max(0.1, min(0.5, times))
            SEEN["shorter"] += 1
            continue
        if not better:
            return found
        found = point, there
        scale *= min(4.0, times)
        farther = inside([x[i] + scale * down[i] for i in range(len(x))])
        if times < 1.3 or max(abs(a - b) for a, b in zip(farther, point)) < 1e-15:
            return found
        SEEN["longer"] += 1


def restart(x, h, rate, memory, iterations):
    """Asks for the points of one restart from x, and is sent what was stored: the point and its fitness."""
    n, pairs, last, used = len(x), [], None, 0
    x, value = yield x
    while used < iterations:
        slope = []
        for i in range(n):
            beside = x[i] + h if x[i] + h <= 1 else x[i] - h
            point, there = yield x[:i] + [beside] + x[i + 1:]
            slope.append((there - value) / (point[i] - x[i]))
        if last is not None:
            s, y = [a - b for a, b in zip(x, last[0])], [a - b for a, b in zip(slope, last[1])]
            if dot(s, y) > 1e-12 * math.sqrt(dot(s, s) * dot(y, y)):
                pairs = (pairs + [(s, y)])[-memory:]
        last = x, slope
        down, steepest = direction(pairs, x, slope, rate)
        found = None
        while found is None:
            SEEN["steepest"] += steepest
            pairs = [] if steepest else pairs
            points = line(x, value, slope, down)
            ask = next(points)
            while found is None and used < iterations:
                used += 1
                try:
                    ask = points.send((yield ask))
                except StopIteration as end:
                    found = end.value
                    break
            if found is None and (steepest or used == iterations):
                return
            if found is None:
                down, steepest = direction([], x, slope, rate)
        SEEN["steps"] += 1
        x, value = found


def replay(rows, n, *options):
    """Rows of one search. What differs: (index, coordinate, expected, stored)."""
    asks, wrong, last = None, [], None
    for index, (point, fitness) in enumerate(rows):
        if asks is None:
            asks = restart(point, *options)
            expected = last = next(asks)
            SEEN["restarts"] += 1
        tolerance = 1e-4 * max(abs(a - b) for a, b in zip(expected, last)) + 1e-13
        wrong += [(index, i, expected[i], point[i]) for i in range(n) if abs(expected[i] - point[i]) > tolerance]
        last = point
        try:
            expected = asks.send((point, fitness))
        except StopIteration:
            asks = None
    return wrong


def main(table, n, forward, rate, memory, iterations):
    n = int(n)
    with open(table, encoding="utf-8") as file:
        rows = [(row["search"], [(float(row[f"x{i + 1}"]) + 5.0) / 10.0 for i in range(n)], float(row["fitness"]))
                for row in csv.DictReader(file)]
    differs = 0
    for search, own in itertools.groupby(sorted(rows, key=lambda row: row[0]), key=lambda row: row[0]):
        options = float(forward), float(rate), int(memory), int(iterations)
        wrong = replay([(point, fitness) for _, point, fitness in own], n, *options)
        for index, i, expected, stored in wrong[:3]:
            print(f"search {search}, trial {index} of it: x{i + 1} is {stored}, expected {expected}")
        differs += len(wrong)
    print(" ".join(f"{word} {count}" for word, count in SEEN.items()))
    return differs > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
