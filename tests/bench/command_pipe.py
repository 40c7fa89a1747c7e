"""A bare exchange of requests and answers over two pipes with a worker of `model: command`: us per trial.

    command_pipe.py WORKER [TRIALS]

The requests are as long as the runner's. Nothing is checked or stored, so the rest of a trial's time is the runner's.
"""

import os
import subprocess
import sys
import time

REQUEST = b'{"id": %d, "trial": %d, "replicate": 0, "seed": 9007199254740991, "trajectory": false, "parameters": ' \
          b'{"x": 0.123456789012345}}\n'


def main():
    trials = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    worker = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    to, of = worker.stdin.fileno(), worker.stdout.fileno()
    os.write(to, b'{"hello": 1, "parameters": ["x"], "metrics": ["y"], "columns": [], "failures": []}\n')
    os.read(of, 65536)
    begin = time.perf_counter()
    for i in range(trials):
        os.write(to, REQUEST % (i, i))
        answer = os.read(of, 65536)
    assert answer.startswith(b'{"id": %d,' % (trials - 1)), answer
    print(f"{1e6 * (time.perf_counter() - begin) / trials:.1f}")
    worker.stdin.close()
    worker.wait()


main()
