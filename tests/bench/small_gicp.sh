#!/bin/sh
# An alignment of the lidar pair beside small_gicp's VGICP (pip install small_gicp numpy), one thread each, in turns, so
# that both meet the same load. small_gicp is no dependency; without it or the pair there is nothing to do.
#
#   tests/bench/small_gicp.sh [HOPSCOTCH]     PYTHON: an interpreter that has small_gicp and numpy (python3)
#                                             NDT_DATA: folder of the pair (../shared/data/ndt)
set -eu
cd "$(dirname "$0")/../.."
hopscotch=${1:-build/hopscotch} python=${PYTHON:-python3} data=${NDT_DATA:-../shared/data/ndt}
"$python" -c 'import small_gicp, numpy' 2>/dev/null || { echo "skip small_gicp: $python has no small_gicp"; exit 0; }
[ -r "$data/251370668.pcd" ] || { echo "skip small_gicp: the pair of clouds is not in $data"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$data/251370668.pcd" "$folder/target.pcd"
cp "$data/ndt_source_0.5m.csv" "$folder/source.csv"
cp "$data/T_target_source.txt" "$folder/truth.txt"

# the same alignment, two hundred times
cat >"$folder/lidar.yaml" <<'YAML'
version: 1
experiment: lidar
model: ndt
simulation: {target: target.pcd, source: source.csv, truth: {file: truth.txt}, resolution: 2}
search: {over: {epsilon: {linspace: [0.01, 0.0100001, 200]}}, method: grid}
YAML
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


def elapsed_ms(function, count):
    times = []
    for _ in range(count):
        start = time.perf_counter()
        result = function()
        times.append(1e3 * (time.perf_counter() - start))
    return np.median(times), result


def prepared(points, voxel):
    cloud = small_gicp.PointCloud(points)
    return small_gicp.preprocess_points(cloud, downsampling_resolution=voxel, num_neighbors=10, num_threads=1)[0]


def voxels(points, edge):
    result = small_gicp.GaussianVoxelMap(edge)
    result.insert(points)
    return result


thin_ms, thinned = elapsed_ms(lambda: prepared(target, 0.25), 5)
moved_ms, moved = elapsed_ms(lambda: prepared(source, 0.01), 5)
for edge in (1.0, 2.0):
    map_ms, cells = elapsed_ms(lambda: voxels(thinned, edge), 5)
    for reach in (1.0, 2.0):
        ms, found = elapsed_ms(lambda: small_gicp.align(cells, moved, max_correspondence_distance=reach, num_threads=1), 100)
        T = found.T_target_source
        turn = np.arccos(min(1.0, (np.trace(truth[:3, :3].T @ T[:3, :3]) - 1) / 2))
        print("VGICP      %.3f ms, %.1f ms of preparation; cells of %g m, reach %g m: %.1f mm and %.2f degrees off" % (
            ms, thin_ms + moved_ms + map_ms, edge, reach, 1e3 * np.linalg.norm((T - truth)[:3, 3]), np.degrees(turn)))
PYTHON
for round in 1 2 3; do
    "$python" "$folder/vgicp.py" "$folder"
    "$hopscotch" run "$folder/lidar.yaml" --results "$folder" --name "lidar$round" --backend cpu --threads 1 \
        --progress none --json >"$folder/summary" 2>/dev/null
    "$hopscotch" query "lidar$round" --results "$folder" --columns translation_error,rotation_error,evaluations \
        --limit 1 --format csv | tail -n 1 >"$folder/row"
    "$python" -c 'import json, math, sys
error, turn, evaluations = map(float, open(sys.argv[2]).read().split(","))
print("Hopscotch  %.3f ms, %.0f evaluations: %.1f mm and %.2f degrees off" % (
    1e3 * json.load(open(sys.argv[1]))["kernel_seconds"] / 200, evaluations, 1e3 * error, math.degrees(turn)))' \
        "$folder/summary" "$folder/row"
done
