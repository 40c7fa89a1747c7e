#!/bin/sh
# What scripts of tests/cli about control laws begin with, in place of scratch.sh: . "$(dirname "$0")/../law.sh"
# It copies two robots: arm.xml, two links below a cart on a rail, and leg.xml, a trunk on a leg that touches a plane.
#
# shellcheck disable=SC2154
. "$(dirname "$0")/../scratch.sh"
cp "$root/tests/law/arm.xml" "$root/tests/law/leg.xml" .
