"""Every system call of a small campaign fails once: each write, fsync, rename, open, ... of the program and of SQLite,
with each suitable reason; and each allocation of the program and of SQLite (a sample of HDF5's). In a fresh run, in a
run that recovers from a crash, and in an adaptive search (there also a sample of SQLite's allocations). The program
must not crash or hang. It ends with exit code 3 and a message that names the file, or works without; and the resumed
campaign equals the uninterrupted one. KILL is SIGKILL in place of the call.

JOBS=N   runs at a time (the number of processors)      ONLY="write fsync"   some operations
SCENARIOS="blocks resumed_some"   some of those in SPECS
"""
import collections
import multiprocessing
import os
import subprocess

import crash

# operation: suitable reasons; STEPS: every N-th call is tried
RUN_ALL = {
    "open": ("EMFILE", "EIO", "EACCES", "EINTR", "KILL"),
    "close": ("EIO", "EINTR"),
    "read": ("EIO", "SHORT", "EINTR"),
    "write": ("ENOSPC", "EIO", "EDQUOT", "SHORT", "EINTR", "KILL"),
    "fsync": ("EIO", "ENOSPC", "EINTR", "KILL"),
    "truncate": ("EIO", "EINTR", "KILL"),
    "rename": ("EIO", "ENOSPC", "KILL"),
    "unlink": ("EIO", "EACCES", "KILL"),
    "mkdir": ("ENOSPC", "EROFS", "KILL"),
    "stat": ("EIO", "EACCES"),
    "lock": ("ENOLCK", "EINTR"),
    "list": ("EMFILE", "EIO"),
    "space": ("EIO",),
    "own": ("ENOMEM",),
    "sqlite": ("ENOMEM",),
    "hdf5": ("ENOMEM",),
}
MEMORY = ("own", "sqlite", "hdf5")
STEPS = {("run", "hdf5"): 97, ("recovery", "hdf5"): 97, ("recovery", "sqlite"): 29,
         ("learning", "hdf5"): 97, ("learning", "sqlite"): 97, ("blocks", "hdf5"): 97,
         ("blocks", "sqlite"): 97, ("kept_blocks", "hdf5"): 97, ("kept_blocks", "sqlite"): 97}  # 1 for all others
QUICK_STEPS = {"hdf5": 19997, "sqlite": 1999, "own": 83}  # 47 for all others
BATCH = 8
SPECS = {"run": "arrays", "recovery": "arrays", "learning": "nsga2", "blocks": "blocks", "kept": "record_rows",
         "kept_blocks": "kept_blocks"}
# a campaign that was killed while its trials were in blocks goes on (crash_in_blocks)
STATES = {"resumed_" + state: state for state in ("committed", "joined")}
SPECS |= dict.fromkeys(STATES, "blocks")
STEPS |= {(given, kind): 97 for given in STATES for kind in ("hdf5", "sqlite")}

# After an interrupted or short call the program must continue; but SQLite gives up on these.
SQLITE_GIVES_UP = ("fsync", "lock")
# Out of memory, HDF5 1.10 may call exit(-1), or, in its first steps, recurse in its error stack until that overflows.
HDF5_GIVES_UP = (255, 139)


def judge(place, operation, outcome, fired, result):
    """What is wrong with how the faulted run ended; "" if nothing is."""
    if operation == "hdf5" and (result.status in HDF5_GIVES_UP or "hopscotch: HDF5 failed" in result.text):
        return ""
    if outcome == "KILL" and result.status == 137:
        return ""
    if result.status not in (0, 3):
        return f"status {result.status}: {result.text}"
    owner, path = fired.split(" ", 2)[1:]
    retried = outcome in ("EINTR", "SHORT") and not (owner == "sqlite" and operation in SQLITE_GIVES_UP)
    if retried and result.status != 0:
        return f"did not continue after {outcome}: {result.text}"
    if result.status == 0:
        return ""
    message = "".join(line for line in result.text.splitlines() if line.startswith("hopscotch: "))
    if not message:
        return f"no message: {result.text}"
    if operation in MEMORY:
        return "" if "memory" in message else f"the message does not mention memory: {message}"
    no_room = operation == "write" and outcome in ("ENOSPC", "EDQUOT")
    if no_room and "bytes free" not in message and "cannot open it" not in message:  # then SQLite keeps no reason
        return f"the message does not say how much space there is: {message}"
    named = place.folder in message or place.root in message
    return "" if named else f"the message does not name the file ({path}): {message}"


resumed = set()  # leftovers of runs without memory that this process has already resumed from


def is_known(place, operation, call):
    """Most allocations fail before anything is written. Where they leave what others left, one in 16 is resumed."""
    if operation not in MEMORY:
        return False
    left = place.left_over()
    known = left in resumed and call % 16 != 0
    resumed.add(left)
    return known


def try_fault(case):
    """Gives (case, fired, status, what went wrong)."""
    scenario, operation, outcome, call, expected = case
    place = crash.Place(f"cut-{os.getpid()}", SPECS[scenario], BATCH)
    start = os.path.join(crash.work, "start-" + scenario)
    if os.path.exists(start):
        place.copy_of(start)
    mark = os.path.join(crash.work, f"fired-{os.getpid()}")
    if os.path.exists(mark):
        os.remove(mark)
    result = place.call("run", fault=f"{operation}:{call}:{outcome}", fired=mark)
    if not os.path.exists(mark):
        return case, False, result.status, ""
    with open(mark) as file:
        wrong = judge(place, operation, outcome, file.readline().strip(), result)
    if not wrong and result.status == 3 and is_known(place, operation, call):
        return case, True, result.status, place.damage(known=place.cut_shards())
    again = place.call("run")
    if not wrong and again.status != 0:
        wrong = f"does not resume: status {again.status}: {again.text}"
    lost = place.recovered()[2] if outcome == "KILL" and not wrong else 0
    if lost > (scenario == "recovery"):  # a recovery loses one from the start
        wrong = f"arrays that rows name were lost: {lost}"
    if not wrong:
        wrong = expected.difference(place)
    return case, True, result.status, wrong


def calls(scenario, operation, outcome, expected, pool):
    """Fails the calls 1, 2, ... until there are no more. Gives the counts by status and what went wrong."""
    step = QUICK_STEPS.get(operation, 47) if crash.QUICK else STEPS.get((scenario, operation), 1)
    first, chunk, statuses, wrongs = 1, pool._processes * 8, collections.Counter(), []
    if crash.QUICK:
        chunk = pool._processes
    while True:
        cases = [(scenario, operation, outcome, first + i * step, expected) for i in range(chunk)]
        results = pool.map(try_fault, cases, chunksize=1)
        for case, fired, status, wrong in results:
            statuses[status] += fired
            if wrong:
                wrongs.append(f"{scenario} {operation}:{case[3]}:{outcome}: {wrong}")
        if not all(fired for _, fired, _, _ in results):
            return statuses, wrongs
        first += chunk * step


def has_cuda_runtime():
    """It is linked statically, so that its allocations can't be told from ours; some of them it takes for granted."""
    said = subprocess.run([crash.PROGRAM, "version"], capture_output=True, text=True, check=True).stdout
    return "built without CUDA" not in said


def scenario(name, expected, pool):
    only, total = os.environ.get("ONLY", " ".join(RUN_ALL)).split(), collections.Counter()
    for operation, outcomes in RUN_ALL.items():
        if operation not in only:
            continue
        if operation == "own" and has_cuda_runtime():
            crash.skip("faults", f"{name}, own allocations", "a build without the CUDA runtime's", "make CUDA=no")
            continue
        counts, wrongs = collections.Counter(), []
        for outcome in outcomes[:1] if crash.QUICK else outcomes:
            statuses, wrong = calls(name, operation, outcome, expected, pool)
            counts += statuses
            wrongs += wrong
        total += counts
        for wrong in wrongs[:10]:
            print("   " + wrong)
        ended = f"{counts[3]} ended with a message, {counts[0]} did without"
        ended += f", {counts[139] + counts[255]} were ended by HDF5 itself" if counts[139] + counts[255] else ""
        ended += f", {counts[137]} killed" if counts[137] else ""
        crash.report(not wrongs, f"faults: {name}, {operation}: {sum(counts.values())} calls failed, {ended}"
                     + (f"; {len(wrongs)} wrong" if wrongs else ""))
    return total


crash.build_preload("faults")
whole = {spec: crash.Whole("faults", spec, BATCH) for spec in set(SPECS.values())}
crash.Place("start-recovery", SPECS["recovery"], BATCH).crash_badly()
for given, state in STATES.items() if not crash.QUICK else ():
    crash.Place("start-" + given, SPECS[given], BATCH).crash_in_blocks(state)
with multiprocessing.Pool(int(os.environ.get("JOBS", os.cpu_count()))) as workers:
    totals = collections.Counter()
    for given in os.environ.get("SCENARIOS", "run blocks" if crash.QUICK else " ".join(SPECS)).split():
        totals += scenario(given, whole[SPECS[given]], workers)
print(f"   faults: {sum(totals.values())} calls failed in all")
crash.finish()
