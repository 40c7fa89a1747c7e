#!/bin/sh
# Goswami, Thuilot & Espiau 1996: the compass gait's limit cycle on a slope of 3 degrees. README.md says more.
. "$(dirname "$0")/../paper.sh"

campaign "$root/experiments/compass_gait.yaml"
length='2*sin(apart*atan2(0, -1)/360)'
against 'period of a step at 3 degrees, s' 0.734 "$(value period 'slope == 3')" 0.0005
against 'length of a step at 3 degrees, m' 0.535 "$(value "$length" 'slope == 3')" 0.0005
against 'speed at 3 degrees, m/s' 0.73 "$(value "$length/period" 'slope == 3')" 0.005
paper_ends
