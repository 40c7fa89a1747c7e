#!/bin/sh
# Runs `make demo` and `make test` on a bare Debian or Ubuntu. debootstrap makes a root of each release with git, make,
# sudo and nothing else that Hopscotch needs. Each run starts in a fresh copy of the root, with a clone of the last
# commit.
#
#   tests/cleanroom.sh [RELEASE...]      bookworm (Debian 12), trixie (Debian 13), noble (Ubuntu 24.04); the first two
#                                        without an argument
#   tests/cleanroom.sh --roots [...]     only makes the roots that are not there yet
#
#   CLEANROOM_GOALS="demo test python"   what is done: demo and test by default. python: the Python package in an
#                                        environment of its own, as results/README.md has it; needs PyPI
#   CLEANROOM_USERS="root user"          who builds: root, an ordinary user who may use sudo; both by default
#   CLEANROOM_CACHE=FOLDER               where the roots are kept (${XDG_CACHE_HOME:-~/.cache}/hopscotch/cleanroom)
#   CLEANROOM_MIRROR=URL                 where packages come from; by default what apt here uses for Debian. noble needs
#                                        a mirror of Ubuntu, unless this is Ubuntu
#   CLEANROOM_MAKE="OPT=-O0"             more variables for make, for a quick look
#   CLEANROOM_PACKAGES="python3-h5py"    more packages, for tests that are skipped without them
#
# It needs root, debootstrap, and the right to mount; without them it prints `skip …`. Everything is mounted in a
# namespace of its own, and goes with it. The last line is `N passed, N failed`.
#
# shellcheck disable=SC2086
set -u
cd "$(dirname "$0")/.." || exit 3
. tests/skip.sh
cache=${CLEANROOM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/hopscotch/cleanroom}
users=${CLEANROOM_USERS:-root user} goals=${CLEANROOM_GOALS:-demo test}
[ "${1:-}" != --roots ] || { users= && shift; }
releases=${*:-bookworm trixie}
passed=0 failed=0
unset MAKEFLAGS MAKELEVEL MFLAGS

leave()
{
    skip "clean rooms" "$@"
    echo "0 passed, 0 failed"
    [ -n "$users" ] # no roots
    exit
}

[ "$(id -u)" = 0 ] || leave "the right to make them" "run it as root"
command -v debootstrap >/dev/null || leave "debootstrap" "apt-get install debootstrap"
unshare --mount --pid --fork true 2>/dev/null || leave "the right to mount" "a container with CAP_SYS_ADMIN"

# The archive of Debian that apt here is configured for; nothing where there is none: debootstrap has its own.
mirror()
{
    [ -n "${CLEANROOM_MIRROR:-}" ] && echo "$CLEANROOM_MIRROR" && return
    apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' 2>/dev/null | sed -n 's/^Debian|Debian|//p' |
        head -n 1
}

# bare_root RELEASE FOLDER. Older debootstraps have no script for a newer Ubuntu; all its releases have the same.
bare_root()
{
    options="--variant=minbase --include=ca-certificates,git,make,sudo" scripts=/usr/share/debootstrap/scripts
    case $1 in
    noble) debootstrap $options --components=main,universe "$1" "$2" "${CLEANROOM_MIRROR:-}" $scripts/gutsy ;;
    *) debootstrap $options "$1" "$2" $(mirror) ;;
    esac
}

# make_root RELEASE: $cache/RELEASE.tar, unless it is there. What apt here is told of proxies and dates holds in it too.
make_root()
{
    [ -s "$cache/$1.tar" ] && return
    echo "making a root of $1"
    mkdir -p "$cache" && half=$(mktemp -d "$cache/$1.XXXXXX") || return 1
    log=$half.log
    if bare_root "$1" "$half" >"$log" 2>&1; then
        apt-config dump | grep -E '^Acquire::(https?|Check-)' >"$half/etc/apt/apt.conf.d/90host"
        rm -f "$half"/var/cache/apt/archives/*.deb
        chmod 755 "$half" && tar -C "$half" --one-file-system -cf "$half.tar" . && mv "$half.tar" "$cache/$1.tar"
    else
        tail -n 5 "$log"
    fi
    rm -rf "$half" "$half.tar" "$log"
    [ -s "$cache/$1.tar" ]
}

# in_root ROOT USER SCRIPT: by a shell in it that has nothing from here but the way to the network
in_root()
{
    cp /etc/resolv.conf /etc/hosts "$1/etc/" 2>/dev/null
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child --propagation private sh -c '
        mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm" &&
            mount --rbind /sys "$1/sys" && exec chroot "$1" setpriv --reuid="$2" --regid="$2" --init-groups env -i \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$(chroot "$1" sh -c "echo ~$2")" \
            USER="$2" ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
            ${no_proxy:+no_proxy="$no_proxy"} sh -c "$3"' sh "$1" "$2" "$3" </dev/null
}

# measured ROOM USER GOAL: make GOAL there, its output here and in ROOM/GOAL; its exit status. Sets $seconds, $cpu.
measured()
{
    begin=$(date +%s)
    in_root "$1" "$2" "cd && cd hopscotch && make $3 ${CLEANROOM_MAKE:-}; echo status \$?; times" 2>&1 | tee "$1/$3"
    seconds=$(($(date +%s) - begin))
    cpu=$(tail -n 1 "$1/$3" | # of all children, from `times`: 1m2.3s 0m4.5s
        awk '{ split($1, u, "[ms]"); split($2, s, "[ms]"); print int(60 * (u[1] + s[1]) + u[2] + s[2]) }')
    grep -qx 'status 0' "$1/$3"
}

# The Python package in the room, and what it does there; lines of it that look like results of tests.
python_package='
./configure.sh --install-python && make python && python3 -m venv --system-site-packages env &&
    env/bin/pip install --quiet ./runner/python gymnasium && env/bin/python - <<END
import hopscotch
import numpy
campaign = hopscotch.open("results/smoke")
assert len(campaign.trials()["id"]) == 11660 and campaign.best(1)[0]["id"] == 5898
env = hopscotch.VectorEnv("experiments/hopper_env.yaml", lanes=8, device="cpu")
env.reset(seed=1)
assert env.step(numpy.zeros((8, 2)))[0].shape == (8, 11)
print("ok   clean room: the package opens a campaign, and an environment")
END'

# one_room RELEASE USER: demo and tests in a fresh root; a line about them at the end of $summary
one_room()
(
    room=$(mktemp -d "${TMPDIR:-/var/tmp}/cleanroom.XXXXXX") && chmod 755 "$room" || exit 1
    trap 'rm -rf --one-file-system "$room"' EXIT
    trap 'exit 130' INT TERM HUP
    tar -C "$room" -xf "$cache/$1.tar" || exit 1
    user=$2
    if [ "$user" != root ]; then
        user=builder
        chroot "$room" useradd -m -s /bin/sh $user
        echo "$user ALL=(ALL) NOPASSWD: ALL" >"$room/etc/sudoers.d/$user"
    fi
    [ -z "${CLEANROOM_PACKAGES:-}" ] || in_root "$room" root "apt-get update -q &&
        DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $CLEANROOM_PACKAGES" || exit 1
    git clone -q --bare --depth 1 "file://$PWD" "$room/srv/hopscotch.git" && chroot "$room" chown -R $user /srv &&
        in_root "$room" $user 'cd && git clone -q file:///srv/hopscotch.git' || exit 1
    ended=0
    printf '%s' "$1, $2: " >>"$summary"
    for goal in $goals; do
        if [ "$goal" = python ]; then
            # that this machine trusts: its way to PyPI may be its own
            cp -L /etc/ssl/certs/ca-certificates.crt "$room/etc/ssl/host.crt"
            in_root "$room" $user "export PIP_CERT=/etc/ssl/host.crt
                cd && cd hopscotch && make ${CLEANROOM_MAKE:-} && $python_package" 2>&1 | tee "$room/python"
            printf '%s' "python, " >>"$summary"
            grep -q '^ok   clean room' "$room/python"
            good=$?
        else
            measured "$room" $user "$goal"
            good=$?
            printf '%s' "make $goal $seconds s ($cpu s of CPU), " >>"$summary"
            [ "$goal" != demo ] || grep -q '^rank ' "$room/demo" || good=1
        fi
        [ $good -eq 0 ] || [ "$goal" = test ] || { echo "FAIL clean room: $goal on $1 as $2" && ended=1; }
    done
    counts=$(grep -hE '^[0-9]+ passed, [0-9]+ failed$' "$room/test" 2>/dev/null | tail -n 1)
    case $goals in *test*) [ -n "$counts" ] || echo "FAIL clean room: make test on $1 as $2 did not end" ;; esac
    case $goals in *test*) counts=${counts:-0 passed, 1 failed} ;; *) counts="0 passed, 0 failed" ;; esac
    echo "done: $counts" >>"$summary"
    exit $ended
)

summary=$(mktemp) || exit 3
trap 'rm -f "$summary"' EXIT
trap 'exit 130' INT TERM HUP
for release in $releases; do
    if ! make_root "$release"; then
        echo "FAIL clean room: no root of $release"
        failed=$((failed + 1))
        continue
    fi
    for user in $users; do
        echo "---- $release, $user"
        if one_room "$release" "$user"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    done
done
cat "$summary"
awk -v passed=$passed -v failed=$failed '{ passed += $(NF - 3); failed += $(NF - 1) }
    END { print passed " passed, " failed " failed"; exit failed > 0 }' "$summary"
