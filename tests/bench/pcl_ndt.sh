#!/bin/sh
# Time of an iteration of scan matching on one thread, compared with the Point Cloud Library (Debian: libpcl-dev 1.13):
# the same pair of clouds, the same neighbouring cells. PCL is not a dependency; without it or the pair the script does
# nothing.
#
#   tests/bench/pcl_ndt.sh [HOPSCOTCH]     PCL_ROOT: where its include and lib folders are (/usr)
#                                          NDT_DATA: folder of the pair (../shared/data/ndt)
set -eu
cd "$(dirname "$0")/../.."
. tests/skip.sh
hopscotch=${1:-build/hopscotch} root=${PCL_ROOT:-/usr} data=${NDT_DATA:-../shared/data/ndt}
[ -d "$root/include/pcl-1.13" ] || { skip "all of it" "PCL 1.13 under $root" "apt-get install libpcl-dev"; exit 0; }
[ -r "$data/251370668.pcd" ] || { skip "all of it" "the pair of clouds in $data" "NDT_DATA=FOLDER"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$data/251370668.pcd" "$folder/target.pcd"
cp "$data/ndt_source_0.5m.csv" "$folder/source.csv"

# its own flags: with -march=native the layout of its classes is not that of Debian's library
libraries=$root/lib/$(gcc -print-multiarch)
c++ -std=c++14 -O2 -w -I"$root/include" -I"$root/include/pcl-1.13" -I"$root/include/eigen3" tests/bench/pcl_ndt.cpp \
    -L"$libraries" -Wl,--allow-shlib-undefined -lpcl_registration -lpcl_kdtree -lpcl_search -lpcl_filters -lpcl_common \
    -lpcl_octree -o "$folder/pcl_ndt"
python3 - "$folder/target.pcd" >"$folder/target.csv" <<'PYTHON'
import struct, sys
data = open(sys.argv[1], "rb").read()
first = data.index(b"\n", data.index(b"DATA binary")) + 1
for x, y, z, _ in struct.iter_unpack("<4f", data[first:]):
    print("%.9g,%.9g,%.9g" % (x, y, z))
PYTHON

# the same alignment forty times, ten iterations each
cat >"$folder/lidar.yaml" <<'YAML'
version: 1
experiment: lidar
model: ndt
simulation: {target: target.pcd, source: source.csv, resolution: 2, solver: newton, line_search: none}
parameters: {step_size: 0.1}
search: {over: {epsilon: {linspace: [0.01, 0.0100001, 40]}}, method: grid}
YAML
for round in 1 2 3; do
    echo "PCL        $(LD_LIBRARY_PATH=$libraries "$folder/pcl_ndt" "$folder/target.csv" "$folder/source.csv" 2)"
    "$hopscotch" run "$folder/lidar.yaml" --results "$folder" --name "lidar$round" --backend cpu --threads 1 \
        --progress none --json >"$folder/summary" 2>/dev/null
    "$hopscotch" query "lidar$round" --results "$folder" --columns iterations --format csv | tail -n +2 >"$folder/count"
    python3 -c 'import json, sys
iterations = sum(float(line) for line in open(sys.argv[2]))
print("Hopscotch  %.4f ms an iteration, %.0f iterations" % (
    1e3 * json.load(open(sys.argv[1]))["kernel_seconds"] / iterations, iterations))' "$folder/summary" "$folder/count"
done
