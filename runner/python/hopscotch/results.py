"""What a campaign holds, as arrays. A run may write it meanwhile: each call shows what is committed by then."""

import csv
import io
import json
import os
import tempfile

from .function import perhaps
from .program import Error, call


def _numpy():
    """Loaded by what gives arrays: all else works without it."""
    try:
        import numpy
    except ModuleNotFoundError as error:
        raise Error("arrays need the package numpy: pip install numpy") from error
    return numpy


def _path(campaign):
    return campaign.path if isinstance(campaign, Campaign) else os.path.abspath(os.fsdecode(campaign))


def open(path):
    """A campaign by its folder, for example "results/smoke". Error: there is none."""
    campaign = Campaign(path)
    campaign.status()
    return campaign


def list_campaigns(results="results", all=False, tag=None, state=None):
    """The campaigns in a folder, as dicts: "campaign", "state", "trials", "best", "model", "method", "objective", ...
    all: also those that verify and compare made. tag: only those with this tag, or with all tags of a list. state:
    "done", "running", ..."""
    words = ["--all"] if all else []
    for one in [tag] if isinstance(tag, str) else tag or []:
        words += ["--tag", one]
    if state is not None:
        words += ["--state", state]
    return json.loads(call("list", "--results", results, "--json", *words))


def _running_words(options, allow_programs, served):
    words = ["--progress", "none", "--json", *options]
    return words + (["--allow-programs"] if allow_programs or served is not None else [])


def compare(*campaigns, seeds=None, options=(), allow_programs=False, function=None):
    """What differs between campaigns (paths, or Campaigns), and whether the best trial of one is better than that of
    the first under common seeds, as `hopscotch compare` has it: a dict with "campaigns" and "comparisons".

    seeds: number of seeds (default 200). options: more words of that command. allow_programs, function: as of run."""
    words = [] if seeds is None else ["--seeds", seeds]
    own = [one.function for one in campaigns if isinstance(one, Campaign) and one.function is not None]
    with perhaps(function or (own[0] if own else None)) as served:
        return json.loads(call("compare", *map(_path, campaigns), *words,
                               *_running_words(options, allow_programs, served),
                               environment=served and served.environment))


def verify(campaign, trial=None, seeds=None, options=(), allow_programs=False, function=None):
    """As Campaign.verify, of a campaign by its path, or a Campaign."""
    own = campaign if isinstance(campaign, Campaign) else Campaign(campaign)
    return own.verify(trial, seeds, options, allow_programs, function)


def units(spec):
    """The unit of each parameter, metric and column of trajectories, by its name; "1" where it has none. spec: a
    Campaign, or its path, the path of a spec, or a dict with its keys."""
    from .runs import spec_file

    with spec_file(spec.path if isinstance(spec, Campaign) else spec) as (path, readable):
        with readable:
            return json.loads(call("check", path, "--json"))["units"]


def _options(where=None, order=None, columns=None, limit=None):
    words = []
    if where is not None:
        words += ["--where", where]
    if order is not None:
        words += ["--order", order]
    if columns is not None:
        words += ["--columns", columns if isinstance(columns, str) else ",".join(columns)]
    if limit is not None:
        words += ["--limit", limit]
    return words


class Campaign:
    """A campaign's folder. Its functions return numpy arrays by the names of their columns. A number that is missing is
    NaN."""

    def __init__(self, path):
        self.path = os.path.abspath(os.fsdecode(path))
        self.results, self.name = os.path.split(self.path)
        self.function = None  # that runs its trials, if run was given one: verify and trajectory call it again
        self.raised = []  # what it raised in that run, dicts with "trial", "replicate" and "text"

    def __repr__(self):
        return f"hopscotch.Campaign({self.path!r})"

    def _call(self, command, *arguments, trial=None, environment=None):
        name = self.name if trial is None else f"{self.name}/{trial}"
        return call(command, name, "--results", self.results, *arguments, environment=environment)

    def status(self):
        """State, counts and times as a dict: "state" is "running", "done", "stopped", "interrupted" or
        "waiting", for results of trials that ask gave."""
        return json.loads(self._call("status", "--json"))

    def spec(self):
        """The text of the spec that the campaign was run with. What --set changed stands at its end, in `set`."""
        with io.open(os.path.join(self.path, "spec.yaml"), encoding="utf-8") as file:
            return file.read()

    def trials(self, where=None, order=None, columns=None, limit=None):
        """Parameters, fitness, failure and metrics of the trials, an array for each column.

        where: a condition on columns ("failure = 'none' and k_fp > 100"). order: "fitness" or "fitness:desc".
        columns: names. limit: number of trials."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trials.npz")
            numpy = _numpy()
            self._call("export", "--npz", path, *_options(where, order, columns, limit))
            with numpy.load(path, allow_pickle=False) as file:
                return {name: file[name] for name in file.files}

    def frame(self, where=None, order=None, columns=None, limit=None):
        """The same as a pandas.DataFrame, with the trials' ids as its index."""
        import pandas

        frame = pandas.DataFrame(self.trials(where, order, columns, limit))
        return frame.set_index("id") if "id" in frame else frame

    def best(self, count=10):
        """The best trials, the best first: a list of dicts."""
        return json.loads(self._call("best", "--json", "--top", count))

    def show(self, trial):
        """All about a trial (an id, "best" or "worst"), as a dict: parameters with their units, metrics, replicates."""
        return json.loads(self._call("show", "--json", trial=trial))

    def ask(self, count=8, again=False, older=None):
        """The next trials of a campaign of `model: manual`, a list of dicts with "trial" and the parameters ("replicate",
        if there are several); empty while results are awaited, or when there are no more: status() says which.

        again: first those that were asked for and not told. older: the same, only of those that were asked for more
        than so many minutes ago."""
        words = ["--again"] if again else []
        words += [] if older is None else ["--older", older]
        return json.loads(self._call("ask", "--format", "json", "--trials", count, *words))

    def tell(self, results, replace=False):
        """Stores results of trials that ask gave, in any order: a dict, or a list of dicts, with "trial", all metrics or
        "failure", and "replicate" if there are several. All are stored, or none and an Error says why. The parameters
        may stand there too: they must be those of the trial. replace: corrects what was told before. A dict without
        a result is an Error too."""
        from .runs import plain

        rows = [results] if isinstance(results, dict) else [*results]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "results.json")
            with io.open(path, "w", encoding="utf-8") as file:
                file.write("[" + ",\n".join(json.dumps(row, default=plain) for row in rows) + "]\n")
            try:
                self._call("tell", path, "--strict", *(["--replace"] if replace else []))
            except Error as error:
                raise Error(str(error).replace(path, "results"), error.code) from None

    def units(self):
        """The unit of each parameter, metric and column of trajectories, by its name; "1" where it has none."""
        return units(self)

    def verify(self, trial=None, seeds=None, options=(), allow_programs=False, function=None):
        """Runs the best trial, or another one by its id, again: under fresh seeds, with each parameter changed a
        little, from a grid of starts. Returns what `hopscotch verify --json` prints: "success", "fitness", "changes", ...

        seeds: number of fresh seeds (default 200). options: more words of that command. allow_programs, function: as
        of run; a campaign that run returned has its function."""
        words = [] if trial is None else ["--trial", trial]
        words += [] if seeds is None else ["--seeds", seeds]
        with perhaps(function or self.function) as served:
            return json.loads(self._call("verify", *words, *_running_words(options, allow_programs, served),
                                         environment=served and served.environment))

    def query(self, sql):
        """Rows of a SELECT over the tables of campaign.db, a list of dicts. It can only read."""
        return json.loads(self._call("query", "--sql", sql, "--format", "json"))

    def rounds(self):
        """What a search that learns stored of each round, an array for each column. Empty: it has no rounds."""
        rows = self.query("SELECT * FROM rounds ORDER BY search, round")
        names = [name for name in (rows[0] if rows else []) if any(row[name] != "(bytes)" for row in rows)]
        return {name: _column([row[name] for row in rows]) for name in names}

    def trajectory(self, trial, replicate=None, sample=None, window=None, allow_programs=False, function=None):
        """The motion of a trial (an id, "best" or "worst"), an array for each column; `time` is in seconds.

        The trial is simulated again, and its numbers are those that are stored, to the last bit; else an Error says
        which differ. sample: seconds between two rows. window: (start, end) in seconds. allow_programs, function: as of
        run; a campaign that run returned has its function."""
        words = ["-o", "-"]
        _numpy()
        if sample is not None:
            words += ["--sample", sample]
        if window is not None:
            words += ["--window", "%r,%r" % (float(window[0]), float(window[1]))]
        name = trial if replicate is None else f"{trial}/{replicate}"
        with perhaps(function or self.function) as served:
            if allow_programs or served is not None:
                words.append("--allow-programs")
            return _table(self._call("replay", *words, trial=name, environment=served and served.environment))


    def events(self, trial, replicate=None, window=None):
        """The events of a trial of `model: equations` in their order, an array for each column: `time`, `number`,
        `event` (its name), `from` and `to` (modes), states and held numbers before and after the event.

        The trial is simulated again, as by trajectory. window: (start, end) in seconds."""
        words = ["--debug", "events", "-o", "-"]
        if window is not None:
            words += ["--window", "%r,%r" % (float(window[0]), float(window[1]))]
        name = trial if replicate is None else f"{trial}/{replicate}"
        text = self._call("replay", *words, trial=name)
        rows = list(csv.reader(io.StringIO(text)))
        texts = ("event", "from", "to")
        columns = {name: [row[k] for row in rows[1:]] for k, name in enumerate(rows[0])}
        return {name: _column(column if name in texts else [float(value or "nan") for value in column])
                for name, column in columns.items()}


def _column(values):
    numpy = _numpy()
    if any(isinstance(value, str) for value in values):
        return numpy.array(["" if value is None else str(value) for value in values])
    if any(value is None or isinstance(value, float) for value in values):
        return numpy.array([numpy.nan if value is None else value for value in values], float)
    return numpy.array(values)


def _table(text):
    """Columns of a CSV table of numbers with a line of names."""
    numpy = _numpy()
    head, _, rest = text.partition("\n")
    names = head.strip().split(",")
    if not rest.strip():
        return {name: numpy.empty(0) for name in names}
    rows = numpy.loadtxt(io.StringIO(rest), delimiter=",", ndmin=2)
    if rows.shape[1] != len(names):
        raise Error("the program printed a table that is not rectangular")
    return {name: rows[:, k].copy() for k, name in enumerate(names)}
