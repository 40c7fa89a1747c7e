#!/usr/bin/env python3
"""The numbers of tests/unit/test_surrogate.c, from numpy and scipy: weighted least squares by the pseudo-inverse in the
coordinates of the search, Kendall's tau-b.

    python3 tests/unit/surrogate_references.py
"""
import numpy
import scipy.stats

N = 3


def point(i):
    return numpy.array([(37 * i + 101 * j + 13 * i * j + 7 * i * i) % 97 / 9.7 for j in range(N)])


def fitness(u):
    return 100.0 * (u[0] * u[0] / 10.0 - u[1]) ** 2 + (u[0] - 3.0) ** 2 + u[1] * u[2] + u[2]


def terms(z, kind):
    found = list(z)
    if kind >= 2:
        found += [x * x for x in z]
    if kind == 3:
        found += [z[i] * z[j] for i in range(N) for j in range(i + 1, N)]
    return numpy.array(found)


def fit(count):
    """Kind of the model, and its values at points 1001, 1002 and 1003."""
    points = [point(i) for i in range(count)]
    values = numpy.array([fitness(u) for u in points])
    kind = 3 if 0.75 * count >= 1.1 * 10 else 2 if 0.75 * count >= 1.1 * 7 else 1
    rows = min(count, max({1: N, 2: 2 * N, 3: 9}[kind] + 3, int(0.75 * (count + 1))))
    order = numpy.argsort(values, kind="stable")[:rows]
    weight = numpy.linspace(20, 1, rows)
    centre = points[order[0]]
    scale = max(abs(points[i][j] - centre[j]) for i in order for j in range(N))
    A = numpy.array([terms((points[i] - centre) / scale, kind) for i in order])
    b = values[order]
    square = weight**2 / sum(weight**2)
    mean, level = square @ A, square @ b
    x = numpy.linalg.pinv(weight[:, None] * (A - mean)) @ (weight * (b - level))
    return kind, [level + x @ (terms((point(i) - centre) / scale, kind) - mean) for i in (1001, 1002, 1003)]


for count in (2, 4, 9, 12, 20):
    kind, values = fit(count)
    print(f"    {{{count}, {kind}, {{{', '.join(f'{value:.12g}' for value in values)}}}}},")
rng = numpy.random.RandomState(3)
A, b = rng.randint(-9, 10, (5, 3)), rng.randint(-9, 10, 5)
print(A.T.tolist(), b.tolist(), numpy.linalg.lstsq(A, b, rcond=None)[0].tolist())
A = rng.randint(-9, 10, (3, 5))
b = b[:3]
print(A.T.tolist(), b.tolist(), numpy.linalg.lstsq(A, b, rcond=None)[0].tolist())
A = rng.randint(-9, 10, (5, 2))
A = numpy.hstack([A, A[:, :1] - 2 * A[:, 1:], A[:, 1:]])
b = rng.randint(-9, 10, 5)
print(A.T.tolist(), b.tolist(), numpy.linalg.lstsq(A, b, rcond=1e-12)[0].tolist())
for a, b in (([1, 2, 3, 4, 5], [2, 1, 4, 3, 5]), ([1, 1, 2, 3, 3, 4], [1, 2, 2, 5, 4, 4]), ([3, 1, 2, 9, 9], [1, 2, 3, 4, 5])):
    print(a, b, repr(float(scipy.stats.kendalltau(a, b)[0])))
