"""Names of all kinds (keywords of SQL, YAML, C and Python, our own columns, one letter, long, Unicode, drawn ones) for
all that a spec lets a user name. Each is either refused by `check` at its place or goes through every command, with
the right values in every form that results take.

    python3 names.py PROGRAM [GROUP...]     in an empty folder; QUICK=1: fewer of them; SEED: of the drawn ones
"""
import csv
import io
import json
import os
import random
import re
import struct
import subprocess
import sys
import zipfile

PROGRAM = os.path.abspath(sys.argv[1])
QUICK = os.environ.get("QUICK") == "1"
SEED = int(os.environ.get("SEED", "7"))
try:
    import h5py
except ImportError:
    h5py = None
failed = False


# ---- names ----------------------------------------------------------------------------------------------------------

SQL = ("select from where order by group table index null primary key is like union values insert limit offset column "
       "default check constraint having exists case when then else end cast collate glob between as on using join all "
       "distinct main temp rowid oid _rowid_ trials batches sqlite_master abort")
YAML = "y n yes no on off true false True TRUE Null NULL NaN inf"
OURS = ("id search round fitness failure n_failed trial seed violation replicate time objective objective_1 "
        "constraint_1 a_std a_end a_end_x x a_x end mass length world copies include repeat step name value unit "
        "range doc failed crashed timeout protocol non_finite none best worst all gravity wind damping error "
        "error_max touchdown push_x pin pin_start pin_damping height_mean base base_z base_x terrain ground limit "
        "attach state lanes offset rank")
WORDS = ("and or not min max abs sqrt exp log sin cos tan mod clip step hypot atan2 floor pi e E if else for while int "
         "double float return static struct class def None lambda import self print keys items shape dtype file con nul "
         "lane real params")
NOT_NAMES = ["", " ", "  a", "a ", "a b", "a-b", "a.b", "a/b", "../a", "a\\b", "a'b", 'a"b', "a`b", "$(id)", "`id`",
             ";", "a;b", "--", "-- a", "#", "a#", "%s%n", "{a}", "[a]", "a,b", "a:b", ":", "?", "&a", "*a", "!a", "|",
             ">", "<b>", "</script>", "@", "~", ".", "..", "<<", "1", "01", "1st", "1e3", "0x1", ".inf", "1_000", "-1",
             "+a", "2026-11-26", "12:30", "é", "É", "naïve", "日本語", "ß", "ı", "İ",
             "\u212a", "ﬁ", "a\u0301", "\u200ba", "a\u202eb", "🚀",
             "a\tb", "a\nb", "a\x1b[2Jb", "a\x7f", "a=b", "a+b", "(a)", "a^b", "a\u00a0b"]
LENGTHS = ["L" * 31, "l" * 32, "M" * 33, "m" * 64, "N" * 127, "n" * 128, "O" * 129, "o" * 1000]


def drawn(count):
    draw = random.Random(SEED)
    good, any_ = "abcXYZ_019", "aZ_09é.-# '\"%:/\\$日"
    for k in range(count):
        alphabet = good if k % 2 == 0 else any_
        yield "".join(draw.choice(alphabet) for _ in range(draw.randint(1, 40)))


def all_names():
    letters = [chr(c) for c in range(128) if chr(c).isalpha() or chr(c) == "_"]
    some = SQL.split() + YAML.split() + OURS.split() + WORDS.split() + letters + LENGTHS + NOT_NAMES
    some += drawn(20 if QUICK else 300)
    kept = {}
    for name in some:
        kept.setdefault(name, name)
    return list(kept)


def chosen(names, most=60):
    """The lists that go through all commands: with QUICK one of 24 names from all kinds."""
    names = list(names)
    random.Random(SEED).shuffle(names)
    return words_apart(names, min(most, 24))[:1] if QUICK else words_apart(names, most)


def is_word(name, longest=32):
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name, re.A) is not None and len(name) <= longest


def quoted(name):
    """In double quotes of YAML."""
    text = "".join("\\x%02x" % ord(c) if ord(c) < 32 or ord(c) == 127 else "\\" + c if c in '"\\' else c for c in name)
    return '"' + text + '"'


# ---- the program ----------------------------------------------------------------------------------------------------

def report(good, what, *details):
    global failed
    print(("ok   " if good else "FAIL ") + "names: " + what)
    if not good:
        failed = True
        for detail in details:
            print("     " + str(detail)[:1500])
    return good


class Wrong(Exception):
    pass


def call(*arguments):
    ended = subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    return ended.returncode, ended.stdout.decode(), ended.stderr.decode()


def works(*arguments):
    status, out, err = call(*arguments)
    if status != 0:
        raise Wrong(f"{' '.join(arguments)[:200]}: status {status}: {err[-700:]}")
    return out


def need(true, *what):
    if not true:
        raise Wrong(" ".join(str(part) for part in what)[:1500])


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


# ---- which names `check` takes --------------------------------------------------------------------------------------

def places(err, path):
    """Of the errors: {line: [texts]}; raises if an error has no place."""
    found = {}
    for line in err.splitlines():
        if ": error: " not in line:
            continue
        match = re.match(re.escape(path) + r":(\d+):(\d+): error: (.*)", line)
        need(match, "an error without a place:", line)
        found.setdefault(int(match[1]), []).append(match[3])
    return found


def sort_names(slot, spec, valid=is_word, most=60):
    """The names that `check` takes. spec(names): the text of a spec that has each of them on a line of its own, which
    ends with `# name`. A name that is no word must be refused on its line; others one by one, wherever."""
    path = "probe.yaml"
    names = all_names()
    words = [name for name in names if valid(name)]
    others = [name for name in names if not valid(name)]
    for k in range(0, len(others), 80):  # of more than 100 errors only their number is printed
        some = others[k:k + 80]
        text = spec(some)
        write(path, text)
        status, _, err = call("check", path)
        need(status == 1, f"{slot}: {len(some)} names that are none: status {status}", err)
        lines = [n for n, line in enumerate(text.splitlines(), 1) if line.endswith("# name")]
        need(len(lines) == len(some), "lines of names", len(lines), len(some))
        errors = places(err, path)
        for line, name in zip(lines, some):
            need(line in errors, f"{slot}: {name!r} is not refused on its line {line}:", err[-600:])
    taken, refused = [], []
    for group in words_apart(words, most):
        # all at once; where errors are, they name lines; the rest must do without them
        while group:
            text = spec(group)
            write(path, text)
            status, _, err = call("check", path)
            if status == 0:
                taken += group
                break
            need(status == 1, f"{slot}: status {status} of", group, err)
            errors = places(err, path)
            lines = [n for n, line in enumerate(text.splitlines(), 1) if line.endswith("# name")]
            wrong = {name for line, name in zip(lines, group) if line in errors}
            if not wrong:  # the place is that of a section: the message names what is built of the name
                said = re.findall(r"'(\w+)'", " ".join(text for texts in errors.values() for text in texts))
                exact = [name for name in group if name in said]
                begun = [(word + "_").lower() for word in said]
                meant = exact or [name for name in group if any(word.startswith(name.lower() + "_") for word in begun)]
                wrong = {max(meant, key=len, default=None)}
            need(None not in wrong, f"{slot}: no name of {group} in:", err)
            refused += wrong
            group = [name for name in group if name not in wrong]
    report(True, f"{slot}: {len(others)} names that are none are refused at their places, {len(refused)} words for "
                 f"their meaning ({' '.join(sorted(refused))[:300]}), {len(taken)} taken")
    return taken


def words_apart(words, most=60):
    """Lists of names that differ in more than case."""
    lists = []
    for name in words:
        for some in lists:
            if len(some) < most and name.lower() not in (other.lower() for other in some):
                some.append(name)
                break
        else:
            lists.append([name])
    return lists


# ---- a campaign through every command -------------------------------------------------------------------------------

def table(text):
    rows = list(csv.reader(io.StringIO(text)))
    need(len(rows) > 1 and len(set(rows[0])) == len(rows[0]), "header", rows[:1])
    need(len({name.lower() for name in rows[0]}) == len(rows[0]), "columns that differ in case only", rows[0])
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def number(text):
    return float("nan") if text in ("", None, "null") else float(text)


def read_npz(path):
    """{name: list of numbers or texts}, without numpy."""
    out = {}
    with zipfile.ZipFile(path) as archive:
        for entry in archive.namelist():
            data = archive.read(entry)
            need(data[:6] == b"\x93NUMPY", "not an array:", entry)
            size, start = (struct.unpack("<H", data[8:10])[0], 10) if data[6] == 1 else (
                struct.unpack("<I", data[8:12])[0], 12)
            header = data[start:start + size].decode()
            kind = re.search(r"'descr': '([^']*)'", header)[1]
            count = int(re.search(r"'shape': \((\d*)", header)[1] or 0)
            body = data[start + size:]
            need(entry.endswith(".npy") and entry[:-4] not in out, "two arrays", entry)
            if kind in ("<f8", "<i8"):
                out[entry[:-4]] = list(struct.unpack(f"<{count}{'d' if kind == '<f8' else 'q'}", body[:8 * count]))
            else:
                width = int(kind[2:]) * (4 if kind[1] == "U" else 1)
                codec = "utf-32-le" if kind[1] == "U" else "utf-8"
                out[entry[:-4]] = [body[i * width:(i + 1) * width].decode(codec).rstrip("\0") for i in range(count)]
    return out


def same_number(a, b):
    return a == b or (a != a and b != b)


def through(name, text, searched, expected, more=(), last=None):
    """Runs the spec and puts its campaign through every command.

    searched: columns of parameters; expected(row): {column: value} of the numbers that each row must hold
    last(row): {column of trajectories: value at the end}"""
    more = list(more)
    path = name + ".yaml"
    write(path, text)
    works("check", path)
    works("run", path, "--progress", "none", "--threads", "1", *more)
    rows = table(works("query", name, "--columns", "all", "--format", "csv"))
    need(rows, "no rows")
    for row in rows:
        need(row["failure"] == "none", "failed:", row["failure"])
        for column, value in expected(row).items():
            need(column in row, f"no column {column} of", list(row))
            need(abs(number(row[column]) - value) <= 1e-9 * max(1, abs(value)), column, "is", row[column], "not", value)
    # the forms of the table
    exported = table(works("export", name, "--csv", "-"))
    need(exported == rows, "export --csv and query differ")
    objects = [json.loads(line) for line in works("export", name, "--jsonl", "-").splitlines()]
    works("export", name, "--npz", "out.npz")
    arrays = read_npz("out.npz")
    need(len(objects) == len(rows), "lines of jsonl:", len(objects))
    need(set(arrays) >= set(rows[0]), "npz lacks", sorted(set(rows[0]) - set(arrays)))
    for i, row in enumerate(rows):
        need(list(objects[i]) == list(row), "keys of jsonl", list(objects[i])[:9], list(row)[:9])
        for column, value in row.items():
            one, two = objects[i][column], arrays[column][i]
            if isinstance(one, str):
                need(one == value == two, column, one, value, two)
            else:
                need(same_number(number(one), number(value)), column, one, value)
                need(same_number(float(two), number(value)), column, two, value)
    # what reads columns by name
    row = rows[1]
    names = list(searched)
    found = table(works("query", name, "--where", " and ".join(f"{c} = {row[c]}" for c in names), "--columns",
                        ",".join(["id"] + names), "--format", "csv"))
    need([r["id"] for r in found] == [row["id"]] and list(found[0])[1:] == names, "query --where:", found[:2])
    for column in names[::max(1, len(names) // 4)]:
        got = table(works("query", name, "--order", column + ":desc", "--columns", "id," + column, "--format", "csv"))
        falling = sorted(rows, key=lambda r: -number(r[column]))
        need([r["id"] for r in got] == [r["id"] for r in falling], "order", column)
    best = table(works("best", name, "--format", "csv"))
    need([number(r["fitness"]) for r in best] == sorted(number(r["fitness"]) for r in rows), "best:", best[:2])
    for column in names[:60]:
        if column in best[0]:
            at = {r[next(iter(best[0].keys() & {"id", "trial"}))]: r for r in best}
            need(same_number(number(at[row["id"]][column]), number(row[column])), "best", column)
    shown = works("show", f"{name}/1")
    for column in names:
        need(re.search(rf"(?m)^ *{re.escape(column)} ", shown), "show lacks", column, shown[-300:])
    flat = flatten(json.loads(works("show", f"{name}/1", "--json")))
    for column in names:
        need(flat.get(column) == number(row[column]), "show --json:", column, flat.get(column))
    works("report", name, "-o", "page.html", *[w for w in more if w == "--allow-programs"])
    with open("page.html", encoding="utf-8") as file:
        page = file.read()
    need(all(column in page for column in names), "the report lacks", [c for c in names if c not in page])
    # again
    before = works("digest", name).split()[0]
    works("resume", name, "--progress", "none", *more)
    works("doctor", name)
    need("to the bit" in works("replay", f"{name}/1", *more), "replay")
    works("replay", f"{name}/1", "-o", "motion.csv", *more)
    with open("motion.csv", encoding="utf-8") as file:
        motion = table(file.read())
    works("export", name, "--hdf5", "arrays.h5")
    if last is not None:
        for column, value in last(row).items():
            got = number(motion[-1][column])
            need(abs(got - value) <= 1e-6 * max(1, abs(value)), "motion", column, got, value)
    if h5py is not None and last is not None:
        stored_arrays(rows, last)
    works("run", f"results/{name}/resolved.yaml", "--name", name + "_again", "--progress", "none", *more)
    need(works("digest", name + "_again").split()[0] == before, "the resolved spec gives another digest")
    works("rm", name + "_again", "--yes")


def flatten(shown):
    """{name: value} of the parameters and metrics of `show --json`."""
    both = {**shown["parameters"], **shown["metrics"]}
    need(len(both) == len(shown["parameters"]) + len(shown["metrics"]), "a parameter and a metric of one name")
    return {name: value["value" if "value" in value else "mean"] for name, value in both.items()}


def stored_arrays(rows, last):
    with h5py.File("arrays.h5") as file:
        group = file["trajectories"]
        lanes = group["lanes"][:]
        columns = {}
        for data in group.values():
            if "column_names" in data.attrs and data.name.split("/")[-1] != "lanes":
                for k, column in enumerate(data.attrs["column_names"]):
                    need(column not in columns, "two columns", column)
                    columns[column] = data[:, k] if len(data.shape) > 1 else data[:]
        for trial, _, offset, length in lanes:
            row = next(r for r in rows if r["id"] == str(trial))
            for column, value in last(row).items():
                got = columns[column][offset + length - 1]
                need(abs(got - value) <= 1e-6 * max(1, abs(value)), "hdf5", trial, column, got, value)


# ---- rigid ----------------------------------------------------------------------------------------------------------

RIGID = """version: 1
experiment: {name}
model: rigid
simulation:
  duration: 0.5
  dt: 0.125
  world:
    bodies:
{bodies}
{constraints}{forces}{more}"""
RANDOM = """
record: {trajectories: {select: {every: 1}, precision: float64, sample: 0.125}%s}
search:
  method: random
  trials: 3
  over:
"""


def rigid(name="probe", bodies=(), constraints=(), forces=(), more=""):
    def lines(kind, items):
        return f"    {kind}:\n" + "".join(f"      - {item}\n" for item in items) if items else ""
    return RIGID.format(name=name, bodies="\n".join("      - " + body for body in bodies), more=more,
                        constraints=lines("constraints", constraints), forces=lines("forces", forces))


def bodies_of(names):
    return [f"{{name: {quoted(name)}, position: [{i}, 0, 0], gravity: false}} # name" for i, name in enumerate(names)]


def two_each(names):
    return [f"{{name: b{k}_{i}, position: [{10 * i + k}, 0, 0], gravity: false}}"
            for i in range(len(names)) for k in (0, 1)]


def constraints_of(names):
    return [f"{{name: {quoted(name)}, type: distance, a: b0_{i}, b: b1_{i}}} # name" for i, name in enumerate(names)]


def forces_of(names):
    return [f"{{name: {quoted(name)}, type: push, a: b0_{i}, force: [{i + 1}, 0, 0]}} # name"
            for i, name in enumerate(names)]


def group_rigid():
    taken = sort_names("bodies", lambda names: rigid(bodies=bodies_of(names)))
    went = 0
    for k, names in enumerate(chosen(taken)):
        went += len(names)
        over = "".join(f"    {name}_vx: {{range: [0.5, 1.5]}}\n" for name in names)
        more = "objective: {minimize: %s_end_x}" % names[0]
        more += RANDOM % f", bodies: [{', '.join(map(quoted, names))}]" + over
        place = {name: i for i, name in enumerate(names)}

        def ends(row):
            return {name + "_end_x": i + 0.5 * number(row[name + "_vx"]) for name, i in place.items()}
        through(f"bodies{k}", rigid(f"bodies{k}", bodies_of(names), more=more), [name + "_vx" for name in names], ends,
                last=lambda row: {name[:-6] + "_x": value for name, value in ends(row).items()})
    report(True, f"bodies: {went} go through every command")
    taken = sort_names("constraints", lambda names: rigid(bodies=two_each(names), constraints=constraints_of(names)))
    went = 0
    for k, names in enumerate(chosen(taken, 30)):
        went += len(names)
        over = "".join(f"    {name}_length: {{range: [0.8, 1.2]}}\n" for name in names)
        more = "objective: {minimize: %s_length}" % names[0] + RANDOM % f", bodies: all" + over

        def lengths(row):
            return {"b1_%d_end_x" % i: number(row["b0_%d_end_x" % i]) + number(row[name + "_length"])
                    for i, name in enumerate(names)}
        through(f"rods{k}", rigid(f"rods{k}", two_each(names), constraints_of(names), more=more),
                [name + "_length" for name in names], lengths)
    report(True, f"constraints: {went} go through every command")
    taken = sort_names("forces", lambda names: rigid(bodies=two_each(names), forces=forces_of(names)))
    went = 0
    for k, names in enumerate(chosen(taken, 30)):
        went += len(names)
        more = "objective: {minimize: b0_0_vx}" + RANDOM % "" + "    b0_0_vx: {range: [0, 1]}\n"

        def pushed(row):
            return {"b0_%d_end_x" % i: 10 * i + 0.125 * (i + 1) + (0.5 * number(row["b0_0_vx"]) if i == 0 else 0)
                    for i in range(len(names))}
        spec = rigid(f"pushes{k}", two_each(names), forces=forces_of(names), more=more)
        through(f"pushes{k}", spec, ["b0_0_vx"], pushed)
    report(True, f"forces: {went} go through every command")


# ---- command --------------------------------------------------------------------------------------------------------

WORKER = """import json, sys
hello = json.loads(sys.stdin.readline())
print('{"hello": 1, "version": "1"}', flush=True)
for line in sys.stdin:
    r = json.loads(line)
    p = list(r["parameters"].values())
    m = {name: 3 * p[k % len(p)] + k for k, name in enumerate(hello["metrics"])}
    c = {name: [k, 2 * p[0] + k] for k, name in enumerate(hello["columns"])}
    if "time" in c: c["time"] = [0, 1]
    print(json.dumps({"id": r["id"], "metrics": m, "failure": None,
                      "trajectory": c if r.get("trajectory") else None}), flush=True)
"""


def command(name="probe", parameters=("p0",), metrics=("m0",), columns=("c0",), failures=(), more=""):
    def mapping(names, value, key):
        return "".join(f"\n  {quoted(n) if isinstance(n, str) else n}: {value} # name" if key else f"\n  {n}: {value}"
                       for n in names)
    if "objective: {" not in more:
        more += f"objective: {{minimize: {quoted(metrics[0])}}}\n"
    return (f"version: 1\nexperiment: {name}\nmodel: command\nsimulation: {{program: [python3, -I, -S, worker.py]}}\n"
            f"parameters:{mapping(parameters, '{value: 1, range: [-9, 9]}', parameters != ('p0',))}\n"
            f"metrics:{mapping(metrics, 'm', metrics != ('m0',))}\n"
            f"columns:{mapping(columns, 'm', columns != ('c0',))}\n{more}")


def group_command():
    write("worker.py", WORKER)
    allow = ["--allow-programs"]
    kinds = {"parameters": [], "metrics": [], "columns": []}
    for kind in kinds:
        taken = kinds[kind] = sort_names("command, " + kind, lambda names: command(**{kind: names}))
    record = "record: {trajectories: {select: {every: 1}, precision: float64}}\n"
    went = 0
    for k, names in enumerate(chosen(kinds["parameters"])):
        went += len(names)
        middle = (len(names) + 1) // 2
        half, derived = names[:middle], dict(zip(names[middle:], names))
        over = "".join(f"    {name}: {{range: [1, 2]}}\n" for name in half)
        over += "".join(f"    {name}: {{derive: \"2 * {of} + 1\"}}\n" for name, of in derived.items())
        more = record + f"objective: {{minimize: \"{' + '.join(names)}\"}}\nconstraints: [\"{names[0]} < 2\"]\n"
        more += "search:\n  method: random\n  trials: 3\n  over:\n" + over

        def sums(row):
            out = {"fitness": sum(number(row[name]) for name in names), "m0": 3 * number(row[names[0]])}
            out.update({name: 2 * number(row[of]) + 1 for name, of in derived.items()})
            return out
        through(f"inputs{k}", command(f"inputs{k}", parameters=names, more=more), names, sums, allow,
                lambda row: {"c0": 2 * number(row[names[0]]) + 1})
        # points of a table, and replicates that draw
        rows = table(works("query", f"inputs{k}", "--columns", ",".join(names), "--format", "csv"))
        write("points.csv", ",".join(names) + "\n" + "".join(",".join(row.values()) + "\n" for row in rows))
        works("run", f"inputs{k}.yaml", "--name", "points", "--set", "search={method: list, csv: points.csv}",
              "--progress", "none", *allow)
        need(table(works("query", "points", "--columns", ",".join(names), "--format", "csv")) == rows, "list: others")
        works("rm", "points", "--yes")
        write("drawn.yaml", command("drawn", parameters=names, more="objective: {minimize: m0}\nreplicates: {count: 2, "
              "store: true, perturb: {" + ", ".join(f"{name}: {{uniform: [3, 4]}}" for name in names) + "}}\n"))
        works("run", "drawn.yaml", "--progress", "none", *allow)
        works("doctor", "drawn")
        need("to the bit" in works("replay", "drawn/0/1", *allow), "replay of a replicate that draws")
        works("rm", "drawn", "--yes")
    report(True, f"command, parameters: {went} go through every command, derived, listed and drawn")
    went = 0
    for k, names in enumerate(chosen(kinds["metrics"])):
        went += len(names)
        more = f"objective: {{minimize: \"{' + '.join(names)}\"}}\n"
        more += "search: {method: random, trials: 3, over: {p0: {range: [1, 2]}}}\n"

        def metric(row):
            out = {name: 3 * number(row["p0"]) + i for i, name in enumerate(names)}
            return {**out, "fitness": sum(out.values())}
        through(f"outputs{k}", command(f"outputs{k}", metrics=names, more=record + more), ["p0"] + names, metric, allow)
    report(True, f"command, metrics: {went} go through every command")
    went = 0
    for k, names in enumerate(chosen(kinds["columns"])):
        went += len(names)
        more = record + "objective: {minimize: m0}\nsearch: {method: random, trials: 3, over: {p0: {range: [1, 2]}}}\n"
        through(f"tracks{k}", command(f"tracks{k}", columns=names, more=more), ["p0"], lambda row: {}, allow,
                lambda row: {name: 2 * number(row["p0"]) + i + 1 for i, name in enumerate(names)})
    report(True, f"command, columns: {went} go through every command")


# ---- failures -------------------------------------------------------------------------------------------------------

FAILS = """import json, sys
sys.stdin.readline()
names = json.load(open("failures.json"))
print('{"hello": 1, "version": "1"}', flush=True)
for line in sys.stdin:
    r = json.loads(line)
    failure = names[int(r["parameters"]["p0"])]
    print(json.dumps({"id": r["id"], "metrics": {"m0": None}, "failure": failure}), flush=True)
"""


def group_failures():
    def spec(names, name="probe", more=""):
        text = command(name, more="failures:\n" + "".join(f"  - {quoted(n)} # name\n" for n in names) + more)
        return text.replace("worker.py", "fails.py").replace("range: [-9, 9]", "range: [0, 99]")
    write("fails.py", FAILS)
    taken = sort_names("failures", spec, lambda name: re.fullmatch(r"[A-Za-z0-9_.:-]{1,64}", name, re.A), most=40)
    allow = ["--allow-programs"]
    names = [name for some in chosen(taken) for name in some]
    for k in range(0, len(names), 40):
        some = names[k:k + 40]
        write("failures.json", json.dumps(some))
        write("fails.yaml", spec(some, "fails", "search: {method: grid, over: {p0: {linspace: [0, %d, %d]}}}\n" %
              (max(1, len(some) - 1), max(2, len(some))) if len(some) > 1 else ""))
        works("run", "fails.yaml", "--progress", "none", *allow)
        rows = table(works("query", "fails", "--columns", "id,failure", "--order", "id", "--format", "csv"))
        # in CSV an apostrophe stands before what spreadsheets would take for a formula
        need([row["failure"].removeprefix("'") for row in rows] == some, "failures", [r["failure"] for r in rows], some)
        works("export", "fails", "--npz", "out.npz")
        need(read_npz("out.npz")["failure"] == some, "failures of npz")
        for i in range(0, len(some), 8):
            where = "failure = '" + some[i].replace("'", "''") + "'"
            found = table(works("query", "fails", "--where", where, "--columns", "id", "--format", "csv"))
            need([row["id"] for row in found] == [str(i)], "query", where, found)
            works("resume", "fails", "--retry", some[i], "--progress", "none", *allow)
        for words in ("doctor", "digest", "status", "show"), :
            for word in words:
                works(word, "fails/1" if word == "show" else "fails")
        works("report", "fails", "-o", "page.html", *allow)
        works("rm", "fails", "--yes")
    report(True, f"failures: {len(names)} go through every command")


# ---- robots: groups and designs -------------------------------------------------------------------------------------

def robot(joints):
    body = "".join(f'<body name="l{i}" pos="0 0 -.1"><joint name="j{i}" axis="0 1 0" damping="0.1"/>'
                   f'<geom size=".02" fromto="0 0 0 0 0 -.1" type="capsule"/>' for i in range(joints))
    return f"<mujoco><worldbody>{body}{'</body>' * joints}</worldbody></mujoco>"


def articulated(name="probe", groups=(), designs=(), more=""):
    def lines(kind, names, key):
        return "" if not names else f"  {kind}:\n" + "".join(
            f"    {quoted(n)}: {{{key}: j{i}}} # name\n" for i, n in enumerate(names))
    if "objective: {" not in more:
        more += "objective: {minimize: energy}\n"
    return (f"version: 1\nexperiment: {name}\nmodel: articulated\n"
            f"simulation:\n  robot: chain.xml\n  duration: 0.02\n  dt: 0.002\n{lines('groups', groups, 'joints')}"
            f"{lines('design', designs, 'length')}{more}")


def group_robots():
    write("chain.xml", robot(200))
    kinds = {"groups": ("_damping", "groups"), "designs": ("", "designs")}
    for kind, (suffix, argument) in kinds.items():
        taken = sort_names(kind, lambda names: articulated(**{argument: names}))
        count = 0
        for k, names in enumerate(chosen(taken, 30)):
            write("chain.xml", robot(len(names)))

            def search(of):
                return ("initial: {j0_start: 0.5}\nobjective: {minimize: energy}\n"
                        "record: {trajectories: {select: {every: 1}, precision: float64, sample: 0.002}}\n"
                        "search:\n  method: random\n  trials: 3\n  over:\n" +
                        "".join(f"    {name}: {{range: [0.9, 1.1]}}\n" for name in of))
            plain = [f"plain{i}" for i in range(len(names))]
            of_plain = [name + suffix for name in plain]
            write("plain.yaml", articulated("plain", **{argument: plain}, more=search(of_plain)))
            works("run", "plain.yaml", "--progress", "none", "--threads", "1")
            rows = {row["id"]: row for row in table(works("query", "plain", "--columns", "all", "--format", "csv"))}
            works("rm", "plain", "--yes")
            new = dict(zip(of_plain, (name + suffix for name in names)))

            def as_plain(row):
                return {new.get(column, column): number(value) for column, value in rows[row["id"]].items()
                        if column not in ("failure", "id") and value}
            through(f"{kind}{k}", articulated(f"{kind}{k}", **{argument: names}, more=search(new.values())),
                    list(new.values()), as_plain)
            count += len(names)
        write("chain.xml", robot(200))
        report(True, f"{kind}: {count} go through every command, and move as those with plain names")


# ---- definitions of environments ------------------------------------------------------------------------------------

def group_definitions():
    weights = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../experiments/learning/hopper_policy.csv")
    with open(os.path.join(os.path.dirname(weights), "../hopper_policy.yaml"), encoding="utf-8") as file:
        text = file.read()
    with open(weights, encoding="utf-8") as file:
        write("hopper_policy.csv", file.read())
    text = text.replace("learning/", "")
    text = text.replace("duration: 10.0", "duration: 0.3").replace("settle: 1.0", "settle: 0.1")
    text = re.sub(r"x_dot_des: \[.*?\]", "x_dot_des: [1, 2]", text.replace("count: 100", "count: 1"))
    text = re.sub(r"    speed: (\".*\")\n", r"@\1@", text).replace("- speed\n", "- LAST\n")
    before, first, after = text.split("@")

    def spec(names, name="probe"):
        # a chain, each by the one before; of names that may be refused each stands alone
        values = [first] * len(names) if name == "probe" else [first] + [quoted(other) for other in names[:-1]]
        lines = "".join(f"    {quoted(n)}: {value} # name\n" for n, value in zip(names, values))
        last = quoted(names[-1]) if name != "probe" else "z_foot"
        return before.replace("experiment: hopper_policy", "experiment: " + name) + lines + after.replace("LAST", last)
    taken = sort_names("definitions", spec, lambda name: is_word(name, 128))
    write("probe.yaml", spec(["and", "speed", "not"]))
    err = call("check", "probe.yaml")[2]
    need("'and' is a word of expressions: give the definition another name" in err, err)
    need(len(places(err, "probe.yaml")) == 2, "definitions: and, not:", err)
    write("plain.yaml", spec(["speed"], "plain"))
    works("run", "plain.yaml", "--progress", "none")
    rows = table(works("query", "plain", "--columns", "all", "--format", "csv"))
    count = 0
    for k, names in enumerate(chosen(taken)):
        write("defined.yaml", spec(names, f"defined{k}"))
        works("run", "defined.yaml", "--progress", "none")
        got = table(works("query", f"defined{k}", "--columns", "all", "--format", "csv"))
        need(got == rows, "others than of plain names")
        need("to the bit" in works("replay", f"defined{k}/1"), "replay")
        works("doctor", f"defined{k}")
        works("run", f"results/defined{k}/resolved.yaml", "--name", "again", "--progress", "none")
        digests = [works("digest", campaign).split()[0] for campaign in ("again", f"defined{k}")]
        need(digests[0] == digests[1], "the resolved spec gives another digest")
        works("rm", "again", "--yes")
        count += len(names)
    report(True, f"definitions: {count} give what plain names do")


# ---- campaigns ------------------------------------------------------------------------------------------------------

def group_campaigns():
    names = all_names() + ("index.db index.dbx index.lock index a.parts x.parts _ 0 a..b a. a--b results campaign.db "
                           "spec.yaml shards verify con.txt").split() + ["A" * 128, "b" * 120 + ".parts"]
    names = list(dict.fromkeys(names))
    good = [n for n in names if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}", n, re.A) and
            not n.startswith("index.db") and n != "index.lock" and (not n.endswith(".parts") or n == ".parts")]
    text = "version: 1\nexperiment: {}\nmodel: bbob\nsearch: {{method: grid, over: {{x1: [1, 2]}}}}\n"
    draw = random.Random(SEED)
    bad = [n for n in names if n not in good]
    for name in draw.sample(bad, 20) if QUICK else bad:
        write("probe.yaml", text.format(quoted(name)))
        status, _, err = call("check", "probe.yaml")
        need(status == 1 and 2 in places(err, "probe.yaml"), f"campaign {name!r}: status {status}", err)
        if "\0" not in name:
            write("plain.yaml", text.format("plain"))
            status, _, err = call("run", "plain.yaml", "--name=" + name, "--progress", "none")
            need(status in (1, 2) and err and not os.path.exists("results/" + name.strip("/. ") + "/campaign.db"),
                 f"run --name {name!r}: status {status}", err)
    some = [n for n in good if n not in ("plain",)]
    some = draw.sample(some, 12) if QUICK else some
    digests = set()
    for name in some:
        write("probe.yaml", text.format(quoted(name)))
        works("run", "probe.yaml", "--progress", "none", "--threads", "1")
        shown = json.loads(works("show", name + "/1", "--json"))
        need(shown["campaign"] == name and shown["parameters"]["x1"]["value"] == 2, "show", name)
        need(len(table(works("export", name, "--csv", "-"))) == 2, "export", name)
        works("resume", name, "--progress", "none")
        if not QUICK:
            works("report", name)
            works("doctor", name)
            need("to the bit" in works("replay", name + "/best"), "replay", name)
        digests.add(works("digest", name).split()[0])
    listed = {row["campaign"] for row in json.loads(works("list", "--json", "--all"))}
    need(set(some) <= listed, "list lacks", set(some) - listed)
    need(len(digests) == 1, "digests of equal campaigns", digests)
    works("rm", *some, "--yes")
    left = {row["campaign"] for row in json.loads(works("list", "--json", "--all"))}
    need(not left & set(some), "not removed:", left)
    report(True, f"campaigns: {len(bad)} names are refused, {len(some)} list, show and go")


# ---- all of it ------------------------------------------------------------------------------------------------------

GROUPS = {"rigid": group_rigid, "command": group_command, "failures": group_failures, "robots": group_robots,
          "definitions": group_definitions, "campaigns": group_campaigns}


def main():
    for word in sys.argv[2:] or GROUPS:
        try:
            GROUPS[word]()
        except Wrong as wrong:
            report(False, word, wrong)
    return failed


sys.exit(main())
