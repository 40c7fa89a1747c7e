"""Robertson's reaction to 1e5 s for many rate constants: `rodas5p` of model equations beside Radau of scipy and
Kvaerno5 of diffrax, with fp64, on the same trials.

    python3 tests/bench/compare_stiff.py PROGRAM [TRIALS]

Prints microseconds a trial, on one thread (diffrax: as JAX takes them), and the greatest relative error of the amount c
at the end against Radau with tolerance 1e-11. Needs numpy and scipy; diffrax is left out where it is not installed.
"""
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

END = 1e5
SCALE = np.array([1.0, 1e-5, 1.0])
SPEC = """version: 1
experiment: rates
model: equations
simulation:
  duration: 1e5
  dt: 1e3
  integrator: rodas5p
  tolerance: {tolerance}
  system:
    parameters: {{k1: 0.04, k2: 3e7, k3: 1e4}}
    states: {{a: 1, b: {{start: 0, scale: 1e-5}}, c: 0}}
    rates: {{a: -k1*a + k3*b*c, b: k1*a - k3*b*c - k2*b^2, c: k2*b^2}}
    metrics: {{c_end: {{final: c}}}}
search: {{method: random, trials: {trials}, over: {{k1: {{range: [0.01, 0.1]}}, k3: {{range: [1e3, 1e5], scale: log}}}}}}
objective: {{maximize: c_end}}
"""


def ours(program, trials, tolerance):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rates.yaml").write_text(SPEC.format(trials=trials, tolerance=tolerance))
        command = [program, "run", "rates.yaml", "--backend", "cpu", "--threads", "1", "--progress", "none"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        database = sqlite3.connect(Path(folder) / "results/rates/campaign.db")
        rows = np.array(database.execute("SELECT k1, k3, c_end FROM trials ORDER BY id").fetchall())
        (seconds,) = database.execute("SELECT sum(kernel_seconds) FROM batches").fetchone()
    return rows[:, 0], rows[:, 1], rows[:, 2], seconds


def rates_of(k1, k3):
    def rates(_, y):
        slow, back, fast = k1 * y[0], k3 * y[1] * y[2], 3e7 * y[1] ** 2
        return [back - slow, slow - back - fast, fast]

    def slopes(_, y):
        return [
            [-k1, k3 * y[2], k3 * y[1]],
            [k1, -k3 * y[2] - 6e7 * y[1], -k3 * y[1]],
            [0, 6e7 * y[1], 0],
        ]

    return rates, slopes


def radau(k1, k3, tolerance):
    ends, begin = [], time.perf_counter()
    for one, three in zip(k1, k3):
        rates, slopes = rates_of(one, three)
        options = {"method": "Radau", "rtol": tolerance, "atol": tolerance * SCALE, "jac": slopes}
        ends.append(solve_ivp(rates, (0, END), [1.0, 0.0, 0.0], **options).y[2, -1])
    return np.array(ends), time.perf_counter() - begin


def kvaerno5(k1, k3, tolerance):
    import diffrax
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def rates(_, y, k):
        slow, back, fast = k[0] * y[0], k[1] * y[1] * y[2], 3e7 * y[1] ** 2
        return jnp.stack([back - slow, slow - back - fast, fast])

    def end(k):
        control = diffrax.PIDController(rtol=tolerance, atol=tolerance * jnp.asarray(SCALE))
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(rates), diffrax.Kvaerno5(), 0.0, END, 1e-6, jnp.array([1.0, 0.0, 0.0]), args=k,
            stepsize_controller=control, max_steps=100000, saveat=diffrax.SaveAt(t1=True),
        )
        return solution.ys[0, 2]

    solve = jax.jit(jax.vmap(end))
    constants = jnp.stack([jnp.asarray(k1), jnp.asarray(k3)], axis=1)
    solve(constants).block_until_ready()  # compiles
    begin = time.perf_counter()
    ends = solve(constants).block_until_ready()
    return np.asarray(ends), time.perf_counter() - begin


def main():
    program, trials = str(Path(sys.argv[1]).resolve()), int(sys.argv[2]) if len(sys.argv) > 2 else 20000
    k1, k3, ends, seconds = ours(program, trials, 1e-6)
    few = slice(0, min(100, trials))
    reference, _ = radau(k1[few], k3[few], 1e-11)
    print(f"{'method, tolerance 1e-6':28} {'us a trial':>12} {'error':>10}")

    def line(name, per_trial, values):
        print(f"{name:28} {1e6 * per_trial:12.1f} {np.max(np.abs(values / reference - 1)):10.1e}")

    line("rodas5p", seconds / trials, ends[few])
    values, seconds = radau(k1[few], k3[few], 1e-6)
    line("Radau (scipy)", seconds / len(values), values)
    try:
        values, seconds = kvaerno5(k1[:2000], k3[:2000], 1e-6)
        line("Kvaerno5 (diffrax)", seconds / len(values), values[few])
    except ImportError:
        print("diffrax is not installed: left out")


main()
