#!/bin/sh
# What scripts about systems of a spec (model equations) begin with, behind scratch.sh.
#
# shellcheck disable=SC2154

# system NAME [OPTION: VALUE]... <<SYSTEM: writes NAME.yaml, whose grid is $over ({p: [0]}: a parameter of the system)
system()
{
    into=$1.yaml
    {
        printf 'version: 1\nexperiment: %s\nmodel: equations\nsimulation:\n' "$1"
        shift
        for option in "$@"; do printf '  %s\n' "$option"; done
        printf '  system:\n'
        sed 's/^/    /'
        printf 'search: {method: grid, over: %s}\nobjective: {minimize: survived}\n' "${over:-{p: [0]\}}"
    } >"$into"
}

# rows NAME [option]...: runs NAME.yaml; the trials are in rows.csv
rows()
{
    rm -rf "results/$1" rows.csv
    named=$1
    shift
    "$HOPSCOTCH" run "$named.yaml" --progress none "$@" >out 2>err </dev/null || check 1 "run $named $*"
    "$HOPSCOTCH" query "$named" --columns all --format csv >rows.csv 2>err
}

# holds TOLERANCE VALUE EXPECTED [WHERE]: in every row two expressions of awk, whose names are columns, agree. The
# tolerance is relative to |EXPECTED| + 1. A missing value is nan, which agrees with nothing.
holds()
{
    set -- "$1" "$2" "$3" "${4:-}" "$(head -n 1 rows.csv | awk -F , '{
        for (i = 1; i <= NF; i++)
            printf "%s = $%d == \"\" ? nan : $%d ~ /^-?[0-9]/ ? $%d + 0 : $%d; ", $i, i, i, i, i }')"
    awk -F , "BEGIN { pi = atan2(0, -1); nan = \"nan\" }
        NR > 1 { $5 value = $2; expected = $3
            apart = value - expected; apart = apart < 0 ? -apart : apart; size = expected < 0 ? -expected : expected
            if (value == nan || expected == nan || !(apart <= $1 * (1 + size))) {
                printf \"row %d: expected %.17g, got %.17g\n\", NR - 2, expected, value
                bad = 1
            }
            rows++ }
        END { exit bad || !rows }" rows.csv >out 2>err
    check $? "$2 = $3 to $1${4:+, $4}"
}

# is COLUMN TEXT [WHERE]: in every row
is()
{
    awk -F , -v column="$1" -v text="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
        NR > 1 { rows++; if ($at != text) { printf "row %d: expected %s, got %s\n", NR - 2, text, $at; bad = 1 } }
        END { exit bad || !rows || !at }' rows.csv >out
    check $? "$1 is $2${3:+, $3}"
}
