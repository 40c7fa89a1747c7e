#!/bin/sh
# tests/portable.sh PROGRAM: at run time it needs only libc and libm, of glibc 2.36 or earlier, and it works.
set -u
program=$1
of_glibc='^(linux-vdso|libm|libc|libpthread|libdl|librt|.*/ld-linux-x86-64)\.so'
needed=$(ldd "$program" | awk '{print $1}' | grep -v -E "$of_glibc")
[ -z "$needed" ] || { echo "FAIL $program also needs: $needed" && exit 1; }
newest=$(grep -a -o 'GLIBC_2\.[0-9]*' "$program" | sort -u -t. -k2n | tail -n 1)
"$program" version || exit 1
echo "ok $program: $(du -h "$program" | cut -f1), libc and libm only, $newest or later"
