#!/bin/sh
# Two of the scripts of tests/papers, which `make papers` runs all: published numbers beside ours.
. "$(dirname "$0")/../scratch.sh"

for paper in compass_gait hopper; do
    sh "$root/tests/papers/$paper.sh" >out 2>err
    check $? "$paper: published numbers beside ours"
done
exit "$status"
