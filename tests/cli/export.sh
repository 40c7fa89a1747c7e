#!/bin/sh
# hopscotch export: other programs read exactly the campaign's data, to the bit.
. "$(dirname "$0")/../scratch.sh"

cat >gains.yaml <<'END'
version: 1
experiment: gains
seed: 7
model: hopper
simulation: {duration: 0.6, settle: 0.1}
search:
  method: grid
  over: {k_fp: {linspace: [50, 300, 6]}, dphi_body: [0, 1, 20]}
replicates: {count: 2, perturb: {phi_leg: {normal: [0.01, 0.02]}}}
record:
  trajectories: {select: {best: 3, every: 4}, sample: 0.01, replicates: all}
  debug: {newton: {select: {trials: [0]}, window: [0.1, 0.101]}}
END
run run gains.yaml --progress none --batch 8
check $? "a campaign"
run export gains --csv a.csv --jsonl a.jsonl --npz a.npz --hdf5 results/gains/campaign.h5
check $? "export to four files"
has "a.npz: 18 trials" err
run export gains --csv - --where "failure = 'none'" --columns id,k_fp,fitness --order fitness --limit 2
[ "$(wc -l <out)" = 3 ] && [ "$(head -n 1 out)" = "id,k_fp,fitness" ]
check $? "export with --where, --order, --columns and --limit"
run query gains --format jsonl --columns id --limit 2
[ "$(cat out)" = '{"id":0}
{"id":1}' ]
check $? "query prints JSON lines too"
ls ./*.tmp >/dev/null 2>&1
[ $? -ne 0 ]
check $? "no half-written file is left"
mkdir elsewhere
run export gains --hdf5 elsewhere/all.h5
check $? "export of HDF5 into another folder"

cat >many.yaml <<'END'
version: 1
experiment: many
model: hopper
simulation: {duration: 0.1, settle: 0}
search: {method: grid, over: {thrust: {linspace: [20, 60, 50]}}}
objective: {minimize: attitude_rms}
record: {trajectories: {select: {every: 1}, sample: 0.01}}
device: {batch: 1}
END
run run many.yaml --progress none

if with_python "every number" numpy h5py; then
    cat >read.py <<'PYTHON'
import csv, json, math, sqlite3, sys
import h5py, numpy

database = sqlite3.connect("results/gains/campaign.db")
database.row_factory = sqlite3.Row
rows = [dict(row) for row in database.execute("SELECT * FROM trials ORDER BY id")]
table = list(csv.DictReader(open("a.csv")))
lines = [json.loads(line) for line in open("a.jsonl")]
arrays = numpy.load("a.npz")
assert len(rows) == len(table) == len(lines) == 18 and set(rows[0]) == set(arrays.files) == set(table[0])
for i, row in enumerate(rows):
    for name, value in row.items():
        number = isinstance(value, float)
        assert lines[i][name] == (value if not number or math.isfinite(value) else None), (name, value, lines[i][name])
        assert (float(table[i][name]) == value) if number else table[i][name] == ("" if value is None else str(value))
        got = arrays[name][i]
        assert (math.isnan(got) if value is None else got == value), (name, value, got)
assert arrays["id"].dtype == "int64" and arrays["failure"].dtype.kind == "U" and arrays["k_fp"].dtype == "float64"
assert None in [row["fitness"] for row in rows] and {"none", "fell"} <= set(arrays["failure"])

for path in sys.argv[1:]:
    with h5py.File(path) as file:
        group = file["trajectories"]
        state, lanes = group["state"], group["lanes"][:]
        places = database.execute(
            "SELECT trial, replicate, name, row FROM trajectories JOIN shards ON shards.id = shard")
        places = {(trial, replicate): (name, row) for trial, replicate, name, row in places}
        assert not state.is_virtual and len(lanes) == len(places) >= 10 and len(state) == sum(lanes["length"])
        assert len({name for name, _ in places.values()}) > 1
        for lane in lanes:
            name, row = places[lane["trial"], lane["replicate"]]
            here = slice(lane["offset"], lane["offset"] + lane["length"])
            with h5py.File(f"results/gains/shards/{name}") as shard:
                source = shard["trajectories/lanes"][row]
                there = slice(source["offset"], source["offset"] + source["length"])
                for dataset in ("time", "state", "control", "fsm"):
                    assert numpy.array_equal(group[dataset][here], shard["trajectories"][dataset][there]), dataset
            assert set(group["trial"][here]) == {lane["trial"]} and set(group["replicate"][here]) == {lane["replicate"]}
        assert list(state.attrs["units"]) and state.dims[0][0].name == "/trajectories/sample"
        assert len(file["debug/newton/residual"]) == len(file["debug/newton/trial"]) > 0
print("read")
PYTHON
    python3 read.py results/gains/campaign.h5 elsewhere/all.h5 >out 2>err
    check $? "every exported number equals the campaign's"
    mv results/gains moved && sed -i 's,results/gains,moved,g' read.py
    python3 read.py moved/campaign.h5 elsewhere/all.h5 >out 2>err
    check $? "the HDF5 files work after the folder moved"
    cat >gaps.py <<'PYTHON'
import sys
import h5py, numpy
with h5py.File(sys.argv[1]) as file:
    data = [file["trajectories"][name][:] for name in ("time", "state", "control")]
    print(len(data[0]), "samples,", sum(int(numpy.isnan(array).sum()) for array in data), "NaN")
PYTHON
    samples=$("$SQL" moved/campaign.db 'SELECT sum(samples) FROM trajectories')
    mv moved/shards away && python3 gaps.py elsewhere/all.h5 >out 2>err
    has "$samples samples, 0 NaN"
    mv away moved/shards && mv moved results/gains

    run export many --hdf5 many.h5
    [ "$(find results/many/shards -type f | wc -l)" -eq 50 ] && (ulimit -n 24 && python3 gaps.py many.h5 >out 2>err)
    has "550 samples, 0 NaN"
    run export many --hdf5 again.h5
    cmp -s many.h5 again.h5
    check $? "equal campaigns give equal bytes"
    run run many.yaml --name packed --set record.trajectories.compression=gzip --progress none
    run export packed --hdf5 packed.h5
    python3 -c 'import h5py, numpy
with h5py.File("many.h5") as plain, h5py.File("packed.h5") as packed:
    data = packed["trajectories/state"]
    assert data.compression == "gzip" and plain["trajectories/state"].compression is None
    assert numpy.array_equal(data[:], plain["trajectories/state"][:])
print("equal")' >out 2>err
    has "equal"
    mv results/many/shards/000007.h5 lost.h5
    code=3 refused export many --hdf5 many.h5
    has "shard 000007.h5 is missing; the command resume records its arrays again" err
    cmp -s many.h5 again.h5 && [ -z "$(find . -maxdepth 1 -name '*.tmp')" ]
    check $? "an export that fails leaves the old file"
    run resume many --progress none
    run export many --hdf5 many.h5 && python3 gaps.py many.h5 >out 2>err
    has "550 samples, 0 NaN"
    sed 's/every: 1/best: 2/; s/many/few/' many.yaml >few.yaml
    run run few.yaml --progress none
    run export few --hdf5 few.h5
    run resume few --extend --set 'search.over.thrust={linspace: [20, 60, 99]}' --progress none
    run gc --yes
    python3 gaps.py few.h5 >out 2>err
    has "22 samples, 0 NaN"
fi
if [ -x "$HOPSCOTCH_FAULTS_PROGRAM" ]; then
    cp results/gains/campaign.h5 before.h5
    for fault in write:1:ENOSPC write:2:ENOSPC write:3:EIO write:4+:EFBIG fsync:1:EIO rename:1:EIO; do
        HOPSCOTCH_FAULT=$fault "$HOPSCOTCH_FAULTS_PROGRAM" export gains --hdf5 results/gains/campaign.h5 >out 2>err
        [ $? -eq 3 ] && grep -q '^hopscotch: cannot .*campaign.h5' err && cmp -s before.h5 results/gains/campaign.h5 &&
            [ -z "$(find results/gains -maxdepth 1 -name '*.tmp')" ]
        check $? "an export that fails leaves the old file: $fault"
    done
    HOPSCOTCH_FAULT=write:2:SHORT,write:4:EINTR "$HOPSCOTCH_FAULTS_PROGRAM" export gains --hdf5 short.h5 >out 2>err
    cmp -s before.h5 short.h5
    check $? "short writes are continued"
    pauses read:30 export many --hdf5 cut.h5
    kill -INT "$pid"
    goes_on
    expect "$ended" 130 "an interrupted export"
    [ -z "$(find . -maxdepth 1 -name 'cut.h5*')" ]
    check $? "it leaves no file"
fi

# A lane that was recorded again lies in another shard; export skips its old rows.
run resume gains --set record.trajectories.sample=0.02 --progress none
run export gains --hdf5 results/gains/campaign.h5
check $? "export after another sampling"
if with_python "numbers of another sampling" numpy h5py; then
    sed -i 's,moved,results/gains,g' read.py
    run export gains --csv a.csv --jsonl a.jsonl --npz a.npz
    python3 read.py results/gains/campaign.h5 >out 2>err
    check $? "every exported number equals the new arrays'"
    python3 -c 'import sqlite3
database = sqlite3.connect("results/gains/campaign.db")
print(database.execute("DELETE FROM trajectories WHERE row = 1").rowcount > 0)
database.commit()' >out 2>err
    has "True"
    run export gains --hdf5 results/gains/campaign.h5
    sed -i 's/>= 10/>= 5/' read.py
    python3 read.py results/gains/campaign.h5 >out 2>err
    check $? "export skips an array without a row in the tables"
fi

# ---- an exported table as the points of a run -----------------------------------------------------------------------

run export gains --csv points.csv --order k_fp:desc
run run gains.yaml --name again --progress none \
    --set 'search={method: list, csv: {file: points.csv, columns: [k_fp, dphi_body]}}'
check $? "an exported table gives the points of a run"
[ "$("$HOPSCOTCH" query gains --order k_fp:desc --columns k_fp,dphi_body,fitness,attitude_rms --format csv)" = \
    "$("$HOPSCOTCH" query again --order id --columns k_fp,dphi_body,fitness,attitude_rms --format csv)" ]
check $? "the run gives the same bits"
run replay again/0
check $? "its trials replay"
refused check gains.yaml --set 'search={method: list, csv: points.csv}'
has "points.csv:1:1: error: unknown parameter 'id' in the header" err

# ---- refusals -------------------------------------------------------------------------------------------------------

code=2 refused export gains
has "export needs a format" err
code=2 refused export gains --npz -
has "NPZ is not written in order; give the name of a regular file" err
code=2 refused export gains --sqlite -
has "--sqlite -: a database is not written in order; give the name of a regular file" err
code=2 refused export gains --hdf5 -
has "--hdf5 -: HDF5 is not written in order; give the name of a regular file" err
code=3 refused export gains --csv nowhere/a.csv
refused export gains --csv a.csv --columns k_pf
has "did you mean 'k_fp'?" err
run run gains.yaml --name bare --set 'record.trajectories.select={}' \
    --set 'record.debug.newton.select={}' --progress none
refused export bare --hdf5 bare.h5
has "bare has no arrays, because its spec records none" err
if [ -w /dev/full ]; then
    "$HOPSCOTCH" export gains --csv - >/dev/full 2>err
    [ $? -eq 3 ]
    check $? "export to a full disk is an error"
fi
exit $status
