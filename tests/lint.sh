#!/bin/sh
# Every file compiles alone, without a warning, by gcc and by clang; headers too. No file is missing from the one
# translation unit; layers point down; two headers tell processors apart; everything is formatted; links and file names
# of the pages lead somewhere.
#
#   tests/lint.sh FLAGS      FLAGS: where the libraries' headers are (DEPENDENCY_FLAGS of build/config.mk)
#
# shellcheck disable=SC2086
set -u
cd "$(dirname "$0")/.." || exit 3
flags="-std=c17 -D_GNU_SOURCE -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror ${1:-}"
status=0

fail()
{
    echo "FAIL $*"
    status=1
}

each_alone()
{
    git ls-files '*.c' '*.h' | xargs -P "$(getconf _NPROCESSORS_ONLN)" -I FILE sh -c "
        echo 'int lint;' | $1 $flags -fsyntax-only -include FILE -x c - || { echo 'FAIL $1 FILE' && exit 1; }" ||
        status=1
}

unit_is_whole()
{
    for file in $(git ls-files 'sim/*.c' 'io/*.c' 'runner/*.c'); do
        case $file in
        runner/main.c | runner/hopscotch.c | sim/cpu_kernels.c) ;;
        runner/*) grep -qF "\"${file#runner/}\"" runner/hopscotch.c || fail "$file is not in runner/hopscotch.c" ;;
        *) grep -qF "\"../$file\"" runner/hopscotch.c || fail "$file is not in runner/hopscotch.c" ;;
        esac
    done
}

layers_point_down()
{
    git grep -n '#include ".*\(io\|runner\)/' -- sim && fail "sim includes a layer above it"
    git grep -n '#include ".*runner/' -- io && fail "io includes a layer above it"
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
        git ls-files '*.c' '*.h' '*.cu' | xargs clang-format --dry-run --Werror || fail "format: run make format"
    else
        echo "skip format: versions of clang-format differ, and 14 decides"
    fi
    git grep -nI '.\{121,\}' -- '*.sh' '*.cu' '*.c' '*.h' Makefile | grep -v ':    X(' && fail "lines of more than 120"
}

# The anchors of a page: its headings in lower case, words joined by hyphens, without punctuation.
anchors()
{
    awk '/^```/ { inside = !inside } !inside && /^#+ / { sub(/^#+ /, ""); print tolower($0) }' "$1" |
        sed -e 's/[^a-z0-9 _-]//g' -e 's/ /-/g'
}

# Links of every page, to files and to headings; names of files in the READMEs, such as `tests/run.sh`.
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
    done >build/links
    for page in $(git ls-files '*README.md'); do
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

for compiler in gcc clang; do
    command -v $compiler >/dev/null || { fail "$compiler is missing (./configure.sh --install-dev)" && continue; }
    each_alone $compiler
done
unit_is_whole
layers_point_down
processors_are_told_apart_in_two_headers
is_formatted
pages_lead_somewhere
scripts_are_clean
[ $status -eq 0 ] && echo "ok lint"
exit $status
