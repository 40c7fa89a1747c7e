#!/bin/sh
# Runs the campaigns of tests/digests.txt with each instruction set of this processor, and on its GPU if it has one. The
# digest of each must be that of the table: equal bits on every processor, and the same as they were in the repository.
#
#   tests/digests.sh PROGRAM              prints `ok` or `FAIL` per campaign
#   tests/digests.sh PROGRAM --write      writes the table anew, with the best instruction set alone
#
# ISAS="v2 v3": these instruction sets alone. CUDA=yes: a GPU must be there; CUDA=no: none is looked for.
set -u
cd "$(dirname "$0")/.." || exit 3
. tests/skip.sh
program=$1 table=tests/digests.txt status=0
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT

# digest_of SPEC SETTINGS OPTION...: of one run; SETTINGS are words KEY=VALUE
digest_of()
{
    spec=experiments/$1.yaml sets=
    for set in $2; do sets="$sets --set $set"; done
    shift 2
    rm -rf "$folder/results"
    # shellcheck disable=SC2086
    "$program" run "$spec" $sets --name digest --results "$folder/results" --progress none "$@" \
        >"$folder/log" 2>&1 </dev/null || return 1
    "$program" digest digest --results "$folder/results" | cut -d ' ' -f 1
}

numerics=$("$program" version --json | sed -n 's/.*"numerics_version": *\([0-9]*\).*/\1/p')
if [ "${2:-}" = --write ]; then
    sed -n '/^#/p' "$table" >"$folder/table"
    grep -v '^#' "$table" >"$folder/rows"
    while read -r name _ _ settings; do
        got=$(digest_of "$name" "$settings" --backend cpu) || { cat "$folder/log" >&2 && exit 1; }
        echo "$name $numerics $got${settings:+ $settings}" >>"$folder/table"
    done <"$folder/rows"
    cp "$folder/table" "$table"
    exit
fi

# An instruction set that this processor or this build lacks is not a failure. Its name begins a line of `ways`.
: >"$folder/ways"
for isa in ${ISAS:-scalar $(vector_isas "$program")}; do
    if digest_of smoke "search.over.k_fp=[150] search.over.k_xdot=[0.015]" --backend cpu --isa "$isa" >/dev/null; then
        echo "--backend cpu --isa $isa" >>"$folder/ways"
    elif grep -q 'does not have the instruction set' "$folder/log"; then
        skip "digests: $isa" "a processor with its instructions" "another machine"
    else
        skip "digests: $isa" "a build with its kernels" "make"
    fi
done
if [ "${CUDA:-}" = yes ] || { [ "${CUDA:-}" != no ] && nvidia-smi -L >/dev/null 2>&1; }; then
    echo "--backend cuda" >>"$folder/ways"
else
    skip "digests: cuda" "a GPU" "another machine"
fi
[ -s "$folder/ways" ] || { cat "$folder/log" && echo "FAIL digests: no campaign runs" && exit 1; }

while read -r name version expected settings; do
    case $name in '#'* | '') continue ;; esac
    wrong=
    if [ "$version" != "$numerics" ]; then
        echo "FAIL digests: $name: the table has numerics version $version, the program $numerics: after a wanted" \
            "change of bits run tests/digests.sh PROGRAM --write"
        status=1
        continue
    fi
    while read -r way; do
        # shellcheck disable=SC2086
        got=$(digest_of "$name" "$settings" $way) || got="none: $(tail -n 1 "$folder/log")"
        [ "$got" = "$expected" ] || wrong="$wrong; with $way $got"
    done <"$folder/ways"
    if [ -z "$wrong" ]; then
        echo "ok   digests: $name"
    else
        echo "FAIL digests: $name: expected $expected$wrong: if the change of bits is wanted, raise NUMERICS_VERSION" \
            "and run tests/digests.sh PROGRAM --write; else \`replay\` an older \`pack\`: it names the first step"
        status=1
    fi
done <"$table"
exit $status
