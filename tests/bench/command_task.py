"""A worker that takes 10 ms per trial, for command_overhead.sh: asleep or computing.

    command_task.py sleep|compute
"""

import json
import sys
import time

SECONDS = 0.01


def compute():
    end, n = time.perf_counter() + SECONDS, 0
    while time.perf_counter() < end:
        n += 1


work = {"sleep": lambda: time.sleep(SECONDS), "compute": compute}[sys.argv[1]]
sys.stdin.readline()
print('{"hello": 1}', flush=True)
for line in sys.stdin:
    request = json.loads(line)
    work()
    print('{"id": %d, "metrics": {"y": %r}}' % (request["id"], request["parameters"]["x"]), flush=True)
