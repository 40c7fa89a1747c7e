#!/usr/bin/env python3
"""A simulator in Python under the runner beside a bare loop over the same calls: time per simulation.

    compare_command.py HOPSCOTCH FOLDER [GENERATIONS]

Runs experiments/mujoco/stand.yaml with one worker and then with two; GENERATIONS (5) of 20 trials with 3 replicates. The
worker writes down each call; then a bare loop makes the same calls, with the same parameters and seeds, in one process.
FOLDER is made anew. Needs numpy and mujoco (pip install numpy mujoco). With one worker, the difference is what the
runner takes, with its start and the recording of the best trials. Other load on the machine counts.
"""
import json
import os
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RECORDED = '''
import json
import stand

calls = open("calls", "a", buffering=1)


def simulate(**words):
    wanted = {name: value for name, value in words.items() if name not in ("trial", "replicate")}
    calls.write(json.dumps(wanted) + "\\n")
    return stand.simulate(**wanted)
'''


def run(hopscotch, folder, generations, workers):
    """Wall time of a run, and its calls."""
    open(os.path.join(folder, "calls"), "w").close()
    begin = time.perf_counter()
    subprocess.run([hopscotch, "run", "stand.yaml", "--name", f"with_{workers}", "--allow-programs", "--progress", "none",
                    "--set", f"search.cmaes.stop.generations={generations}", "--set", f"simulation.workers={workers}",
                    "--set", "simulation.program=[python3, -m, hopscotch.worker, recorded.py]"],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL)
    took = time.perf_counter() - begin
    with open(os.path.join(folder, "calls")) as file:
        return took, [json.loads(line) for line in file]


def bare(folder, calls):
    sys.path[:0] = [folder, os.path.join(ROOT, "runner", "python")]
    import stand
    from hopscotch.worker import Failure

    begin, fell = time.perf_counter(), 0
    for call in calls:
        try:
            stand.simulate(**call)
        except Failure:
            fell += 1
    return time.perf_counter() - begin, fell


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    hopscotch, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    generations = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    shutil.copytree(os.path.join(ROOT, "experiments", "mujoco"), folder)
    with open(os.path.join(folder, "recorded.py"), "w") as file:
        file.write(RECORDED)
    os.environ["PYTHONPATH"] = os.path.join(ROOT, "runner", "python")
    one, calls = run(hopscotch, folder, generations, 1)
    loop, fell = bare(folder, calls)
    two, again = run(hopscotch, folder, generations, 2)
    n = len(calls)
    print(f"{n} simulations, of which {fell} fell")
    print(f"bare loop            {1e3 * loop / n:8.3f} ms per simulation")
    print(f"runner, one worker   {1e3 * one / n:8.3f} ms, {1e6 * (one - loop) / n:.0f} us more")
    print(f"runner, two workers  {1e3 * two / len(again):8.3f} ms, {one / two:.2f} times as fast as one")


main()
