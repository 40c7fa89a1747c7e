"""Finalists that race (verify --finalists, recommend) against numbers of their own making; needs numpy.

    python3 tests/finalists.py check NESTED.db SAID.json [--any]
        the program's named one and its probability, from the replicates that it stored; --any: one failure fails a
        trial of the search
    python3 tests/finalists.py study [REPEATS]
        how often a race names the best of normal models, what it says of that, and what equal shares take for the same

The model of the probability is that of runner/view/analysis/finalists.c, solved here by dense inverses.
"""
import json
import math
import sqlite3
import sys

import numpy


def rungs(candidates, start, count):
    """The trials and the replicates of each rung, by halves."""
    steps = [(candidates, start)]
    while steps[-1][1] < count:
        kept, n = math.ceil(steps[-1][0] / 2), 2 * steps[-1][1]
        steps.append((kept, count if n >= 0.75 * count else n))
    return steps


def cost(steps):
    return sum(kept * (n - before) for (kept, n), before in zip(steps, [0] + [n for _, n in steps]))


def race(y, steps):
    """y: [finalists][seeds]. Returns the named one and the replicates of each."""
    alive, had = numpy.arange(len(y)), numpy.full(len(y), steps[0][1])
    for (kept, n), (_, before) in zip(steps[1:], steps):
        mean = y[alive, :before].mean(1)
        alive = alive[numpy.argsort(mean, kind="stable")[:kept]]
        had[alive] = n
    mean = y[alive, :had[alive[0]]].mean(1)
    return alive[mean.argmin()], had


def posterior(y, had):
    """The means and covariances of the finalists' means; y has NaN where a replicate failed."""
    count, squares, freedom, before = len(y), 0.0, 0.0, 0
    precision, centre, first = numpy.zeros((count, count)), numpy.zeros(count), None
    for end in sorted(set(had)):
        who = numpy.flatnonzero(had >= end)
        part = y[who, before:end]
        before = end
        valid = ~numpy.isnan(part)
        n = valid.sum(1).astype(float)
        rest = part - numpy.nansum(part, axis=0) / numpy.maximum(valid.sum(0), 1)
        mean = numpy.where(n > 0, numpy.nansum(rest, axis=1) / numpy.maximum(n, 1), 0.0)
        if first is None:
            first = mean, n
        if len(who) < 2:
            break
        squares += numpy.nansum((rest - mean[:, None]) ** 2)
        freedom += max(0.0, n.sum() - (n > 0).sum() - valid.any(0).sum() + 1)
        weight = numpy.diag(n) - numpy.outer(n, n) / n.sum()
        precision[numpy.ix_(who, who)] += weight
        centre[who] += weight @ mean
    variance = squares / freedom
    mean, n = first
    noise = (variance / numpy.maximum(n, 1)).mean()
    spread = max(mean.var(ddof=1) - noise, 1e-3 * noise)
    covariance = numpy.linalg.inv(precision / variance + numpy.eye(count) / spread)
    return covariance @ (centre / variance), covariance


def probability(y, had, named, generator, draws=20000):
    mean, covariance = posterior(y, had)
    drawn = generator.multivariate_normal(mean, covariance, draws, method="cholesky")
    return (drawn.argmin(1) == named).mean()


def check(database, said, said_any):
    said = json.load(open(said))["recommended"]
    there = sqlite3.connect(database)
    rows = there.execute("SELECT trial, replicate, f, failure FROM replicates ORDER BY trial, replicate").fetchall()
    count, most = 1 + max(row[0] for row in rows), 1 + max(row[1] for row in rows)
    y, had = numpy.full((count, most), numpy.nan), numpy.zeros(count, int)
    for trial, replicate, f, failure in rows:
        had[trial] += 1
        y[trial, replicate] = f if failure == "none" else numpy.nan
    assert [one["seeds"] for one in said["candidates"]] == list(had), (said, had)
    assert said["simulations"] == had.sum() and said["seeds"] == had.max()
    finals = numpy.flatnonzero(had == had.max())
    failed = numpy.isnan(y[finals, :had.max()]).sum(1)
    named = min(zip(failed, numpy.nanmean(y[finals, :had.max()], axis=1), finals))[2]
    assert said["trial_there"] == named, (said["trial_there"], named)
    # finalists that fail more often than the named one under the same seeds are out
    out = [numpy.isnan(y[i, :had[i]]).sum() > numpy.isnan(y[named, :had[i]]).sum() for i in range(count)]
    rest = numpy.flatnonzero(~numpy.array(out) | (not said_any))
    mine = probability(y[rest], had[rest], list(rest).index(named), numpy.random.default_rng(1))
    assert said["compared"] == len(rest), (said["compared"], len(rest))
    print("probability %.3f, here %.3f" % (said["probability"], mine))
    assert abs(said["probability"] - mine) < 0.04  # 3.5 standard errors of 2,000 draws


def study(repeats):
    generator = numpy.random.default_rng(1)
    kinds = {
        "one is better by 0.5": lambda k: numpy.r_[-0.5, numpy.zeros(k - 1)],
        "one is better by 1": lambda k: numpy.r_[-1.0, numpy.zeros(k - 1)],
        "normal means, sd 0.3": lambda k: 0.3 * generator.normal(size=k),
        "normal means, sd 1": lambda k: generator.normal(size=k),
    }
    print("finalists, correlation by seeds, means: right, said; regret 95 %; simulations, of equal shares for as often")
    for k, start, count in (16, 4, 32), (64, 4, 128):
        steps = rungs(k, start, count)
        for common in 0.0, 0.5:
            for name, means in kinds.items():
                right, said, regret, equal = 0, 0.0, [], numpy.zeros(count + 1)
                for _ in range(repeats):
                    mu = means(k)
                    y = mu[:, None] + math.sqrt(common) * generator.normal(size=count)
                    y += math.sqrt(1 - common) * generator.normal(size=(k, count))
                    named, had = race(y, steps)
                    right += named == mu.argmin()
                    said += probability(y, had, named, generator, 500) / repeats
                    regret.append(mu[named] - mu.min())
                    chosen = (y.cumsum(1) / numpy.arange(1, count + 1)).argmin(0)
                    equal[1:] += chosen == mu.argmin()
                enough = numpy.flatnonzero(equal >= right)
                shares = k * enough[0] if len(enough) else k * count
                print("%d, %.1f, %s: %.3f, %.3f; %.2f; %d, %s%d: %.1f times" % (
                    k, common, name, right / repeats, said, numpy.quantile(regret, 0.95), cost(steps),
                    "" if len(enough) else "more than ", shares, shares / cost(steps)), flush=True)


if sys.argv[1] == "check":
    check(sys.argv[2], sys.argv[3], "--any" in sys.argv)
else:
    study(int(sys.argv[2]) if len(sys.argv) > 2 else 2000)
