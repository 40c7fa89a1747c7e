#!/bin/sh
# Files that other programs open: shards and exports of HDF5 in xarray, netCDF4, h5py and h5dump, Parquet in pyarrow,
# duckdb, polars and pandas. The numbers are compared with the campaign's, to the bit. A reader that is missing is
# skipped by its name.
. "$(dirname "$0")/../scratch.sh"

# Trials that fall, two replicates, debug rows; a metric that no trial has.
cat >gains.yaml <<'END_OF_SPEC'
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
END_OF_SPEC
run run gains.yaml --progress none --batch 8
check $? "a campaign with failed trials and replicates"

# Blocks, names that SQL and the files have too, units that UDUNITS has by other names, trials that
# fail, columns with and without zeros and missing values.
cat >odd.yaml <<'END_OF_SPEC'
version: 1
experiment: odd
model: equations
simulation:
  duration: 0.1
  dt: 0.01
  system:
    parameters:
      select: {value: 1, unit: deg, range: [-10, 10]}
      order: {value: 1, unit: hops/rev, range: [0, 1e6]}
      rate: {value: 1, unit: 1/s}
    states: {sample: {start: 0, unit: deg}, lane: {start: 1, unit: rev}}
    rates: {sample: select*rate, lane: -lane*rate}
    metrics: {far: {final: sample}, least: {min: lane}, inverse: {final: "1/(select + 1)"}, never: {mean: sample}}
    failures: {low: sample < -0.05}
search:
  method: grid
  over: {select: [-1, 0, 2], order: {linspace: [0, 3, 4]}}
objective: {minimize: far}
store: {rows: blocks}
record: {trajectories: {select: {every: 3}, sample: 0.05}}
END_OF_SPEC
run run odd.yaml --progress none
check $? "a campaign in blocks, with odd names"

cat >trials.py <<'END_OF_PYTHON'
"""READER NAME...: the reader has in NAME.parquet the numbers of NAME.csv."""
import csv
import json
import math
import struct
import sys

reader = sys.argv[1]


def read(path):
    if reader == "pyarrow":
        import pyarrow.parquet

        whole = pyarrow.parquet.read_table(path)
        return {name: whole[name].to_pylist() for name in whole.column_names}
    if reader == "duckdb":
        import duckdb

        found = duckdb.execute("SELECT * FROM read_parquet(?)", [path])
        columns = [column[0] for column in found.description]
        found = found.fetchall()
        return {name: [row[c] for row in found] for c, name in enumerate(columns)}
    if reader == "polars":
        import polars

        whole = polars.read_parquet(path)
        return {name: whole[name].to_list() for name in whole.columns}
    import pandas

    whole = pandas.read_parquet(path)
    return {name: [None if pandas.isna(value) else value for value in whole[name]] for name in whole.columns}


def same(value, text):
    if text == "":
        return value is None
    if isinstance(value, str):
        return value == text
    return value is not None and struct.pack("<d", value) == struct.pack("<d", float(text))


def compare(path, table):
    rows = list(csv.DictReader(open(table, encoding="utf-8")))
    names = next(csv.reader(open(table, encoding="utf-8")))
    got = read(path)
    assert list(got) == names, (list(got), names)
    for name, values in got.items():
        assert len(values) == len(rows), (reader, name, len(values), len(rows))
        for i, row in enumerate(rows):
            assert same(values[i], row[name]), (reader, name, i, values[i], row[name])
    if reader == "pyarrow":
        check_metadata(path, names, rows, got)
    if reader == "duckdb" and rows:
        check_bounds(path, names[0], sorted(float(row[names[0]]) for row in rows))


# Bounds are the least and greatest number that is there; a zero is -0 as the least and +0 as the greatest.
def check_metadata(path, names, rows, got):
    import pyarrow.parquet

    of_file = pyarrow.parquet.read_metadata(path)
    assert of_file.created_by.startswith("hopscotch version "), of_file.created_by
    assert list(json.loads(of_file.metadata[b"units"])) == names and of_file.num_rows == len(rows)
    assert of_file.num_row_groups == (1 if rows else 0)
    for c, name in enumerate(names if rows else []):
        bounds, values = of_file.row_group(0).column(c).statistics, [v for v in got[name] if v is not None]
        assert bounds.null_count == len(rows) - len(values) and bounds.has_min_max == (len(values) > 0), name
        if values:
            assert (bounds.min, bounds.max) == (min(values), max(values)), (name, bounds)
        if values and isinstance(values[0], float):
            assert bounds.min != 0 or math.copysign(1, bounds.min) == -1, name
            assert bounds.max != 0 or math.copysign(1, bounds.max) == 1, name


# DuckDB leaves out row groups by their bounds.
def check_bounds(path, name, values):
    import duckdb

    middle = values[len(values) // 2]
    query = f'SELECT count(*) FROM read_parquet(?) WHERE "{name}" >= ?'
    assert duckdb.execute(query, [path, middle]).fetchone()[0] == sum(value >= middle for value in values)


for name in sys.argv[2:]:
    compare(f"{name}.parquet", f"{name}.csv")
print("read")
END_OF_PYTHON

run export gains --parquet gains.parquet --csv gains.csv
run export odd --parquet odd.parquet --csv odd.csv
run export gains --parquet none.parquet --csv none.csv --where "id < 0"
run export odd --parquet order.parquet --csv order.csv --where "order > 0" \
    --order far:desc,order --columns far,failure,order
"$HOPSCOTCH" export gains --parquet - >pipe.parquet 2>err
cmp -s pipe.parquet gains.parquet
check $? "standard output gets the same bytes"
head -c 4 gains.parquet | grep -q '^PAR1' && tail -c 4 gains.parquet | grep -q 'PAR1'
check $? "a Parquet file begins and ends with PAR1"
refused export gains --parquet twice.parquet --columns id,k_fp,id
has "id is given twice" err
[ ! -e twice.parquet ]
check $? "a refused export leaves no file"
# The rows are chosen before the output is opened, and read behind that: a row that goes meanwhile is not left out.
waits() { grep -qs wait_for_partner "/proc/$pid/task/"*/wchan; }
cp -r results/gains results/fewer
mkfifo pipe
"$HOPSCOTCH" export fewer --parquet pipe >out 2>err &
pid=$!
until_true waits
"$SQL" results/fewer/campaign.db 'DELETE FROM trials WHERE id = 4'
cat pipe >/dev/null
wait "$pid"
expect "$?" 3 "an export from which a row goes"
has "the trials changed while they were read: try again" err

for reader in pyarrow duckdb polars pandas; do
    needs=$reader
    [ "$reader" = pandas ] && needs="pandas pyarrow"
    # shellcheck disable=SC2086
    with_python "Parquet in $reader" $needs || continue
    python3 trials.py "$reader" gains odd none order >out 2>err && grep -q '^read$' out
    check $? "$reader reads Parquet"
done
if [ -x "$HOPSCOTCH_FAULTS_PROGRAM" ]; then
    for fault in fsync:1:EIO rename:1:EIO; do
        HOPSCOTCH_FAULT=$fault "$HOPSCOTCH_FAULTS_PROGRAM" export odd --parquet gains.parquet >out 2>err
        [ $? -eq 3 ] && cmp -s pipe.parquet gains.parquet && [ -z "$(find . -maxdepth 1 -name '*.tmp')" ]
        check $? "an export that fails leaves the old file: $fault"
    done
fi
if [ -w /dev/full ]; then
    "$HOPSCOTCH" export gains --parquet - >/dev/full 2>err
    [ $? -eq 3 ]
    check $? "export to a full disk is an error"
fi

# ---- arrays ---------------------------------------------------------------------------------------------------------

cat >arrays.py <<'END_OF_PYTHON'
"""READER FILE:GROUP...: xarray or netCDF4 has what h5py has, with names for all dimensions."""
import sys

import h5py
import numpy

reader = sys.argv[1]


def compare(path, group):
    with h5py.File(path) as file:
        stored = file[group]
        arrays = {name: data[:] for name, data in stored.items() if name not in ("lanes", "sample", "lane")}
        texts = {name: list(data.asstr()[:]) for name, data in stored.items() if name.endswith("_column")}
        units = {name: [str(unit) for unit in data.attrs["units"]] for name, data in stored.items()
                 if "units" in data.attrs and numpy.ndim(data.attrs["units"]) == 1}
        sizes = {"sample": len(stored["sample"]), "lane": len(stored["lane"])}
        lanes = stored["lanes"][:]
    if reader == "netCDF4":
        import netCDF4

        opened = netCDF4.Dataset(path)[group]
        opened.set_auto_mask(False)
        found, values = opened.variables, lambda name: opened[name][:]
        dimensions = lambda name: opened[name].dimensions
        assert {name: len(opened.dimensions[name]) for name in sizes} == sizes
    else:
        import xarray

        opened = xarray.open_dataset(path, group=group, engine=reader)
        found, values = opened.variables, lambda name: opened[name].values
        dimensions = lambda name: opened[name].dims
        assert {name: opened.sizes[name] for name in sizes} == sizes
        assert not set(sizes) & set(opened.variables), "a dimension without coordinates has none"
        assert opened.coords["time"].dims == ("sample",)
        wide = next(name for name in opened.data_vars if opened[name].ndim == 2)
        column = texts[f"{wide}_column"][1]
        assert numpy.array_equal(opened[wide].sel({f"{wide}_column": column}), arrays[wide][:, 1], equal_nan=True)
        assert opened["lane_length"].attrs["sample_dimension"] == "sample"
        if "trial" in opened:
            means = opened["time"].groupby("trial").max()
            assert list(means["trial"].values) == sorted(set(lanes["trial"]))
    for name, data in arrays.items():
        assert name in found, (reader, name)
        if name in texts:
            assert list(values(name)) == texts[name], (reader, name)
            continue
        got = numpy.asarray(values(name))
        assert got.dtype == data.dtype and got.tobytes() == data.tobytes(), (reader, name, got.dtype, data.dtype)
        wanted = ["lane"] if name.startswith("lane_") else ["sample", f"{name}_column"][: data.ndim]
        assert list(dimensions(name)) == wanted, (reader, name, dimensions(name))
    assert all(list(values(f"lane_{name}")) == list(lanes[name]) for name in ("trial", "replicate", "length"))
    assert int(numpy.sum(values("lane_length"))) == sizes["sample"]
    for name, of_file in units.items():
        assert not {"deg", "rev", "rev/s"} & set(of_file), (name, of_file)


for place in sys.argv[2:]:
    compare(*place.split(":"))
print("read")
END_OF_PYTHON

run export gains --hdf5 gains.h5
run export odd --hdf5 odd.h5
run replay gains/0 -o replay.h5
for reader in h5netcdf netcdf4 netCDF4; do
    case $reader in
    h5netcdf) needs="h5py xarray h5netcdf" ;;
    netcdf4) needs="h5py xarray netCDF4" ;;
    *) needs="h5py netCDF4" ;;
    esac
    # shellcheck disable=SC2086
    with_python "arrays in $needs" $needs || continue
    python3 arrays.py "$reader" gains.h5:trajectories gains.h5:debug/newton odd.h5:trajectories replay.h5:trajectories \
        results/gains/shards/000000.h5:trajectories >out 2>err && grep -q '^read$' out
    check $? "$reader reads exports, shards and replays"
done
if with_python "the example of results/README.md" xarray h5netcdf; then
    awk '/^<!-- checked by tests\/cli\/readers.sh/ { wanted = 1; next } /^```/ && inside { exit } inside
        /^```python/ && wanted { inside = 1 }' "$root/results/README.md" >readme.py
    python3 readme.py >out 2>err && grep -q 's of trial 0$' out
    check $? "the example of results/README.md"
fi
if command -v h5dump >/dev/null; then
    h5dump gains.h5 >out 2>err && grep -q 'DIMENSION_LIST' out && ! grep -qi error err
    check $? "h5dump reads an export"
else
    skip "h5dump" "h5dump" "apt-get install hdf5-tools"
fi
exit $status
