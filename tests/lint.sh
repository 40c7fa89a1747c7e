#!/bin/sh
# Every file compiles alone, without a warning, by gcc; headers by clang too. Includes and symbols point down; two
# headers tell processors apart; everything is formatted; links and file names of the pages lead somewhere.
#
#   tests/lint.sh FLAGS      FLAGS: where the libraries' headers are (DEPENDENCY_FLAGS of build/config.mk)
#
# shellcheck disable=SC2086
set -u
cd "$(dirname "$0")/.." || exit 3
. tests/skip.sh
# compiled as C++: where real is a dual number
dual="sim/dual.h sim/tangent.h sim/articulated/adjoint/tangent.h sim/dual_kernels.cpp
tests/unit/articulated_parts_dual.cpp"
# HOPSCOTCH_CALLS: kernels compile in seconds, not minutes; warnings come before functions are inlined
flags="-D_GNU_SOURCE -DHOPSCOTCH_CALLS -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror ${1:-}"
status=0

fail()
{
    echo "FAIL $*"
    status=1
}

# From the bottom to the top. A folder uses itself and those before it. Of another floor only the public header is
# included: sim/sim.h, io/io.h, and of the floors of runner the header of their name.
order="sim io runner/version.c
runner/experiment/expression runner/experiment/fitness runner/experiment/search runner/experiment/equations
runner/experiment/spec
runner/library runner/python
runner/campaign/store/queries.h runner/campaign/store/ground runner/campaign/store/summary
runner/campaign/store/trials runner/campaign/store/extension
runner/campaign/store/commit runner/campaign/store/campaign runner/campaign/store/join runner/campaign/store/list
runner/campaign/batch runner/campaign/plan runner/campaign/run runner/campaign/doctor
runner/view/analysis runner/view/plots runner/view/report
runner/command runner/main.c"

# For awk: the place of a file in that order (0: none), its floor, the place of a floor, and its public header.
in_order='
BEGIN { folders = split(order, folder, /[ \n]+/) }
function rank(file,  i) {
    for (i = 1; i <= folders; i++) if (file == folder[i] || index(file, folder[i] "/") == 1) return i
    return 0
}
function floor(file,  part) { split(file, part, "/"); return part[1] == "runner" ? "runner/" part[2] : part[1] }
function floor_rank(name,  i) { for (i = 1; i <= folders; i++) if (index(folder[i] "/", name "/") == 1) return i }
function header(name,  last) { last = name; sub(/.*\//, "", last); return name "/" last ".h" }
'

objects=build/lint

# Sources of the program become objects, whose symbols are compared below.
each_alone()
{
    rm -rf $objects && mkdir -p $objects
    # clang compiles the rest in whole floors (.ci/run)
    case $1 in gcc) files='*.c sim/*.cpp tests/unit/*.cpp *.h' ;; *) files='*.h' ;; esac
    set -f
    git ls-files $files | xargs -P "$(getconf _NPROCESSORS_ONLN)" -I FILE sh -c "
        case $1:FILE in
        gcc:sim/*.c | gcc:io/*.c | gcc:runner/*.c) out=\"-O0 -c -o $objects/\$(echo FILE | tr / @).o\" ;;
        *) out=-fsyntax-only ;;
        esac
        case ' $(echo $dual) ' in
        *' FILE '*) as='-std=c++17 -Wno-enum-float-conversion -Wno-psabi -x c++' ;;
        *) as='-std=c17 -x c' ;;
        esac
        echo 'int lint;' | $1 $flags \$out -include FILE \$as - || { echo 'FAIL $1 FILE' && exit 1; }" || status=1
    set +f
}

includes_point_down()
{
    git grep '^#include "' -- 'sim/*.c' 'sim/*.cpp' 'sim/*.h' 'io/*.c' 'io/*.h' 'runner/*/*.c' 'runner/*/*.h' |
        awk -F '[:"]' -v order="$order" "$in_order"'
        function resolved(file, name) {
            sub(/[^\/]*$/, "", file)
            for (file = file name; sub(/[^\/]+\/\.\.\//, "", file);) {}
            return file
        }
        {
            from = $1
            to = resolved(from, $3)
            if (to == "runner/hopscotch.h") next # includes nothing of the program
            here = floor(from)
            there = floor(to)
            if (here == there && (from == header(here) || to == header(there) || rank(to) <= rank(from))) next
            if (here != there && to == header(there) && floor_rank(there) < floor_rank(here)) next
            print from " includes " to (here != there && floor_rank(there) < floor_rank(here) ? \
                ": of another floor, include " header(there) : ", which is above it")
        }' >build/above
    [ ! -s build/above ] || { cat build/above && fail "includes point upwards"; }
}

# An undefined symbol of a file that a file above it defines. Kernels and sim/backend_cuda.cu have no object here.
symbols_point_down()
{
    (cd $objects && nm -A -P ./*.o) | awk '{
        file = substr($1, 3)
        sub(/\.o:$/, "", file)
        gsub("@", "/", file)
        print ($3 == "U" ? "U" : $3 ~ /[A-Z]/ ? "D" : "-"), $2, file
    }' | sort | awk -v order="$order" "$in_order"'
        $1 == "D" { defined[$2] = $3 }
        $1 == "U" && $2 in defined && rank(defined[$2]) > rank($3) {
            print $3 " uses " $2 " of " defined[$2] ", which is above it"
        }
        rank($3) == 0 && !seen[$3]++ { print $3 " lies in no folder of the order in tests/lint.sh" }' >build/above
    [ ! -s build/above ] || { cat build/above && fail "symbols point upwards"; }
}

# Other files of runner/ call functions that say in words what they give. A condition that a user writes is made SQL by
# expression/sql.c, of columns that there are; examples of `query --sql` are for users, and the Python package is one.
only_the_store_speaks_sql()
{
    calls='Statement|cursor_open|with_(null|integer|count|real|text|blob|cell)|database_(prepare|run|make_index)'
    calls="$calls|statement_[a-z]+|(bind|column)_(null|integer|real|text|word|blob|kind|count|name|digest|is_null)"
    calls="$calls|store_(integer|text)|sql_identifier"
    verbs='SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|PRAGMA|VACUUM|REINDEX|BEGIN|COMMIT|ROLLBACK'
    git grep -nE "\<($calls)\>" -- runner ':!runner/campaign/store' ':!runner/campaign/campaign.h' \
        ':!runner/experiment/expression/sql.c' && fail "statements of SQL outside the store"
    git grep -nE "\"[ (]*($verbs)( |\")" -- runner ':!runner/campaign/store' ':!runner/python' |
        grep -v 'hopscotch query\|SWITCH_TEXT' &&
        fail "SQL outside the store"
}

# Models name what differs between processors by the macros and functions of these headers.
processors_are_told_apart_in_two_headers()
{
    git grep -n '__CUDACC__\|__CUDA_ARCH__' -- sim ':!sim/real.h' ':!sim/team.h' ':!sim/backend_cuda.cu' &&
        fail "only sim/real.h, sim/team.h and sim/backend_cuda.cu may ask which processor they are compiled for"
}

is_formatted()
{
    if clang-format --version | grep -q ' 14\.'; then
        git ls-files '*.c' '*.cpp' '*.h' '*.cu' | xargs clang-format --dry-run --Werror ||
            fail "format: run make format"
    else
        skip "the format" "clang-format 14, as versions differ" "apt-get install clang-format-14"
    fi
    git grep -nE "(echo|printf|print)[ (]+f?[\"']+skip" -- tests ':!tests/skip.*' ':!tests/test.c' \
        ':!tests/cli/build.sh' &&
        fail "skipped tests say so by skip (tests/skip.sh)"
    LC_ALL=C.UTF-8 git grep -nI '.\{121,\}' -- '*.sh' '*.cu' '*.c' '*.cpp' '*.h' '*.mk' Makefile | grep -v ':    X(' &&
        fail "lines of more than 120"
}

# The anchors of a page: its headings in lower case, words joined by hyphens, without punctuation.
anchors()
{
    awk '/^```/ { inside = !inside } !inside && /^#+ / { sub(/^#+ /, ""); print tolower($0) }' "$1" |
        sed -e 's/[^a-z0-9 _-]//g' -e 's/ /-/g'
}

# Links of every page, to files and to headings, each of which stands once; names of files, such as `tests/run.sh`, in
# pages for developers.
pages_lead_somewhere()
{
    mkdir -p build
    for page in $(git ls-files '*.md'); do
        awk '/^```/ { inside = !inside } !inside' "$page" | grep -o '](\([^)]*\))' | sed 's/^](\(.*\))$/\1/' |
            grep -v '^[a-z]*:' | while read -r link; do
            file=${link%%#*} anchor=
            case $link in *#*) anchor=${link#*#} ;; esac
            case $file in '') file=$page ;; *) file=$(dirname "$page")/$file ;; esac
            [ -e "$file" ] || { echo "$page: no file for the link '$link'" && continue; }
            [ -z "$anchor" ] || anchors "$file" | grep -qxF -e "$anchor" || echo "$page: no heading for '$link'"
        done
        anchors "$page" | sort | uniq -d | sed "s#.*#$page: the heading '&' stands twice#"
    done >build/links
    for page in $(git ls-files '*README.md' CONTRIBUTING.md); do
        grep -oE '`(experiments|io|runner|sim|tests)/[A-Za-z0-9_./-]+\.[a-z]+`' "$page" | tr -d '`' |
            while read -r file; do [ -e "$file" ] || echo "$page: there is no $file"; done
    done >>build/links
    [ ! -s build/links ] || { cat build/links && fail "links of the pages"; }
}

scripts_are_clean()
{
    for script in $(git ls-files '*.sh'); do sh -n "$script" || fail "$script"; done
    bash -n .ci/run || fail .ci/run
}

# A program that runs there leaves files behind; the repository takes none of them.
top_has_its_files_alone()
{
    for file in $(git ls-files | grep -v /); do
        case $file in
        .clang-format | .gitattributes | .gitignore | CHANGELOG.md | CONTRIBUTING.md | LICENSE | Makefile | \
            README.md | configure.sh) ;;
        *) fail "$file: the top has folders and a few files; remove it, or put it where it belongs" ;;
        esac
    done
}

for compiler in clang gcc; do # objects of gcc stay
    command -v $compiler >/dev/null || { fail "$compiler is missing (./configure.sh --install-dev)" && continue; }
    each_alone $compiler
done
only_the_store_speaks_sql
includes_point_down
symbols_point_down
processors_are_told_apart_in_two_headers
is_formatted
pages_lead_somewhere
scripts_are_clean
top_has_its_files_alone
[ $status -eq 0 ] && echo "ok lint"
exit $status
