#!/bin/sh
# hopscotch overview: a page of all campaigns. Its numbers are those of `list`, its keys those that differ among the
# specs of a model; states are honest, damaged campaigns are shown, and no text of a campaign becomes markup.
. "$(dirname "$0")/../scratch.sh"

hopscotch() { "$HOPSCOTCH" "$@" >out 2>err; }
# expect NAME CODE ARGUMENTS...
expect()
{
    name=$1 code=$2
    shift 2
    hopscotch "$@"
    [ $? -eq "$code" ]
    check $? "$name"
}
has() { grep -qF -e "$3" "$2"; check $? "$1"; }
lacks() { ! grep -qF -e "$3" "$2"; check $? "$1"; }

expect "a root that is missing" 1 overview
has "the error names the folder" err "there is no folder results"
mkdir results
expect "a root without campaigns" 0 overview
has "the page says what starts one" results/index.html "run SPEC</code> starts one"

cat >gait.yaml <<'END'
version: 1
experiment: gait
model: hopper
simulation: {duration: 0.6, settle: 0.1}
search: {method: grid, over: {k_fp: [100, 150, 200], thrust: [25, 35]}}
END
cat >bowl.yaml <<'END'
version: 1
experiment: bowl
model: bbob
simulation: {function: rastrigin, dimension: 2}
search: {method: random, trials: 400, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}}
END
cat >two.yaml <<'END'
version: 1
experiment: two
model: hopper
simulation: {duration: 0.6, settle: 0.1}
search: {method: grid, over: {k_fp: [100, 150], thrust: [25, 35]}}
objective: {minimize: [velocity_error, cost_of_transport]}
END
run() { "$HOPSCOTCH" run "$@" --threads 1 --progress none >out 2>err || check 1 "run $*"; }
run gait.yaml
run gait.yaml --name up --set 'objective={maximize: velocity_error}' --set 'search.over.thrust=[25, 30, 40]'
run gait.yaml --name fallen --set 'search.over={dphi_body: [20, 25]}'
run bowl.yaml
run bowl.yaml --name bowl9 --set seed=9
run two.yaml
hopscotch tag gait paper fast
hopscotch note gait 'wider <b>thrust</b>'
hopscotch report gait --motions 0
expect "overview" 0 overview
has "it prints the page's file" out "results/index.html"
has "its policy allows no other script" results/index.html "default-src 'none'"
has "a name links to its report" results/index.html '<a href="./gait/report.html"><b>gait</b></a>'
lacks "a name without a report has no link" results/index.html 'href="./bowl/'
cp results/index.html first.html
expect "overview again" 0 overview
grep -v 'Written 2' first.html >a && grep -v 'Written 2' results/index.html | cmp -s a -
check $? "the same page but for its time"
expect "overview to standard output" 0 overview -o -
lacks "a page elsewhere has no relative links" out 'href="./'
expect "overview into a missing folder" 3 overview -o nowhere/page.html
expect "overview on a full disk" 3 overview -o /dev/full
expect "an ending that is no page" 2 overview -o page.pdf
expect "overview --follow to standard output" 2 overview --follow -o -
expect "overview --follow where nothing runs is one page" 0 overview --follow -o followed.html
lacks "that page does not follow" followed.html 'data-follow="'
expect "overview takes no campaign" 2 overview gait
expect "no campaign has the page's name" 1 run gait.yaml --name index.html
expect "a pattern of the shell leaves the page out" 0 list results/*
hopscotch compare results/index.html gait bowl
has "also for compare" err "compared"

# ---- states ---------------------------------------------------------------------------------------------------------
cat >slow.yaml <<'END'
version: 1
experiment: slow
model: hopper
simulation: {duration: 30}
search: {method: random, trials: 100000, over: {k_fp: {range: [50, 300]}, thrust: {range: [15, 60]}}}
END
state() { sed -n "s/^<tr data-word=\"$1\">.*<td data-value=\"\([a-z]*\)\"><span.*/\1/p" "${2:-results/index.html}"; }
"$HOPSCOTCH" run slow.yaml --threads 1 --batch 64 --progress none >log 2>&1 &
pid=$!
for _ in $(seq 100); do
    [ "$("$HOPSCOTCH" query slow --columns id --limit 2 --format csv 2>/dev/null | wc -l)" -gt 1 ] && break
    sleep 0.1
done
hopscotch overview
[ "$(state slow)" = running ]
check $? "a campaign that runs: $(state slow)"
"$HOPSCOTCH" overview --follow --every 1 -o live.html >followed 2>&1 &
follower=$!
for _ in $(seq 100); do [ -s live.html ] && break; sleep 0.1; done
has "a page that follows" live.html 'data-follow="1"'
kill -9 $pid
wait $pid 2>/dev/null
pid=
wait $follower
check $? "it ends when nothing runs"
[ "$(state slow live.html)" = killed ] && ! grep -q 'data-follow="' live.html
check $? "its last page says that the run was killed: $(state slow live.html)"
"$HOPSCOTCH" resume slow --threads 1 --batch 64 --progress none >log 2>&1 &
pid=$!
for _ in $(seq 100); do
    hopscotch overview
    [ "$(state slow)" = running ] && break
    sleep 0.1
done
[ "$(state slow)" = running ]
check $? "it is running when it was resumed"
kill -INT $pid
wait $pid
pid=
hopscotch overview
[ "$(state slow)" = interrupted ]
check $? "and interrupted after Ctrl-C: $(state slow)"

# ---- damage, and what only another program could have written --------------------------------------------------------
cp -r results/bowl results/junk && echo junk >results/junk/campaign.db
cp -r results/bowl results/zeros && dd if=/dev/zero of=results/zeros/campaign.db bs=1 seek=100 count=3000 conv=notrunc \
    2>/dev/null
mkdir results/empty && : >results/empty/campaign.db
odd="results/<img src=x onerror=alert(1)>' \"\$(touch pwned)&"
cp -r results/gait "$odd"
ln -s "$work/first.html" results/bowl9/report.html
mkdir results/bowl/report.html
expect "overview with damaged campaigns" 0 overview
for name in junk zeros empty; do
    [ "$(state $name)" = unreadable ]
    check $? "$name is shown as unreadable: $(state $name)"
done
has "the page says what is wrong" results/index.html "not a database"
has "it counts them" results/index.html "<dt>unreadable</dt><dd><b>3</b>"
lacks "a link to another file is no report" results/index.html 'href="./bowl9/'
lacks "a folder is no report" results/index.html 'href="./bowl/'
lacks "a name adds no markup" results/index.html '<img'
has "an odd name is one part of an address" results/index.html 'href="./%3Cimg%20src%3Dx%20onerror%3Dalert%281%29%3E%27'

with_python "the table" || exit $status
python3 - >out 2>err <<'END'
import html.parser, json, math, os, re, sqlite3, subprocess, sys

program, failed = os.environ["HOPSCOTCH"], False
hostile = '</script></style></td></table><img src=x onerror=alert(1)>&lt;"\''


def check(name, good, *more):
    global failed
    failed |= not good
    print("ok   overview:" if good else "FAIL overview:", name, *([] if good else more))


class Page(html.parser.HTMLParser):
    """The table's cells, as (data-value or text, text); what is not well-formed, or would load or run something."""

    def __init__(self, path):
        super().__init__()
        self.rows, self.cell, self.open, self.bad, self.words, self.met = [], None, [], [], [], set()
        self.feed(open(path, encoding="utf-8").read())

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.met.add(tag)
        self.bad += [(tag, name) for name, value in attributes if name.startswith("on") or (
            name in ("src", "href") and not (value or "").startswith(("./", "data:")))]
        if tag not in ("meta", "link", "wbr"):
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
            self.words.append(given.get("data-word"))
        if tag in ("td", "th"):
            self.cell = [given.get("data-value"), "", given.get("aria-label")]
            self.rows[-1].append(self.cell)
        if tag == "svg" and self.cell:
            self.cell[2] = given.get("aria-label")

    def handle_startendtag(self, tag, attributes):
        self.met.add(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.bad.append(("end of", tag))
        if tag in ("td", "th"):
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell[1] += data


def page(path="results/index.html"):
    found = Page(path)
    check(f"{path} is well-formed, and has nothing foreign", not found.bad and not found.open and not found.met &
          {"img", "iframe", "object", "form", "base"}, found.bad, found.open)
    heads = [cell[1] for cell in found.rows[0]]
    return heads, {row[0][0]: dict(zip(heads, row)) for row in found.rows[1:]}, dict(
        zip((row[0][0] for row in found.rows), found.words))


def listed(*options):
    ran = subprocess.run([program, "list", *options, "--format", "json"], capture_output=True, text=True)
    return {row["campaign"]: row for row in json.loads(ran.stdout)}


heads, rows, words = page()
stored = listed()
check("a row per campaign", set(rows) == set(stored) and len(rows) == 11, set(rows) ^ set(stored))
for name, one in stored.items():
    row, whole = rows[name], one["state"] != "unreadable"
    number = lambda head: float(row[head][0]) if row[head][0] is not None else None
    same = [number(head) == one[key] for head, key in (("trials", "trials"), ("failures", "failures"),
                                                      ("best", "best"))] if whole else []
    texts = [row[head][1] == (one[head] or "") for head in ("model", "method", "objective")] if whole else []
    check(f"the numbers of {name[:9]} are those of list", row["state"][0] == one["state"] and all(same + texts) and
          (row["last commit"][0] or None) == one["last_commit"] and number("size") == one["size"], row, one)
check("trials that failed alone have no best and no line", rows["fallen"]["best"][0] is None and
      rows["fallen"]["convergence"][2] is None and rows["fallen"]["failures"][0] == "2", rows["fallen"])
for name in ("bowl", "up", "gait"):
    end = float(rows[name]["convergence"][2].split(" then ")[1])
    check(f"the line of {name} ends at its best", math.isclose(end, stored[name]["best"], rel_tol=1e-3), end)
check("a rounded best is marked", rows["bowl"]["best"][1].startswith("\u2248 ") and
      "maximised" in rows["up"]["best"][1], rows["bowl"]["best"], rows["up"]["best"])
check("tags and the last note", all(text in rows["gait"]["campaign"][1] for text in (
    "paper", "fast", "wider <b>thrust</b>")), rows["gait"]["campaign"])
check("a name is quoted for a shell", words["gait"] == "gait" and subprocess.run(
    ["sh", "-c", "printf %s " + next(word for name, word in words.items() if name and name.startswith("<img"))],
    capture_output=True, text=True).stdout == next(name for name in rows if name.startswith("<img")))

# Among the campaigns of a model, those keys that `list --differ` finds, with its values.
shown = ("search.method", "objective.m")
for model in ("hopper", "bbob"):
    of = [name for name, one in stored.items() if one["model"] == model and one["state"] != "unreadable"]
    differ = listed(*(f"results/{name}" for name in of), "--differ")
    keys = [key for key in next(iter(differ.values())) if key not in ("campaign", "best") and not key.startswith(shown)]
    check(f"the keys that differ among {model}", len(keys) > 0 and all(key in heads for key in keys), keys, heads)
    cut = lambda value: value if len(value) <= 48 else value[:45] + "..."
    other = [(name, key, differ[name][key], rows[name][key][1]) for name in of for key in keys
             if cut(str(differ[name][key] if differ[name][key] is not None else "")) != rows[name][key][1]]
    check(f"and their values among {model}", not other, other[:3])

database = sqlite3.connect("results/two/campaign.db")
for (name,) in list(database.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")):
    database.execute(f'DROP TRIGGER "{name}"')  # they need the program's own functions
for sql in ("INSERT INTO notes VALUES('2026-01-01T00:00:00Z', ?)", "INSERT INTO tags VALUES(?)",
            "UPDATE campaign SET reason = ?1, host = ?1, model = ?1, state = ?1",
            "UPDATE campaign SET canonical = 'search.method = ' || ?1 || char(10) || 'objective.minimize = ' || ?1 "
            "|| char(10) || ?1 || ' = ' || ?1", "UPDATE batches SET device = ?1, committed = ?1"):
    database.execute(sql, (hostile,))
database.commit()
database.close()
subprocess.run([program, "overview"], check=True, stdout=subprocess.DEVNULL)
heads, rows, words = page()
check("hostile texts are shown as texts", sum(cell[1].count(hostile) for cell in rows["two"].values()) >= 6,
      rows["two"])
for value in ("9e999", "-9e999", "1e308", "-1e308", "5e-324", "NULL"):
    database = sqlite3.connect("results/bowl/campaign.db")
    for (name,) in list(database.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")):
        database.execute(f'DROP TRIGGER "{name}"')
    database.execute(f"UPDATE trials SET fitness = {value} WHERE id % 3 = 0")
    database.commit()
    database.close()
    ran = subprocess.run([program, "overview", "-o", "odd.html"], capture_output=True, text=True)
    table = open("odd.html").read().split("<tbody>")[1].split("</tbody>")[0] if ran.returncode == 0 else "nan "
    check(f"{value} as a fitness", not re.search(r"[\s\">LM](-?nan|-?inf)\b", table), ran.stderr)
check("no command of a name was run", not os.path.exists("pwned"))
sys.exit(failed)
END
[ $? -eq 0 ] || status=1
cat out
grep -q . err && { sed 's/^/     | /' err | head -20; status=1; }
exit $status
