#!/bin/sh
# Finds the compilers and libraries that Hopscotch is built with, says what it found and what to install for what it did
# not, and writes build/config.mk for the Makefile. Nothing but a POSIX shell is needed to run it.
#
#   ./configure.sh                  look, and write build/config.mk
#   ./configure.sh --install-deps   first install what the build needs (Debian, Ubuntu: apt-get, as root or by sudo)
#   ./configure.sh --install-python also what the Python package (runner/python) uses
#   ./configure.sh --install-dev    all of that, and what `make lint`, `asan`, `fuzz` and the optional tests use
#
# Environment: CC=clang picks the compiler; CUDA=no builds for the CPU only; CUDA_HOME is where the CUDA toolkit stands;
# ARCH picks the GPUs to build for: native (the GPUs of this machine), all, numbers such as "80 90", or usual: those of
# data centres, and PTX, which the driver of any other compiles when the program starts (half a minute). Without ARCH
# it is native, or usual where there is no GPU.

# Lists of flags and packages are split into words on purpose:
# shellcheck disable=SC1007,SC2015,SC2086
set -u
cd "$(dirname "$0")" || exit 3

all_architectures="75 80 86 89 90 100 120" usual_architectures="80 90" least_architecture=75
probe=build/probe
# so that the program links without the C++ runtime
cuda_without_cxx="-Xcompiler -fno-exceptions,-fno-threadsafe-statics"

# What may be missing: name | needed for | Debian and Ubuntu packages | Fedora packages
packages='
compiler|build|gcc libc6-dev|gcc glibc-devel
libyaml|build|libyaml-dev|libyaml-devel
libexpat|build|libexpat1-dev|expat-devel
zlib|build|zlib1g-dev|zlib-devel
hdf5|build|libhdf5-dev|hdf5-devel
sqlite|build|libsqlite3-dev|sqlite-devel
g++|build|g++|gcc-c++
clang|dev|clang libclang-rt-dev|clang compiler-rt
clang-format|dev|clang-format|clang-tools-extra
valgrind|dev|valgrind|valgrind
h5dump|dev|hdf5-tools|hdf5
rsvg-convert|dev|librsvg2-bin|librsvg2-tools
pdftotext|dev|poppler-utils|poppler-utils
python|dev|python3-h5py python3-jsonschema python3-yaml|python3-h5py python3-jsonschema python3-pyyaml
pandas|dev|python3-pandas|python3-pandas
numpy|python|python3-numpy|python3-numpy
venv|python|python3-venv|python3
pip|python|python3-pip python3-setuptools python3-wheel|python3-pip python3-setuptools python3-wheel
zsh|dev|zsh|zsh
debootstrap|dev|debootstrap|debootstrap
'

main()
{
    install=
    [ "${CI:-}" = true ] && [ "$(id -u)" = 0 ] && install="build python dev"
    for option in "$@"; do
        case $option in
        --install-deps) install="build" ;;
        --install-python) install="build python" ;;
        --install-dev) install="build python dev" ;;
        -h | --help) sed -n '/^#   /,/^$/s/^# \{0,1\}//p' "$0" && exit 0 ;;
        *) echo "configure.sh: unknown option '$option' (see ./configure.sh --help)" >&2 && exit 2 ;;
        esac
    done
    trap 'rm -rf $probe' EXIT
    look
    wanted=$(missing_packages 3 $install)
    if [ -n "$install" ] && [ -n "$wanted" ]; then
        install_packages $wanted
        look
    fi
    print_table
    if [ -n "$(missing_for build)" ]; then
        print_advice build
        exit 3
    fi
    write_config
}

# ---- looking --------------------------------------------------------------------------------------------------------

# Sets found_*, missing (names of the table above) and the flags that go to the Makefile.
look()
{
    missing=
    rm -rf $probe && mkdir -p $probe
    find_compiler
    find_isa
    find_library libyaml yaml-0.1 "-lyaml" '#include <yaml.h>' 'puts(yaml_get_version_string());'
    yaml_flags=$library_flags yaml_libs=$library_libs found_libyaml=$library_version
    find_library libexpat expat "-lexpat" '#include <expat.h>' \
        'XML_Expat_Version v = XML_ExpatVersionInfo(); printf("%d.%d.%d\n", v.major, v.minor, v.micro);'
    expat_flags=$library_flags expat_libs=$library_libs found_libexpat=$library_version
    find_library zlib zlib "-lz" '#include <zlib.h>' 'puts(zlibVersion());'
    zlib_flags=$library_flags zlib_libs=$library_libs found_zlib=$library_version
    find_library sqlite sqlite3 "-lsqlite3" '#include <sqlite3.h>' \
        'if (SQLITE_VERSION_NUMBER >= 3037000) puts(sqlite3_libversion());'
    sqlite_flags=$library_flags sqlite_libs=$library_libs found_sqlite=$library_version
    multiarch=$($compiler -print-multiarch 2>/dev/null)
    serial="-L/usr/lib/${multiarch:-x86_64-linux-gnu}/hdf5/serial -lhdf5"
    find_library hdf5 hdf5 "-lhdf5|-I/usr/include/hdf5/serial $serial" '#include <hdf5.h>' \
        'unsigned a, b, c; H5get_libversion(&a, &b, &c); printf("%u.%u.%u\n", a, b, c);'
    hdf5_flags=$library_flags hdf5_libs=$library_libs found_hdf5=$library_version
    find_static
    find_cuda
    for tool in clang clang-format valgrind h5dump rsvg-convert pdftotext zsh debootstrap; do
        has $tool || missing="$missing $tool"
    done
    python3 -c 'import h5py, jsonschema, yaml' 2>/dev/null || missing="$missing python"
    python3 -c 'import pandas' 2>/dev/null || missing="$missing pandas"
    python3 -c 'import numpy' 2>/dev/null || missing="$missing numpy"
    python3 -c 'import ensurepip' 2>/dev/null || missing="$missing venv"
    python3 -c 'import setuptools, pip, wheel' 2>/dev/null || missing="$missing pip"
}

has()
{
    command -v "$1" >/dev/null 2>&1
}

# The first of $CC, gcc, clang and cc that turns a C17 program into one that runs. It compiles C++ too (sim/dual.h).
find_compiler()
{
    printf '#include <stdio.h>\n#include <math.h>\nint main(void) { return puts("works") < 0; }\n' >$probe/c.c
    for compiler in ${CC:-gcc clang cc}; do
        $compiler -std=c17 $probe/c.c -lm -o $probe/c 2>/dev/null && [ "$($probe/c)" = works ] || continue
        found_compiler="$compiler $($compiler -dumpfullversion 2>/dev/null || $compiler -dumpversion)"
        printf '#include <math.h>\n#include <string.h>\n' >$probe/c.cpp
        $compiler -std=c++17 -fsyntax-only $probe/c.cpp 2>/dev/null || missing="$missing g++"
        return
    done
    compiler= found_compiler= missing="$missing compiler g++"
}

# processor: x86_64 or aarch64, which the compiler compiles for. best_isa: the instruction set that the program will
# choose here (sim/backend_cpu.c), for `make demo`
find_isa()
{
    processor=$($compiler -dumpmachine 2>/dev/null | cut -d- -f1)
    case $processor in
    aarch64) best_isa=neon && return ;;
    x86_64 | "") processor=x86_64 ;;
    *) echo "configure.sh: the processor is '$processor'; Hopscotch runs on x86_64 and aarch64" >&2 && exit 3 ;;
    esac
    best_isa=v2
    flags=" $(sed -n 's/^flags[^:]*://p' /proc/cpuinfo 2>/dev/null | head -n 1) "
    has_flags avx2 fma bmi2 && best_isa=v3
    has_flags avx512f avx512dq avx512vl avx512bw avx512cd && best_isa=v4
}

has_flags()
{
    for flag in "$@"; do
        case $flags in *" $flag "*) ;; *) return 1 ;; esac
    done
}

# find_library NAME PKG-CONFIG-NAME 'FLAGS|OTHER FLAGS' INCLUDE STATEMENTS
# Tries pkg-config's flags, then each of the others, with a program that prints the library's version.
find_library()
{
    library_version= library_flags= library_libs=
    printf '#include <stdio.h>\n%s\nint main(void) { %s return 0; }\n' "$4" "$5" >$probe/library.c
    known=
    has pkg-config && known=$(pkg-config --cflags --libs "$2" 2>/dev/null)
    old_ifs=$IFS
    IFS='|'
    for flags in $known $3; do
        IFS=$old_ifs
        [ -n "$compiler" ] && $compiler $probe/library.c $flags -o $probe/library 2>/dev/null || continue
        library_version=$($probe/library)
        [ -n "$library_version" ] || continue
        for flag in $flags; do
            case $flag in
            -I* | -D*) library_flags="$library_flags $flag" ;;
            *) library_libs="$library_libs $flag" ;;
            esac
        done
        return
    done
    IFS=$old_ifs
    missing="$missing $1"
}

# Libraries for `make portable`: all static but libc and libm.
find_static()
{
    static_libs="-Wl,-Bstatic$hdf5_libs$sqlite_libs$yaml_libs$expat_libs -lsz -laec$zlib_libs -Wl,-Bdynamic"
    printf '%s\n' '#include <hdf5.h>' '#include <sqlite3.h>' '#include <yaml.h>' '#include <expat.h>' 'int main(void)' \
        '{ return H5open() + !sqlite3_libversion() + !yaml_get_version_string() + !XML_ExpatVersion(); }' \
        >$probe/static.c
    if [ -n "$compiler" ] && $compiler $hdf5_flags $sqlite_flags $yaml_flags $expat_flags $probe/static.c \
        -static-libgcc $static_libs -lm -o $probe/static 2>/dev/null; then
        found_static=yes
    else
        found_static= static_libs=
    fi
}

# ---- CUDA -----------------------------------------------------------------------------------------------------------

# Sets nvcc, cuda_flags (what to build for) and cuda_libs if a kernel can be compiled and linked; else says why not.
find_cuda()
{
    nvcc= cuda_flags= cuda_libs= architectures=
    found_gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)
    case ${CUDA:-} in
    no | none | 0) why_no_cuda="switched off by CUDA=$CUDA" && return ;;
    esac
    for candidate in "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" nvcc /usr/local/cuda/bin/nvcc; do
        [ -n "$candidate" ] && has "$candidate" && nvcc=$(command -v "$candidate") && break
    done
    if [ -z "$nvcc" ]; then
        why_no_cuda="no nvcc"
        return
    fi
    if [ -z "$compiler" ]; then
        why_no_cuda="no C compiler yet" nvcc=
        return
    fi
    if ! has g++; then
        why_no_cuda="nvcc needs g++" nvcc=
        case " $missing " in *" g++ "*) ;; *) missing="$missing g++" ;; esac
        return
    fi
    choose_architectures && link_cuda || nvcc=
}

# ARCH → architectures (those that this nvcc knows) and cuda_flags, with PTX for GPUs that are not among them: later
# ones, or with the usual ones all.
choose_architectures()
{
    gpus=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d . | grep -x '[0-9]*' | sort -nu)
    chosen=${ARCH:-}
    [ -n "$chosen" ] || { [ -n "$gpus" ] && chosen=native || chosen=usual; }
    case $chosen in
    native) list=$gpus ;;
    all) list=$all_architectures ;;
    usual) list=$usual_architectures ;;
    *[!0-9\ ]*)
        echo "configure.sh: ARCH=$chosen: must be native, all, usual, or numbers such as \"80 90\"" >&2
        exit 2
        ;;
    *) list=$chosen ;;
    esac
    known=$("$nvcc" --list-gpu-arch 2>/dev/null | tr -dc '0-9\n' | tr '\n' ' ')
    for number in $list; do
        case " $known " in
        *" $number "*) architectures="$architectures $number" last=$number ;;
        esac
    done
    if [ -z "$architectures" ]; then
        why_no_cuda="nvcc knows none of: ${list:-native, but no GPU was found}"
        return 1
    fi
    for number in $architectures; do cuda_flags="$cuda_flags -gencode arch=compute_$number,code=sm_$number"; done
    portable=$last
    case "$chosen $known " in usual*" $least_architecture "*) portable=$least_architecture ;; esac
    cuda_flags="$cuda_flags -gencode arch=compute_$portable,code=compute_$portable"
}

link_cuda()
{
    printf '%s\n' '__global__ void kernel() {}' 'extern "C" int launch(void) { kernel<<<1, 1>>>(); return 0; }' \
        >$probe/cuda.cu
    printf 'int launch(void);\nint main(void) { return launch(); }\n' >$probe/link.c
    root=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
    if ! "$nvcc" -arch="sm_$last" $cuda_without_cxx -c $probe/cuda.cu -o $probe/cuda.o 2>$probe/log; then
        why_no_cuda="nvcc fails: $(grep -m 1 error $probe/log | cut -c1-100)"
        return 1
    fi
    for folder in "-L$root/lib64" "-L$root/targets/x86_64-linux/lib" \
        "-L$root/targets/sbsa-linux/lib" ""; do
        cuda_libs="$folder -lcudart_static -ldl -lrt -lpthread"
        nvrtc_folder=${folder#-L}
        $compiler $probe/link.c $probe/cuda.o $cuda_libs -o $probe/link 2>/dev/null && return 0
    done
    why_no_cuda="libcudart_static.a was not found"
    return 1
}

# ---- what is missing ------------------------------------------------------------------------------------------------

# missing_packages FIELD USE...: packages (field 3: Debian, 4: Fedora) of what is missing for these uses.
missing_packages()
{
    field=$1
    shift
    for name in $missing; do
        for use in "$@"; do echo "$packages" | grep -F "$name|$use|" | grep "^$name|" | cut -d'|' -f"$field"; done
    done | tr '\n' ' '
}

missing_for()
{
    missing_packages 1 "$1"
}

install_packages()
{
    if ! has apt-get; then
        echo "configure.sh: no apt-get here; please install what the table below names" >&2
        return
    fi
    sudo=
    if [ "$(id -u)" != 0 ]; then
        has sudo || { echo "configure.sh: run as root, or install sudo, to install: $*" >&2 && return; }
        sudo="sudo "
    fi
    for command in "apt-get update -q" "apt-get install -q -y --no-install-recommends $*"; do
        echo "+ $sudo$command"
        ${sudo}env DEBIAN_FRONTEND=noninteractive $command || echo "configure.sh: '$sudo$command' failed" >&2
    done
}

# ---- telling --------------------------------------------------------------------------------------------------------

row()
{
    printf '  %-14s %-24s %s\n' "$1" "${2:-missing}" "${3:-}" | sed 's/ *$//'
}

print_table()
{
    echo "Hopscotch is built with:"
    row "C compiler" "$found_compiler"
    row libyaml "$found_libyaml"
    row libexpat "$found_libexpat"
    row zlib "$found_zlib"
    row HDF5 "$found_hdf5"
    row SQLite "$found_sqlite" "3.37 or later"
    if [ -n "$nvcc" ]; then
        row CUDA "$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/nvcc \1/p')" \
            "for sm$(echo "$architectures" | sed 's/ /_/; s/ /, sm_/g'); PTX compute_$portable"
    else
        row CUDA "none: CPU only" "$why_no_cuda"
    fi
    row GPU "${found_gpu:-none}"
    echo "Only for figures (plot -o FILE.pdf or .png):"
    row rsvg-convert "$(version_of rsvg-convert)" \
        "$(has rsvg-convert || echo "librsvg2-bin of Debian and Ubuntu, librsvg2-tools of Fedora")"
    echo "Only for the Python package (runner/python):"
    row "Python, numpy" "$(python3 -c 'import numpy; print(numpy.__version__)' 2>/dev/null)"
    row "Python, venv" "$(python3 -c 'import ensurepip; print(ensurepip.version())' 2>/dev/null)" \
        "pip install ./runner/python"
    row "Python, pip" "$(python3 -c 'import setuptools, wheel, pip; print(pip.__version__)' 2>/dev/null)" "make python"
    if [ -n "$(missing_for python)" ]; then
        echo "  Debian, Ubuntu:  apt-get install $(missing_packages 3 python)  (or: ./configure.sh --install-python)"
    fi
    echo "Only for development:"
    row clang "$(version_of clang)" "lint, fuzz"
    row clang-format "$(version_of clang-format)" "lint, format"
    row valgrind "$(version_of valgrind)"
    row "Python, h5py" "$(python3 -c 'import h5py, jsonschema, yaml; print(h5py.__version__)' 2>/dev/null)" "some tests"
    row "Python, pandas" "$(python3 -c 'import pandas; print(pandas.__version__)' 2>/dev/null)" "a test"
    row pdftotext "$(pdftotext -v 2>&1 | sed -n 's/.*version //p')" "a test"
    row zsh "$(version_of zsh)" "a test"
    row debootstrap "$(version_of debootstrap)" "cleanroom"
    row "static HDF5" "${found_static:-missing}" "portable"
    if [ -n "$found_gpu" ] && [ -z "$nvcc" ] && [ "$why_no_cuda" = "no nvcc" ]; then
        echo "There is a GPU but no CUDA toolkit (developer.nvidia.com/cuda-downloads); with it, configure again."
    fi
}

version_of()
{
    has "$1" && "$1" --version | grep -o -m 1 '[0-9][0-9.]*' | head -n 1
}

print_advice()
{
    echo
    echo "Missing: $(missing_for "$1")"
    echo "  Debian, Ubuntu:  apt-get install $(missing_packages 3 "$1")   (or: ./configure.sh --install-deps)"
    echo "  Fedora:          dnf install $(missing_packages 4 "$1")"
}

write_config()
{
    cat >build/config.mk.new <<END
# Written by configure.sh; run it again to search again.
CC := $compiler
DEPENDENCY_FLAGS := $hdf5_flags$sqlite_flags$yaml_flags$expat_flags$zlib_flags
DEPENDENCY_LIBS := $hdf5_libs$sqlite_libs$yaml_libs$expat_libs$zlib_libs
STATIC_LIBS := $static_libs
NVCC := $nvcc
CUDA := $([ -n "$nvcc" ] && echo yes || echo no)
NVCC_FLAGS := $cuda_without_cxx$cuda_flags
CUDA_LIBS := $cuda_libs
NVRTC_FOLDER := ${nvrtc_folder:-}
NVCC_SMALL := $([ -z "$nvcc" ] || "$nvcc" --help | grep -o -m 1 -e '--compress-mode' | sed 's/$/=size/')
CONFIGURED_ARCH := ${ARCH:-}
JOBS := $(nproc 2>/dev/null || echo 2)
PROCESSOR := $processor
ISA := $best_isa
GPU := ${found_gpu:+yes}
END
    # untouched where nothing changed, so that nothing is compiled again
    if cmp -s build/config.mk.new build/config.mk; then
        rm build/config.mk.new
    else
        mv build/config.mk.new build/config.mk
    fi
    : >build/configured
}

main "$@"
