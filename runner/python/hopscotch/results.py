"""What a campaign holds, as arrays. A run may write it meanwhile: each call shows what is committed by then."""

import io
import json
import os
import tempfile

import numpy

from .program import Error, call


def open(path):
    """A campaign by its folder, for example "results/smoke". Error: there is none."""
    campaign = Campaign(path)
    campaign.status()
    return campaign


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

    def __repr__(self):
        return f"hopscotch.Campaign({self.path!r})"

    def _call(self, command, *arguments, trial=None):
        name = self.name if trial is None else f"{self.name}/{trial}"
        return call(command, name, "--results", self.results, *arguments)

    def status(self):
        """State, counts and times as a dict: "state" is "running", "done", "stopped" or "interrupted"."""
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

    def query(self, sql):
        """Rows of a SELECT over the tables of campaign.db, a list of dicts. It can only read."""
        return json.loads(self._call("query", "--sql", sql, "--format", "json"))

    def rounds(self):
        """What a search that learns stored of each round, an array for each column. Empty: it has no rounds."""
        rows = self.query("SELECT * FROM rounds ORDER BY search, round")
        names = [name for name in (rows[0] if rows else []) if any(row[name] != "(bytes)" for row in rows)]
        return {name: _column([row[name] for row in rows]) for name in names}

    def trajectory(self, trial, replicate=None, sample=None, window=None):
        """The motion of a trial (an id, "best" or "worst"), an array for each column; `time` is in seconds.

        The trial is simulated again, and its numbers are those that are stored, to the last bit; else an Error says
        which differ. sample: seconds between two rows. window: (start, end) in seconds."""
        words = ["-o", "-"]
        if sample is not None:
            words += ["--sample", sample]
        if window is not None:
            words += ["--window", "%r,%r" % (float(window[0]), float(window[1]))]
        name = trial if replicate is None else f"{trial}/{replicate}"
        return _table(self._call("replay", *words, trial=name))


def _column(values):
    if any(isinstance(value, str) for value in values):
        return numpy.array(["" if value is None else str(value) for value in values])
    if any(value is None or isinstance(value, float) for value in values):
        return numpy.array([numpy.nan if value is None else value for value in values], float)
    return numpy.array(values)


def _table(text):
    """Columns of a CSV table of numbers with a line of names."""
    head, _, rest = text.partition("\n")
    names = head.strip().split(",")
    if not rest.strip():
        return {name: numpy.empty(0) for name in names}
    rows = numpy.loadtxt(io.StringIO(rest), delimiter=",", ndmin=2)
    if rows.shape[1] != len(names):
        raise Error("the program printed a table that is not rectangular")
    return {name: rows[:, k].copy() for k, name in enumerate(names)}
