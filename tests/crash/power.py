"""Power loss: a run's file operations are recorded (preload.c) and replayed up to every point. Data that was not synced
by then is lost at random: blocks of a write and lengths of files independently; new, renamed and removed names in any
order unless their folder was synced. The campaign is continued from each such disk. Nothing that was acknowledged
(reported as progress) may be lost, no array that a row names may be damaged, and the result must equal a run without a
power cut. Recorded are a fresh run, one that recovers from a crash, one of an adaptive search, two that commit blocks,
and two that go on where blocks were left.

STATES=N   disks to try, in all (5400; 36 with QUICK=1)      JOBS=N   at a time (the number of processors)
ONLY="blocks resumed_some"   some of the runs, by the first word of their names
"""
import json
import multiprocessing
import os
import shutil
import struct

import crash

BATCH, BLOCK = 4, 512
STATES = int(os.environ.get("STATES", "36" if crash.QUICK else "5400"))
RECORD = struct.Struct("<IIIIqq")  # struct Record of preload.c


def read_log(path):
    """[(kind, inode, offset, first, second)] in the order of time."""
    with open(path, "rb") as file:
        data = file.read()
    at, records = 0, []
    while at < len(data):
        kind, first, second, _, inode, offset = RECORD.unpack_from(data, at)
        at += RECORD.size
        records.append((chr(kind), inode, offset, data[at:at + first], data[at + first:at + first + second]))
        at += first + second
    return records


class File:
    """Bytes that are safe, and what was done to them since."""

    def __init__(self, durable=b""):
        self.durable, self.current, self.pending = bytes(durable), bytearray(durable), []

    def write(self, offset, data):
        self.current.extend(bytes(max(0, offset + len(data) - len(self.current))))
        self.current[offset:offset + len(data)] = data
        self.pending.append((offset, data))

    def truncate(self, size):
        self.current = self.current[:size] + bytes(max(0, size - len(self.current)))
        self.pending.append((size, None))

    def sync(self):
        self.durable, self.pending = bytes(self.current), []

    def after_cut(self, draw):
        """What lies on the disk: each block of each write that was not synced is there or not."""
        data, keep = bytearray(self.durable), draw.choice((0.0, 0.5, 0.5, 1.0))
        for offset, piece in self.pending:
            if piece is None:
                if draw.random() < keep:
                    data = data[:offset] + bytes(max(0, offset - len(data)))
                continue
            end = offset + len(piece)
            for block in range(offset // BLOCK * BLOCK, end, BLOCK):
                low, high = max(block, offset), min(block + BLOCK, end)
                if draw.random() < keep:
                    data.extend(bytes(max(0, high - len(data))))
                    data[low:high] = piece[low - offset:high - offset]
        return bytes(data)


class Disk:
    """The files under a root as the program sees them, and what of their names is safe."""

    def __init__(self, root, base):
        """What lies in `base` lies safely under `root`."""
        self.root, self.names, self.pending, self.by_inode, self.folders = root, {}, [], {}, {root}
        for folder, folders, names in os.walk(base):
            here = root + folder[len(base):]
            self.folders |= {os.path.join(here, name) for name in folders}
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    self.names[os.path.join(here, name)] = File(file.read())
        self.durable = dict(self.names)

    def change(self, changes):
        """Names that change together, {path: File or None}: at once for the program, some time later for the disk."""
        for path, file in changes.items():
            self.names.pop(path, None)
            if file is not None:
                self.names[path] = file
        self.pending.append(changes)

    def sync_folder(self, folder):
        left = []
        for changes in self.pending:
            here = {path: file for path, file in changes.items() if os.path.dirname(path) == folder}
            rest = {path: file for path, file in changes.items() if path not in here}
            apply(self.durable, here)
            left += [rest] if rest else []
        self.pending = left

    def do(self, kind, inode, offset, first, second):
        path = first.decode() if kind in "OCRUMD" else ""
        if kind == "C":
            self.by_inode[inode] = File()
            self.change({path: self.by_inode[inode]})
        elif kind == "O":
            self.by_inode[inode] = self.names[path]
        elif kind == "W":
            self.by_inode[inode].write(offset, first)
        elif kind == "T":
            self.by_inode[inode].truncate(offset)
        elif kind == "S":
            self.by_inode[inode].sync()
        elif kind == "R":
            self.change({path: None, second.decode(): self.names[path]})
        elif kind == "U":
            self.change({path: None})
        elif kind == "M":
            self.folders.add(path)  # folders survive every cut: losing one would lose all its files and test little
        elif kind == "D":
            self.sync_folder(path)

    def cut(self, draw, root):
        """Writes the disk after a power cut to `root`."""
        names, keep = dict(self.durable), draw.choice((0.0, 0.5, 1.0))
        for changes in self.pending:
            if draw.random() < keep:
                apply(names, changes)
        shutil.rmtree(root, ignore_errors=True)
        for folder in sorted(self.folders):
            os.makedirs(root + folder[len(self.root):], exist_ok=True)
        for path, file in names.items():
            if not path.endswith("-shm"):  # SQLite makes shared memory again
                with open(root + path[len(self.root):], "wb") as out:
                    out.write(file.after_cut(draw))


def apply(names, changes):
    for path, file in changes.items():
        names.pop(path, None)
        if file is not None:
            names[path] = file


def acknowledged(text):
    """Trials that a line of --progress json tells of; 0 if it is not such a line."""
    told = 0
    for line in text.decode(errors="replace").splitlines():
        try:
            told = max(told, json.loads(line).get("trials_done", 0))
        except (ValueError, AttributeError):
            pass
    return told


class Recording:
    """A run's operations, and what lay there before it."""

    def __init__(self, name, spec, crashed):
        """crashed: what the run recovers from, a function of the place; None: it is a fresh run."""
        self.place = crash.Place(name, spec, BATCH)
        if crashed:
            crashed(self.place)
        self.base = os.path.join(crash.work, name + "-base")
        shutil.copytree(self.place.root, self.base)
        log = os.path.join(crash.work, name + ".log")
        self.place.call("run", progress="json", log=log, clock=100000)
        self.records, self.lost_before = read_log(log), int(crashed == crash.Place.crash_badly)

    def told(self, cut):
        """Trials that had been acknowledged."""
        return max([acknowledged(record[3]) for record in self.records[:cut] if record[0] == "A"], default=0)

    def disk(self, cut):
        disk = Disk(self.place.root, self.base)
        for record in self.records[:cut]:
            disk.do(*record)
        return disk

    def counts(self):
        kinds = {"W": "writes", "S": "syncs", "D": "syncs of folders", "R": "renames", "U": "removals"}
        return ", ".join(f"{sum(record[0] == kind for record in self.records)} {kinds[kind]}" for kind in kinds)


def try_cut(case):
    """Gives what went wrong: "" if nothing did."""
    cut, variant = case
    place = crash.Place(f"cut-{os.getpid()}", recording.place.spec, BATCH)
    recording.disk(cut).cut(crash.seeded("power", recording.base[-8:], cut, variant), place.root)
    result = place.call("run", "--json")
    where = f"cut {cut} of {len(recording.records)}, variant {variant}: "
    if result.status != 0:
        return where + f"does not go on: status {result.status}: {result.text}"
    before = json.loads(result.text[result.text.index("{"):])["trials_before"]
    if before < recording.told(cut):
        return where + f"{recording.told(cut)} trials were acknowledged, {before} are there"
    if place.recovered()[2] > recording.lost_before:
        return where + f"arrays that rows name were lost: {place.recovered()}"
    wrong = expected.difference(place)
    return where + wrong if wrong else ""


def choose_cuts(records, states, draw):
    """(cut, variant): points between two changes of the disk, after all that was told until then. Each of them once,
    or as many as there are states, and what is left for points drawn afresh, with other losses."""
    points = [cut for cut in range(len(records) + 1) if cut == len(records) or records[cut][0] not in "OA"]
    once = [(cut, 0) for cut in draw.sample(points, min(states, len(points)))]
    return once + [(draw.choice(points), variant) for variant in range(1, states - len(once) + 1)]


def suite(name, states):
    cuts = choose_cuts(recording.records, states, crash.seeded("cuts", name))
    with multiprocessing.Pool(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
        wrongs = [wrong for wrong in pool.imap_unordered(try_cut, cuts, chunksize=4) if wrong]
    for wrong in wrongs[:10]:
        print("   " + wrong)
    told = recording.told(len(recording.records))
    print(f"   power: {name}: {recording.counts()}; {told} trials acknowledged")
    crash.report(not wrongs and told == expected.counts["in batches"], f"power: {name}: {len(cuts)} disks cut at "
                 f"{len(recording.records)} operations, {len(wrongs)} with something lost or wrong")


crash.build_preload("power")
SCENARIOS = (("fresh run", "arrays", None), ("recovery", "arrays", crash.Place.crash_badly),
             ("learning", "nsga2", None), ("blocks", "blocks", None),
             ("kept", "kept_blocks", None))
if not crash.QUICK:
    SCENARIOS += tuple((f"resumed_{state}", "blocks", lambda place, state=state: place.crash_in_blocks(state))
                       for state in ("committed", "joined"))
ONLY = os.environ.get("ONLY", "").split()
for scenario, spec_name, crash_before in SCENARIOS:
    word = scenario.split()[0]
    if not ONLY or word in ONLY:
        expected = crash.Whole("power", spec_name, BATCH)
        recording = Recording(word, spec_name, crash_before)
        suite(scenario, STATES // len(SCENARIOS))
crash.finish()
