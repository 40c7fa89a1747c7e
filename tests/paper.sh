#!/bin/sh
# What scripts of tests/papers begin with: . "$(dirname "$0")/../paper.sh"
#
# A script runs one paper's problem and holds the numbers that the paper prints beside ours: `against` is a row of its
# table and a check. `paper_ends` compares the table with that of tests/papers/README.md, between the lines
# <!-- NAME --> and <!-- end -->. PAPERS_UPDATE=1 writes it there instead.
#
# shellcheck disable=SC2154
. "$(dirname "$0")/../scratch.sh"
papers=$root/tests/papers
echo '| quantity | published | ours | difference | bound |' >table
echo '| --- | --- | --- | --- | --- |' >>table

# campaign SPEC [option]...: runs the file SPEC; its trials are in rows.csv, by id
campaign()
{
    of=$(basename "$1" .yaml)
    rm -rf "results/$of" rows.csv
    "$HOPSCOTCH" run "$@" --name "$of" --progress none >out 2>err </dev/null || check 1 "run $*"
    "$HOPSCOTCH" query "$of" --columns all --order id --format csv >rows.csv 2>err
}

# value EXPRESSION [CONDITION]: an expression of awk, whose names are columns, in the first row of rows.csv that meets
# the condition
value()
{
    columns=$(head -n 1 rows.csv | awk -F , '{ for (i = 1; i <= NF; i++) printf "%s = $%d; ", $i, i }')
    awk -F , "NR > 1 { $columns if (${2:-1}) { printf \"%.17g\\n\", $1; exit } }" rows.csv
}

# against QUANTITY PUBLISHED OURS BOUND [FORMAT]: a row of the table. The difference may be BOUND in the quantity's
# unit, or with an r behind it (1e-9r) BOUND of the published number. FORMAT is that of ours.
against()
{
    row=$(printf '%s\n' "$2" "$3" "$4" | awk -v quantity="$1" -v format="${5:-%.6g}" '
        NR == 1 { published = $0 }
        NR == 2 { ours = $0 }
        NR == 3 { bound = $0 }
        END {
            if (ours !~ /^-?[0-9.]/) { printf "| %s | %s | none | | %s |\n", quantity, published, bound; exit 1 }
            relative = sub(/r$/, "", bound)
            apart = ours - published
            if (relative) apart /= published < 0 ? -published : published
            size = apart < 0 ? -apart : apart
            of = relative ? " of it" : ""
            printf "| %s | %s | " format " | %.1e%s | %s%s |\n", quantity, published, ours, apart, of, bound, of
            exit size > bound + 0
        }')
    within=$?
    printf '%s\n' "$row" | tee -a table >out
    check $within "$row"
}

# shown QUANTITY OURS: a row without a published number
shown() { printf '| %s | – | %s | | |\n' "$1" "$2" >>table; }

# problems FILE BOUND MEASURE OPTION=VALUE...: each problem of FILE as a system of equations with these options of
# `simulation`, where it does not set them itself. A problem is
#
#     problem NAME                    and text for the table
#     option NAME: VALUE              of `simulation`
#     let NAME: EXPRESSION
#     START | RATE | END [| SCALE]    of y1, y2, ...: END is what was published
#
# Its row is the component that differs most: MEASURE relative, by that component's size; absolute, by the size of the
# largest component or 1, whichever is more.
problems()
{
    file=$1 bound=$2 measure=$3
    shift 3
    grep '^problem ' "$file" | while read -r _ name text; do
        awk -v name="$name" -v options="$*" '
            function show(heading, list) { if (list != "") printf "    %s:\n%s", heading, list }
            $1 == "problem" { of = $2; next }
            of != name || /^#/ || !NF { next }
            $1 == "option" { sub(/^option /, ""); option = option "  " $0 "\n"; next }
            $1 == "let" { sub(/^let /, ""); split($0, part, /: /)
                let = let "      " part[1] ": \"" substr($0, length(part[1]) + 3) "\"\n"; next }
            { split($0, field, / *\| */); n++
              starts = starts sprintf("      y%d: {start: \"%s\"%s}\n", n, field[1], field[4] == "" ? "" : \
                  ", scale: " field[4])
              rates = rates sprintf("      y%d: \"%s\"\n", n, field[2])
              ends = ends sprintf("      end%d: {final: y%d}\n", n, n) }
            END {
                printf "version: 1\nexperiment: %s\nmodel: equations\nsimulation:\n%s", name, option
                count = split(options, each, / /)
                for (i = 1; i <= count; i++) {
                    split(each[i], part, /=/)
                    if (index(option, "  " part[1] ":") != 1 && !index(option, "\n  " part[1] ":"))
                        printf "  %s: %s\n", part[1], part[2]
                }
                printf "  system:\n    parameters: {unused: 0}\n"
                show("states", starts); show("let", let); show("rates", rates); show("metrics", ends)
                print "search: {method: list, points: [{unused: 0}]}\nobjective: {minimize: survived}"
            }' "$file" >"$name.yaml"
        campaign "$name.yaml"
        awk -v name="$name" -v measure="$measure" '
            function size(x) { return x < 0 ? -x : x }
            FNR == NR && $1 == "problem" { of = $2; next }
            FNR == NR && of == name && !/^(#|let |option )/ && NF {
                split($0, field, / *\| */); known[++n] = field[3]; next }
            FNR == NR { next }
            FNR == 1 { columns = split($0, column, ","); next }
            { split($0, got, ",")
              for (i = 1; i <= columns; i++) ours[column[i]] = got[i]
              for (i = 1; i <= n; i++) if (size(known[i]) > largest) largest = size(known[i])
              if (largest < 1) largest = 1
              worst = -1
              for (i = 1; i <= n; i++) {
                  apart = size(ours["end" i] - known[i])/(measure == "relative" ? size(known[i]) : largest)
                  if (ours["end" i] == "" || apart > worst) { worst = apart; at = i }
                  if (ours["end" i] == "") break
              }
              print at, n, known[at], ours["end" at], measure == "relative" ? "" : largest }' "$file" rows.csv >worst
        read -r at n known ours largest <worst
        if [ "$measure" = relative ]; then within=${bound}r; else
            within=$(awk -v bound="$bound" -v largest="$largest" 'BEGIN { printf "%.2g", bound*largest }'); fi
        against "$name${text:+, $text}: y$at of $n" "$known" "${ours:-none}" "$within" %.12g
        [ "$status" -eq 0 ] || : >failed
    done
    [ ! -e failed ] || status=1
}

# paper_ends: compares the table with that of the page, and ends the script
paper_ends()
{
    page=$papers/README.md
    if [ -n "${PAPERS_UPDATE:-}" ]; then
        awk -v name="$suite" '$0 == "<!-- end -->" { inside = 0 } !inside { print }
            $0 == "<!-- " name " -->" { inside = 1; while ((getline line <"table") > 0) print line }' "$page" >new &&
            cat new >"$page"
    fi
    awk -v name="$suite" '$0 == "<!-- end -->" { inside = 0 } inside { print }
        $0 == "<!-- " name " -->" { inside = 1 }' "$page" >stands
    diff stands table >out 2>err
    check $? "its table in tests/papers/README.md is that of this run (PAPERS_UPDATE=1 make papers writes it)"
    exit "$status"
}
