#!/bin/sh
# Reports, plots and the drawings of replay: they are complete and well-formed, the same for the same campaign, need no
# network, and contain no markup from a spec or a note.
. "$(dirname "$0")/../scratch.sh"
program=$HOPSCOTCH

good() { check 0 "$1"; }
bad()
{
    echo "FAIL $suite: $1"
    sed 's/^/     | /' out err 2>/dev/null | cut -c1-200 | head -20
    status=1
}
# expect NAME CODE ARGUMENTS...
expect()
{
    name=$1 code=$2
    shift 2
    "$program" "$@" >out 2>err
    got=$?
    if [ "$got" -eq "$code" ]; then good "$name"; else bad "$name: exit code $got, expected $code"; fi
}
has() { if grep -qF -e "$3" "$2"; then good "$1"; else bad "$1: no '$3'"; fi; }
lacks() { if grep -qF -e "$3" "$2"; then bad "$1: there is '$3'"; else good "$1"; fi; }

# sections NAME FILE EXPECTED: the sections of the page, in order
sections()
{
    found=$(sed -n 's/^<section id="\([a-z]*\)">$/\1/p' "$2" | tr '\n' ' ')
    if [ "$found" = "$3 " ]; then good "$1"; else bad "$1: '$found', expected '$3'"; fi
}
# page SPEC: runs the spec, and writes its report to NAME.html
page()
{
    experiment=$(sed -n 's/^experiment: //p' "$1")
    "$program" run "$1" --threads 1 --batch 65536 --progress none >log 2>&1 || { cp log out && bad "run $experiment"; }
    expect "report $experiment" 0 report "$experiment" --threads 1 -o "$experiment.html"
    lacks "report $experiment shows no empty section" "$experiment.html" "Nothing to show"
}

hostile='</script></style></pre><img src=x onerror=alert(1)>&lt;"'
cat >gains.yaml <<END
# $hostile
version: 1
experiment: gains
seed: 7
model: hopper
simulation: {duration: 0.8, settle: 0.1}
search:
  method: grid
  over:
    k_fp: {linspace: [50, 300, 5]}
    dphi_body: [0, 1, 20]
    thrust: {arange: [25, 40, 5]}
    b_fp: {derive: "0.1 * k_fp"}
replicates: {count: 2, common: true, perturb: {phi_leg: {normal: [0.01, 0.02]}}}
END
"$program" run gains.yaml --threads 1 --batch 65536 --progress none >log 2>&1 || { cp log out; bad "run"; exit 1; }

# ---- the report -----------------------------------------------------------------------------------------------------

expect "report" 0 report gains --threads 1
has "report prints the page's file" out "results/gains/report.html"
expect "report again, with -o" 0 report gains --threads 1 -o again.html
if cmp -s results/gains/report.html again.html; then good "to the byte"; else bad "it differs"; fi
expect "report to standard output" 0 report gains --threads 1 --output -
if cmp -s out again.html; then good "the same there"; else bad "it differs on standard output"; fi
has "the report says that the motion is the stored trial" again.html "every number is the stored one, to the bit"
has "the report shows the spec as text" again.html '&lt;/script&gt;&lt;/style&gt;&lt;/pre&gt;&lt;img src=x'
lacks "the spec adds no markup to the report" again.html '<img'
has "the report's policy allows no other script" again.html "default-src 'none'"
expect "report into a missing folder" 3 report gains -o nowhere/page.html
has "the error names the missing folder" err "nowhere"
expect "report --follow of a campaign that has ended is one page" 0 report gains --threads 1 --follow -o followed.html
if cmp -s again.html followed.html; then good "the same page"; else bad "it differs with --follow"; fi
expect "report --follow to standard output" 2 report gains --follow -o -
has "the error says what to name" err "name a file, not -"
expect "report without other motions" 0 report gains --threads 1 --motions 0 -o alone.html
has "the report has motions of more trials" again.html 'id="motion_'
lacks "--motions 0 leaves them out" alone.html 'id="motion_'
has "the trials are in the page" again.html '<script type="application/json" id="trials">'
expect "report of a missing campaign" 1 report gians
has "the error suggests a campaign's name" err "did you mean 'gains'?"

# ---- sections without content are left out --------------------------------------------------------------------------

sections "the report of a grid has no section on convergence" again.html \
    "best explore motion scatter importance pairs pareto failures spec provenance"
has "the report names the shaded phases" again.html "Shaded in the curves: compression"
lacks "the report of a grid has no word on searches" again.html "searches"

cat >one.yaml <<END
version: 1
experiment: one
model: hopper
simulation: {duration: 0.5, settle: 0.1}
search: {method: list, points: [{k_fp: 200}]}
END
page one.yaml
sections "the sections of a campaign of one trial" one.html "best motion spec provenance"
has "a report of one trial is titled 'The trial'" one.html "<h2>The trial</h2>"
lacks "a report of one trial offers no sorting" one.html "to sort"
has "a report of one trial names no replicate" one.html ">Trial 0, simulated again"
has "a report of one trial shows the replay command" one.html "hopscotch replay one/0<"

cat >bars.yaml <<END
version: 1
experiment: bars
model: rigid
simulation:
  duration: 0.4
  dt: 0.002
  world:
    bodies:
      - {name: post#, repeat: [0, 1], inertia: [0.0834, 0.0833, 0.001], position: [0, 0, 0.5], velocity: [0.5, 0, 0],
         spin: [0, 1, 0], step: {position: [1, 0, 0]}}
      - {name: beam, inertia: [0.001, 0.0833, 0.0834], position: [0.5, 0, 1], velocity: [1, 0, 0]}
    constraints:
      - {name: foot#, repeat: [0, 1], type: ball, a: post#, at_a: [0, 0, -0.5]}
      - {name: left, type: ball, a: beam, b: post0, at_a: [-0.5, 0, 0]}
      - {name: right, type: ball, a: beam, b: post1, at_a: [0.5, 0, 0]}
search: {method: list, points: [{gravity: 9.81}]}
objective: {minimize: energy_error}
END
page bars.yaml
lacks "a model without phases has no shaded curves" bars.html "Shaded in the curves"
lacks "constant columns have no curve" bars.html 'aria-label="post0_y, time"'
has "changing columns have a curve" bars.html 'aria-label="post0 position, time"'
has "a line names the constant columns" bars.html "post0_y = 0 m, "
lacks "columns of rounding errors have no curve" bars.html 'aria-label="beam_wy, time"'
lacks "a motion without a cycle shows none" bars.html "One cycle of the motion"
expect "replay --svg of the motion" 0 replay bars/0 --svg bars.svg --threads 1
has "the picture names the constant columns" bars.svg "These columns never change: post0_y, "
lacks "the picture has no curve of constant columns" bars.svg 'aria-label="post0_y, time"'

cat >drop.yaml <<END
version: 1
experiment: drop
model: rigid
simulation: {duration: 5, dt: 0.01, world: {bodies: [{name: ball}]}}
search: {method: list, points: [{gravity: 9.81}]}
objective: {minimize: energy_error}
END
page drop.yaml
lacks "a report has no figure that is too small to see" drop.html 'aria-label="The last second of the motion"'
has "a report has the curve of that motion" drop.html 'aria-label="ball position, time"'

cat >along.yaml <<END
version: 1
experiment: along
model: bbob
simulation: {dimension: 3}
search: {method: grid, over: {x1: {linspace: [-5, 5, 30]}, x2: [1], x3: [2]}}
END
page along.yaml
sections "the sections of a search of one parameter" along.html "best explore scatter spec provenance"
has "the report names parameters with one value" along.html "The same in all trials: x2 = 1, x3 = 2."
lacks "parameters with one value have no panel" along.html 'aria-label="fitness, x2"'

cat >drawn.yaml <<END
version: 1
experiment: drawn
model: bbob
simulation: {dimension: 3}
search: {method: random, trials: 60, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}, x3: {range: [-5, 5]}}}
END
page drawn.yaml
sections "random points have a section on convergence" drawn.html \
    "best explore convergence scatter importance pairs spec provenance"
has "random points are shown in the order of trials" drawn.html "The best fitness so far, in the order of the trials."

sed -e 's/experiment: drawn/experiment: indices/' \
    -e 's/method: random, trials: 60/method: sobol_indices, samples: 16/' drawn.yaml >indices.yaml
page indices.yaml
sections "a sensitivity study shows importance first" indices.html \
    "importance best explore scatter pairs spec provenance"
has "a sensitivity study names its index" indices.html "first-order index"

sed -e 's/experiment: drawn/experiment: learnt/' \
    -e 's/method: random, trials: 60/method: cmaes, cmaes: {searches: 2, stop: {generations: 3}}/' \
    drawn.yaml >learnt.yaml
page learnt.yaml
has "an adaptive search shows the median of each generation" learnt.html "the median of each generation"
has "a search that was not verified says so in its head" learnt.html \
    "<dt>verified</dt><dd><b>no</b> <span>hopscotch verify learnt</span>"
has "two searches have a line each" learnt.html "A line per search, the best one in front."

cat >never.yaml <<END
version: 1
experiment: never
model: hopper
simulation: {duration: 100000}
search: {method: grid, over: {thrust: {linspace: [15, 60, 100]}, k_fp: {linspace: [50, 200, 100]}}}
END
"$program" run never.yaml --threads 1 --progress none >log 2>&1 &
pid=$!
leaves INT results/never/campaign.lock
expect "report of a campaign without trials" 0 report never --threads 1 -o never.html
sections "a report without trials has two sections" never.html "spec provenance"
has "a report without trials shows the resume command" never.html "<code>hopscotch resume never</code>"
lacks "a report without trials shows no times" never.html "0 us"

# ---- plots ----------------------------------------------------------------------------------------------------------

expect "the doctor accepts a report among the files" 0 doctor gains
for kind in convergence scatter pairs parallel importance failures pareto timings; do
    expect "plot $kind" 0 plot gains --kind $kind -o $kind.svg
done
cat >rate.yaml <<END
version: 1
experiment: rate
model: bbob
search: {method: grid, over: {x1: {linspace: [-5, 5, 14]}, x2: {linspace: [-5, 5, 14]}}}
objective: {minimize: "min(f, 4)"}
END
"$program" run rate.yaml --threads 1 --batch 1000 --progress none >log 2>&1
expect "plot of a map where most trials have the same fitness" 0 plot rate --kind pairs -o rate.svg
if [ "$(grep -o 'y="42">[0-9.]*<' rate.svg | sort -u | wc -l)" -eq 7 ]; then
    good "a map's eight colours have different values"
else
    bad "its colours: $(grep -o 'y="42">[0-9.]*<' rate.svg)"
fi
expect "report a grid of two parameters" 0 report rate --threads 1 -o map.html
sections "a report of two parameters shows the map first" map.html \
    "pairs best explore scatter importance spec provenance"
has "the map has a title" map.html "<h2>Fitness over x1 and x2</h2>"
has "the map is in the navigation" map.html '<a href="#pairs">Map</a>'
has "the map shows each trial" map.html "The fitness of each trial. Dot"
cat >few.yaml <<END
version: 1
experiment: few
model: bbob
search: {method: grid, over: {x1: [0, 1, 2], x2: [0, 1]}}
END
page few.yaml
has "the best of few values has the last colour" few.html 'class="c7 ce"'
expect "help plot" 0 help plot
has "help plot lists every kind" out "|pareto|timings "
expect "plot without -o" 0 plot gains
has "plot prints the default file name" out "gains-convergence.svg"
expect "plot of a misspelt kind" 2 plot gains --kind convergnce
has "the error suggests the kind" err "did you mean 'convergence'?"
"$program" run gains.yaml --name fallen --set search.over.dphi_body=[20] --threads 1 --batch 4096 \
    --progress none >log 2>&1
expect "report of failed trials only" 0 report fallen --threads 1 -o fallen.html
has "a report of failed trials says that no trial has a fitness" fallen.html "no trial has one"
sections "a report of failed trials shows failures, then a motion" fallen.html "failures explore motion spec provenance"
has "the motion of a failed trial is marked" fallen.html "Trial 0, replicate 0, which failed, simulated again"
lacks "failures of one kind have no panel per parameter" fallen.html 'aria-label="failed (%)'
for kind in convergence scatter pairs parallel importance pareto; do
    expect "plot $kind of failed trials only" 1 plot fallen --kind $kind -o none.svg
    has "the error says that there is nothing to plot as $kind" err "there is nothing to plot as $kind"
done
expect "plot failures of failed trials only" 0 plot fallen --kind failures -o fallen.svg
"$program" run gains.yaml --name fine --set search.over.dphi_body=[0] --threads 1 --progress none >log 2>&1
expect "plot failures where none failed" 1 plot fine --kind failures
has "the error says that none failed" err "none of 20 trials failed"
if [ -e none.svg ]; then bad "an error left a file"; else good "an error leaves no file"; fi

cat >several.yaml <<END
version: 1
experiment: several
model: hopper
simulation: {duration: 0.4, settle: 0.1}
search:
  method: nsga2
  over: {k_fp: {range: [50, 300]}, thrust: {range: [20, 60]}}
  nsga2: {population: 8, stop: {generations: 3}}
objective: {minimize: [velocity_error, "attitude_rms + 0 * m", cost_of_transport], reference: [9, 9, 99]}
END
"$program" run several.yaml --threads 1 --progress none >log 2>&1
expect "report of several objectives" 0 report several --threads 1 -o several.html
has "the report shows the objectives" several.html "<code>attitude_rms + 0 * m</code>"
has "the report plots the objectives pairwise" several.html 'aria-label="cost_of_transport, velocity_error"'
for kind in convergence scatter pairs parallel importance pareto timings; do
    expect "plot $kind of several" 0 plot several --kind $kind -o several_$kind.svg
done
has "plot convergence shows the hypervolume" several_convergence.svg "hypervolume of the front"
for objective in velocity_error "attitude_rms + 0 * m" cost_of_transport; do
    has "plot convergence shows the best of $objective" several_convergence.svg "best so far: $objective<"
done
lacks "plot convergence shows no best of all objectives" several_convergence.svg ">best so far<"
grep '<h2>' several.html | head -n 1 >first
has "a report of several objectives shows the front first" first "The front"
expect "plot another objective" 0 plot several --kind scatter --objective 3 -o third.svg
has "plot --objective names the objective" third.svg ">cost_of_transport<"
expect "plot of an objective that does not exist" 1 plot several --kind scatter --objective 4 -o fourth.svg
has "the error gives the number of objectives" err "several has 3 objectives"

# ---- replay ---------------------------------------------------------------------------------------------------------

best=$("$program" best gains --top 1 --format csv | sed -n '2s/^1,\([0-9]*\),.*/\1/p')
failed=$("$program" query gains --where "failure != 'none'" --limit 1 --format csv --columns id | sed -n 2p)
expect "replay as CSV" 0 replay "gains/$best" --sample 0.01 --window 0.2,0.5 -o trace.csv --threads 1
if [ "$(wc -l <trace.csv)" -eq 32 ]; then good "the CSV has the window"; else bad "$(wc -l <trace.csv) lines"; fi
expect "replay of another replicate" 0 replay "gains/$best/1" --sample 0.01 --window 0.2,0.5 -o other.csv --threads 1
if cmp -s trace.csv other.csv; then bad "replicates are the same"; else good "another replicate has another motion"; fi
expect "replay of a replicate that does not exist" 1 replay "gains/$best/2"
has "the error gives the number of replicates" err "has 2 replicates, numbered from 0"
expect "replay of a replicate by path" 0 replay "results/gains/$best/1"
expect "replay as JSON" 0 replay "gains/$best" --json --svg json.svg --threads 1
has "replay --json reports the comparison" out '"equal": true'
lacks "replay --json prints nothing else" out "json.svg"
expect "replay as HDF5" 0 replay "gains/$best" -o trace.h5 --threads 1
expect "replay --debug of the solver" 0 replay "gains/$best" --debug newton --window 0.3,0.3005 -o - --threads 1
has "the iterations have named columns" out "time,step,iteration,residual_q"
has "messages go to standard error" err "the same to the bit"
expect "replay --svg" 0 replay "gains/$best" --svg motion.svg --threads 1
has "the picture shows a cycle of the motion" motion.svg "One cycle of the motion"
expect "replay --svg of the solver" 0 replay "gains/$best" --debug newton --window 0.3,0.31 --svg newton.svg --threads 1
expect "replay --html of two trials" 0 replay "gains/$best" "gains/$failed" --html two.html --threads 1
has "the page holds both trials" two.html "\"name\":\"gains/$failed\""
expect "replay --terminal" 0 replay "gains/$best" --terminal --threads 1
has "figures in the terminal have times" out "0.80 s"
lacks "figures outside a terminal have no control sequences" out "$(printf '\033')"
expect "replay of a window after the end" 1 replay "gains/$best" --window 2,3 -o trace2.csv
has "the error gives the empty window" err "lies between 2 and 3 s"
"$program" run gains.yaml --name long --set simulation.duration=300 --set search.over.dphi_body=[20] --threads 1 \
    --progress none >log 2>&1
expect "replay with too many samples" 1 replay long/0 --sample 0.0001 -o trace2.csv
has "the error suggests a coarser --sample" err "name a coarser --sample"
expect "replay with too many iterations" 1 replay long/0 --debug newton -o trace2.csv
has "the error suggests a shorter --window" err "name a shorter --window"
expect "replay with a --sample that is not a number" 2 replay "gains/$best" --sample often -o trace.csv
expect "replay with a --sample of half ticks" 1 replay "gains/$best" --sample 0.00015 -o trace.csv
has "the error names the step" err "is not a multiple of the step, "
expect "replay with half a window" 2 replay "gains/$best" --window 0.5 -o trace.csv
has "the error gives an example of a window" err "e.g. 0.55,0.6"
expect "replay with --sample and without a file" 2 replay "gains/$best" --sample 0.01
has "the error suggests -o" err "add -o FILE.h5"
expect "replay with --sample of iterations" 2 replay "gains/$best" --debug newton --sample 0.01 -o trace.csv
expect "replay --html of iterations" 2 replay "gains/$best" --debug newton --html trace.html
expect "replay into an unknown kind of file" 2 replay "gains/$best" -o trace.txt
has "the error names the known kinds of files" err "writes .h5 or .csv, not '.txt'"
expect "replay into a file without an ending" 2 replay "gains/$best" -o trace
has "the error names the endings" err "must end in .h5 or .csv"
expect "replay of two trials without --html" 2 replay "gains/$best" "gains/$failed"
cat >point.yaml <<END
version: 1
experiment: point
model: bbob
search: {method: grid, over: {x1: [0, 1], x2: [0, 1]}}
END
"$program" run point.yaml --threads 1 --progress none >log 2>&1
expect "report of a model without a motion" 0 report point --threads 1 -o point.html
sections "a report of a model without a motion has no such section" point.html \
    "pairs best explore scatter importance spec provenance"
expect "replay --html without a motion" 1 replay point/1 --html point.html
has "the error says that the model has no drawing" err "has no drawing"
expect "replay --terminal without a motion" 1 replay point/1 --terminal
expect "replay --debug without a solver" 1 replay point/1 --debug newton -o point.csv
has "the error says that the model has no such solver" err "no step is solved by iteration"

# ---- checks with parsers --------------------------------------------------------------------------------------------

with_python "markup" || exit $status
PYTHONPATH="$root/tests" python3 - "$hostile" >out 2>err <<'END'
import csv, glob, html.parser, json, re, sqlite3, subprocess, sys, xml.etree.ElementTree as xml, os
from skip import skip

hostile, program, failed = sys.argv[1], os.environ.get("HOPSCOTCH", "build/hopscotch"), False


def check(name, good, *more):
    global failed
    failed |= not good
    print("ok   report:" if good else "FAIL report:", name, *([] if good else more))


class Page(html.parser.HTMLParser):
    """Elements that are open; every element that was met; texts of JSON."""

    def __init__(self, path):
        super().__init__()
        self.met, self.open, self.text, self.json, self.bad = set(), [], "", [], []
        self.feed(open(path, encoding="utf-8").read())

    def handle_starttag(self, tag, attributes):
        self.met.add(tag)
        self.bad += [(tag, name) for name, value in attributes if name.startswith("on") or (
            name in ("src", "href", "xlink:href") and not (value or "").startswith(("#", "data:")))]
        if tag not in ("meta", "link", "input", "img", "br"):
            self.open.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.bad.append(("end of", tag, self.open[-1:]))
        else:
            self.open.pop()

    def handle_startendtag(self, tag, attributes):
        self.met.add(tag)

    def handle_data(self, data):
        tag, attributes = self.open[-1] if self.open else ("", {})
        if tag == "script" and attributes.get("type") == "application/json":
            self.json.append(json.loads(data))
        elif tag not in ("script", "style"):
            self.text += data


def page(path, *texts):
    found = Page(path)
    check(f"{path} is well-formed", not found.bad and not found.open, found.bad, found.open)
    check(f"{path} has no foreign element", not found.met & {"img", "iframe", "object", "form", "base"}, found.met)
    for text in texts:
        check(f"{path} shows {text[:20]}", text in found.text)
    return found


page("fallen.html")
page("several.html")
page("point.html")
motions = page("two.html").json[0]
check("two motions of whole frames", len(motions) == 2 and all(
    len(m["points"]) == 2 * m["n_points"] * len(m["time"]) == 2 * m["n_points"] * len(m["phase"]) for m in motions))
for path in sorted(glob.glob("*.svg")):
    try:
        xml.parse(path)
        check(f"{path} is XML", True)
    except xml.ParseError as error:
        check(f"{path} is XML", False, error)
    text = open(path).read()
    check(f"{path} has numbers only", not re.search(r"\b(nan|inf)\b", text.split("</style>")[1]))

rows = list(csv.DictReader(open("trace.csv")))
check("samples are those that were asked for", float(rows[0]["time"]) == 0.2 and float(rows[-1]["time"]) == 0.5)
try:
    import h5py

    group = h5py.File("trace.h5")["trajectories"]
    check("HDF5 has the lane", len(group["lanes"]) == 1 and group["lanes"]["length"][0] == len(group["time"]))
except ImportError:
    skip("report", "HDF5", "python3 with h5py", "apt-get install python3-h5py")

# In a terminal, replay --terminal uses a separate screen and restores the old one, also when it is interrupted.
def played(*keys):
    import pty, select, time

    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm", LC_ALL="C.UTF-8")
        os.execv(program, [program, "replay", "gains/0", "--terminal", "--threads", "1"])
    shown, end = b"", time.monotonic() + 60
    while time.monotonic() < end:
        try:
            if select.select([terminal], [], [], 1)[0]:
                shown += os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if keys and b"\033[H" in shown:
            os.write(terminal, keys[0])
            keys = ()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown


code, shown = played()
check("an animation leaves the terminal as it was", code == 0 and shown.count(b"\033[?1049h") == 1 == shown.count(
    b"\033[?1049l") and shown.rindex(b"\033[?25h") < shown.rindex(b"\033[?1049l"), code, shown[-200:])
check("the animation in the terminal moves", len(set(shown.split(b"\033[H"))) > 5)
code, shown = played(b"\x03")
check("an interrupted animation leaves the terminal as it was", code == 130 and shown.count(b"\033[?1049l") == 1, code,
      shown[-200:])

# Texts that only another program could have written.
database = sqlite3.connect("results/gains/campaign.db")
for sql in ("INSERT INTO notes VALUES('2026-01-01T00:00:00Z', ?)", "INSERT INTO tags VALUES(?)",
            "INSERT INTO events(time, kind, text) VALUES('now', ?1, ?1)",
            "UPDATE batches SET device = ?1, version = ?1",
            "UPDATE campaign SET reason = ?1, host = ?1, commit_id = ?1, compiler = ?1, state = ?1"):
    try:
        database.execute(sql, (hostile,))
    except sqlite3.OperationalError:  # the digests' triggers need the program's own functions
        for (name,) in list(database.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")):
            database.execute(f'DROP TRIGGER "{name}"')
        database.execute(sql, (hostile,))
database.commit()
database.close()
subprocess.run([program, "report", "gains", "--threads", "1", "-o", "hostile.html"], check=True,
               stdout=subprocess.DEVNULL)
page("hostile.html", hostile)
check("the hostile text is shown as text, everywhere", Page("hostile.html").text.count(hostile) >= 9)
# Numbers that no run could have written.
for value in ("9e999", "-9e999", "NULL", "1e308", "-1e308", "5e-324", "0", "-1"):
    database = sqlite3.connect("results/gains/campaign.db")
    database.execute("CREATE TABLE IF NOT EXISTS kept AS SELECT * FROM trials")
    database.execute(f"UPDATE trials SET k_fp = {value} WHERE id % 3 = 0")
    database.execute(f"UPDATE trials SET fitness = {value}, velocity_error = {value} WHERE id % 4 = 1")
    database.execute(f"UPDATE batches SET wall_seconds = {value}, kernel_seconds = {value}")
    database.commit()
    run = subprocess.run([program, "report", "gains", "--threads", "1", "-o", "-"], capture_output=True, text=True,
                         timeout=300)
    body = run.stdout.split("</style>")[1] if run.returncode == 0 else "inf "
    odd = re.search(r'.{60}[ ">](-?nan|-?inf)["<\s]', body.split("<script>")[0])
    check(f"{value} everywhere", not odd, run.returncode, run.stderr, odd)
    database.execute("DELETE FROM trials")
    database.execute("INSERT INTO trials SELECT * FROM kept")
    database.commit()
    database.close()

database = sqlite3.connect("results/gains/campaign.db")
database.execute("UPDATE trials SET fitness = fitness * (1 + 1e-15) WHERE id = (SELECT id FROM trials WHERE fitness IS "
                 "NOT NULL ORDER BY fitness LIMIT 1)")
database.commit()
best = database.execute("SELECT id FROM trials WHERE fitness IS NOT NULL ORDER BY fitness LIMIT 1").fetchone()[0]
database.close()
subprocess.run([program, "report", "gains", "--threads", "1", "-o", "changed.html"], check=True,
               stdout=subprocess.DEVNULL)
check("a report says that a trial does not repeat", "it differs from what is stored: fitness" in Page(
    "changed.html").text)
wrong = subprocess.run([program, "replay", f"gains/{best}", "--svg", "changed.svg"], capture_output=True, text=True)
check("replay of that trial names the field and the versions", wrong.returncode == 3 and "fitness" in wrong.stderr and
      "numerics version" in wrong.stderr and not os.path.exists("changed.svg"), wrong.stderr)
sys.exit(failed)
END
[ $? -eq 0 ] || status=1
cat out
grep -q . err && { sed 's/^/     | /' err | head -20; status=1; }
exit $status
