#!/bin/sh
# CPU time of an alignment of the lidar pair, compared with small_gicp's VGICP (pip install small_gicp numpy), one
# thread each, in turns, so that both run under the same load. small_gicp is not a dependency; without it or the pair
# the script does nothing.
#
#   tests/bench/small_gicp.sh [HOPSCOTCH]     PYTHON: an interpreter that has small_gicp and numpy (python3)
#                                             NDT_DATA: folder of the pair (../shared/data/ndt)
set -eu
cd "$(dirname "$0")/../.."
. tests/skip.sh
hopscotch=${1:-build/hopscotch} python=${PYTHON:-python3} data=${NDT_DATA:-../shared/data/ndt}
"$python" -c 'import small_gicp, numpy' 2>/dev/null ||
    { skip "all of it" "small_gicp and numpy" "pip install small_gicp numpy"; exit 0; }
[ -r "$data/251370668.pcd" ] || { skip "all of it" "the pair of clouds in $data" "NDT_DATA=FOLDER"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$data/251370668.pcd" "$folder/target.pcd"
cp "$data/ndt_source_0.5m.csv" "$folder/source.csv"
cp "$data/T_target_source.txt" "$folder/truth.txt"

# the same alignment, twice and 2,002 times: what 2,000 take
for count in 2 2002; do
    cat >"$folder/lidar$count.yaml" <<YAML
version: 1
experiment: lidar$count
model: ndt
simulation: {target: target.pcd, source: source.csv, truth: {file: truth.txt}, resolution: 2}
search: {over: {epsilon: {linspace: [0.01, 0.0100001, $count]}}, method: grid}
YAML
done
cat >"$folder/vgicp.py" <<'PYTHON'
import sys, time
import numpy as np
import small_gicp

folder = sys.argv[1]
data = open(folder + "/target.pcd", "rb").read()
first = data.index(b"\n", data.index(b"DATA binary")) + 1
target = np.frombuffer(data[first:], np.float32).reshape(-1, 4)[:, :3].astype(float)
source = np.loadtxt(folder + "/source.csv", delimiter=",")
truth = np.loadtxt(folder + "/truth.txt").reshape(4, 4)


def cpu_ms(function, count):
    times = []
    for _ in range(count):
        start = time.thread_time()
        result = function()
        times.append(1e3 * (time.thread_time() - start))
    return np.mean(times), result


def prepared(points, voxel):
    cloud = small_gicp.PointCloud(points)
    return small_gicp.preprocess_points(cloud, downsampling_resolution=voxel, num_neighbors=10, num_threads=1)[0]


def voxels(points, edge):
    result = small_gicp.GaussianVoxelMap(edge)
    result.insert(points)
    return result


thin_ms, thinned = cpu_ms(lambda: prepared(target, 0.25), 5)
moved_ms, moved = cpu_ms(lambda: prepared(source, 0.01), 5)
for edge in (1.0, 2.0):
    map_ms, cells = cpu_ms(lambda: voxels(thinned, edge), 5)
    for reach in (1.0, 2.0):
        ms, found = cpu_ms(
            lambda: small_gicp.align(cells, moved, max_correspondence_distance=reach, num_threads=1), 100)
        T = found.T_target_source
        turn = np.arccos(min(1.0, (np.trace(truth[:3, :3].T @ T[:3, :3]) - 1) / 2))
        print("VGICP      %.3f ms, %.1f ms to prepare; cells of %g m, reach %g m: %.1f mm and %.2f degrees off" % (
            ms, thin_ms + moved_ms + map_ms, edge, reach, 1e3 * np.linalg.norm((T - truth)[:3, 3]), np.degrees(turn)))
PYTHON
cat >"$folder/ours.py" <<'PYTHON'
import math, resource, subprocess, sys

hopscotch, folder, round = sys.argv[1:]
seconds = []
for count in (2, 2002):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([hopscotch, "run", "%s/lidar%d.yaml" % (folder, count), "--results", folder, "--name", "r%s_%d" % (
        round, count), "--backend", "cpu", "--threads", "1", "--progress", "none"], check=True, capture_output=True)
    seconds.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
row = subprocess.run([hopscotch, "query", "r%s_2" % round, "--results", folder, "--columns",
                      "translation_error,rotation_error,evaluations", "--format", "csv"], check=True,
                     capture_output=True, text=True).stdout.split("\n")[1]
error, turn, evaluations = map(float, row.split(","))
print("Hopscotch  %.3f ms with what stores it, %.0f evaluations: %.1f mm and %.2f degrees off" % (
    1e3 * (seconds[1] - seconds[0]) / 2000, evaluations, 1e3 * error, math.degrees(turn)))
PYTHON
for round in 1 2 3; do
    "$python" "$folder/vgicp.py" "$folder"
    "$python" "$folder/ours.py" "$hopscotch" "$folder" $round
done
