#!/bin/sh
# Figures for papers: what `plot` and `replay --frames` write has the size that was asked for, fonts that are embedded,
# and no text over another, as poppler reads it; any columns are axes; colours can be told apart without colour vision.
#
#   QUICK=1   fewer plots
. "$(dirname "$0")/../scratch.sh"
checks=$root/tests/figure_checks.py

cat >names.yaml <<'END'
version: 1
experiment: names
seed: 5
model: hopper
simulation: {duration: 0.6, dt: 1.0e-3, settle: 0.1}
search:
  method: random
  trials: 40
  over: {k_fp: {range: [30, 500]}, b_fp: {range: [3, 50]}, k_att: {range: [30, 500]}, b_att: {range: [3, 50]},
    thrust: {range: [15, 80]}, z_low: {range: [0, 0.05]}, T_max_thrust: {range: [0.05, 0.3]},
    k_xdot: {range: [0, 0.15]}}
replicates: {count: 2, perturb: {phi_body: {normal: [0, 1.0e-3]}}}
END
works run names.yaml --threads 1 --progress none
works query names --columns id,k_xdot,attitude_rms,fitness,thrust --limit 0 --format csv
cp out names.csv

# ---- sizes and endings, without any other program -------------------------------------------------------------------

works plot names --kind parallel --width 85mm --font 8pt -o figure.svg
grep -q '<svg xmlns="http://www.w3.org/2000/svg" width="85.00mm"' figure.svg
check $? "an SVG of 85 mm"
# 11 units of the viewBox are the font
units=$(sed -n 's/.*viewBox="-2 -2 \([0-9.]*\) .*/\1/p' figure.svg | head -n 1)
awk -v units="$units" 'BEGIN { size = 11 * 85 / units / 25.4 * 72; exit !(size > 7.999 && size < 8.001) }'
check $? "its text is of 8 pt: $units units"
! grep -q 'prefers-color-scheme' figure.svg && ! grep -q '<text[^>]*>names: ' figure.svg &&
    grep -q '<title>names: ' figure.svg
check $? "no dark colours; the title is no text in the picture"
for length in 8.5cm 3.3464566929in 240.94488189pt 321.25984252px; do
    works plot names --kind parallel --width $length --font 8pt -o same.svg
    cmp -s figure.svg same.svg
    check $? "85mm is $length"
done
code=2
for wrong in 85 85mmm mm 0mm -85mm 1e9mm nan 85miles 'inf mm'; do
    refused plot names --width "$wrong" -o no.svg
    has "--width takes a length from 20 to 2000 mm in mm, cm, in, pt or px, e.g. 85mm, not" err
done
refused plot names -o no.eps
has "--output writes .svg, .pdf or .png, not '.eps'" err
refused plot names --x k_xdot -o no.svg
has "--x is of a plot of columns: add --kind scatter" err
refused plot names --kind scatter --log y -o no.svg
has "--log is of a plot of columns: add --x COLUMN" err
refused replay names/0 --fps 10
has "--fps and --image are of frames: add --frames FOLDER" err
code=1
refused plot names --kind pairs --width 85mm --height 20mm -o no.svg
grep -q -e '--height: the plot pairs of this width is at least [0-9]* mm high' err
check $? "it says how high the figure is at least"
refused plot names --width 20mm --font 20pt -o no.svg
grep -q -e '--width: with this font, a figure is at least [0-9]* mm wide' err
check $? "it says how wide the figure is at least"
works plot names --kind scatter --width 170mm --height 90mm -o high.svg
grep -q 'width="170.00mm" height="90.00mm"' high.svg
check $? "a figure of this height"
[ ! -e no.svg ] && [ ! -e no.eps ]
check $? "a refused figure leaves no file"

# ---- columns as axes ------------------------------------------------------------------------------------------------

works plot names --kind scatter --x k_xdot --y attitude_rms --colour failure -o columns.svg
works plot names --kind scatter --x attitude_rms --log xy -o logs.svg
works plot names --kind scatter --x k_xdot --y thrust --colour fitness -o colour.svg
if with_python "where dots stand, colours"; then
    for of in "columns k_xdot attitude_rms" "logs attitude_rms fitness"; do
        # shellcheck disable=SC2086
        set -- $of
        python3 "$checks" points "$1.svg" names.csv "$2" "$3" >out 2>err
        grep -q '^same' out
        check $? "dots of $2 and $3 stand where their trials say: $(cat out)"
    done
    "$HOPSCOTCH" plot names -o themes.svg >out 2>&1
    python3 "$checks" colours themes.svg >out 2>err && [ "$(grep -c '^good' out)" -eq 16 ]
    check $? "colours differ in grey and for each kind of colour blindness"
    grep '^wrong' out
fi
grep -q '>none</text>' columns.svg && grep -q 'attitude_rms (rad)' columns.svg
check $? "words have keys, columns their units"
refused plot names --kind scatter --x k_xdt -o no.svg
has "--x: the trials have no column 'k_xdt'; did you mean 'k_xdot'?" err
refused plot names --kind scatter --x failure -o no.svg
has "--x: the column failure holds words, which have no place on an axis: use --colour" err
refused plot names --kind scatter --x id --log x -o no.svg
has "--log x: some values of id are not above 0: leave it out, or add --where \"id > 0\"" err
refused plot names --kind scatter --x k_xdot --where 'k_xdot > 9' -o no.pdf
has "there is nothing to plot as scatter: there is no trial" err
[ ! -e no.pdf ] && [ ! -e no.svg ]
check $? "a plot of nothing leaves no file"

# ---- frames of a motion ---------------------------------------------------------------------------------------------

works replay names/0 --frames "my frames/50%/" --fps 25 --image svg
has "make a video of them by an ffmpeg with librsvg: ffmpeg -framerate 25 -i 'my frames/50%%/%05d.svg' -pix_fmt yuv420p"
seconds=$("$HOPSCOTCH" replay names/0 -o - 2>/dev/null | tail -n 1 | cut -d , -f 1)
wanted=$(awk -v s="$seconds" 'BEGIN { print int(s * 25 + 1e-6) + 1 }')
[ "$(find 'my frames/50%' -name '*.svg' | wc -l)" -eq "$wanted" ] && [ ! -e 'my frames/50%/00100.svg' ]
check $? "a frame for each 1/25 s: $wanted"
grep -q 'width="1280" height="720"' 'my frames/50%/00001.svg' && grep -q '>names/0, 0.040 s' 'my frames/50%/00001.svg'
check $? "frames have even sizes and their time"
! cmp -s 'my frames/50%/00001.svg' 'my frames/50%/00004.svg'
check $? "something moves"
refused replay names/0 --frames 'my frames/50%' --image svg
has "--frames: my frames/50% holds files already: name a new folder, or remove it first" err
printf '%s\n' 'version: 1' 'experiment: flat' 'model: bbob' \
    'search: {method: random, trials: 2, over: {x1: {range: [-5, 5]}}}' >flat.yaml
works run flat.yaml --progress none
refused replay flat/0 --frames none --image svg
[ ! -e none ]
check $? "without a drawing there is no folder"

# ---- without rsvg-convert, and with one that fails -------------------------------------------------------------------

mkdir bare broken plain
echo old >kept.pdf
said() # MESSAGE: the plot with the programs of the folder `plain` is refused, and kept.pdf stays
{
    PATH=$work/plain "$HOPSCOTCH" plot names -o kept.pdf >out 2>err
    [ $? -ne 0 ] && grep -qF "$1" err && [ "$(cat kept.pdf)" = old ]
    check $? "it says '$1', and the file stays"
}
said "PDF is written by rsvg-convert, which is not installed: install librsvg2-bin (Debian, Ubuntu), librsvg2-tools"
printf '#!/bin/sh\necho a bad picture >&2\nexit 1\n' >plain/rsvg-convert
said "rsvg-convert cannot be called"
chmod +x plain/rsvg-convert
said "rsvg-convert cannot convert the picture: a bad picture"
printf '#!/bin/sh\nexit 0\n' >plain/rsvg-convert
said "rsvg-convert cannot convert the picture: it wrote nothing"
printf '#!/bin/sh\necho piece\nkill -9 $$\n' >plain/rsvg-convert
said "rsvg-convert was ended by signal 9"
printf '#!/bin/sh\necho this is no picture, but it is long enough to be one\n' >plain/rsvg-convert
PATH=$work/plain "$HOPSCOTCH" plot names -o no.png >out 2>err
[ $? -ne 0 ] && [ ! -e no.png ] && grep -q 'what it wrote is not a PNG' err
check $? "what is no PNG is not written"
refused_files=0 few=6
while [ $few -lt 40 ]; do # files that may be open
    # shellcheck disable=SC3045
    (ulimit -n $few && PATH=$work/plain "$HOPSCOTCH" plot names -o few.pdf) >out 2>err ||
        { [ ! -e few.pdf ] && grep -q 'cannot keep the picture in memory' err && refused_files=1; }
    rm -f few.pdf
    few=$((few + 1))
done
[ $refused_files -eq 1 ]
check $? "too few files may be open: it says so, and writes nothing"

# ---- as readers of PDF and PNG see them -----------------------------------------------------------------------------

command -v rsvg-convert >/dev/null ||
    { skip "PDF and PNG" "rsvg-convert" "apt-get install librsvg2-bin"; exit $status; }
if with_python "PNG"; then
    works plot names --kind parallel --width 85mm --font 8pt -o figure.png
    python3 "$checks" png figure.png >out 2>err
    # 85 mm at 300 per inch are 1003.9 pixels
    grep -q '^1004 [0-9]* 11811 picture$' out
    check $? "a PNG of 85 mm at 300 pixels per inch says so: $(cat out)"
    works plot names --kind parallel --width 85mm --font 8pt --dpi 600 -o figure.png
    python3 "$checks" png figure.png >out 2>err
    grep -q '^200[78] [0-9]* 23622 picture$' out
    check $? "and at 600"
    works replay names/0 --frames shown --fps 5
    python3 "$checks" png shown/00000.png >out 2>err
    grep -q '^1280 720 3780 picture$' out
    check $? "a frame of 1280 by 720 pixels"
fi
if with_faults "a full disk"; then
    for fault in open:1:ENOSPC fsync:1:ENOSPC rename:1:ENOSPC; do
        HOPSCOTCH_FAULT=$fault "$HOPSCOTCH_FAULTS_PROGRAM" plot names -o kept.pdf >out 2>err
        [ $? -ne 0 ] && [ "$(cat kept.pdf)" = old ] && [ -z "$(find . -maxdepth 1 -name 'kept.pdf?*')" ]
        check $? "a full disk is an error, and the old file stays: $fault"
    done
    HOPSCOTCH_FAULT=rename:2:ENOSPC "$HOPSCOTCH_FAULTS_PROGRAM" replay names/0 --frames full --fps 5 >out 2>err
    [ $? -ne 0 ] && [ "$(ls full)" = 00000.png ]
    check $? "frames stop at the first that cannot be written"
fi
command -v pdftotext >/dev/null && command -v pdffonts >/dev/null ||
    { skip "PDF" "poppler" "apt-get install poppler-utils"; exit $status; }
with_python "texts of a PDF" || exit $status
kinds="convergence scatter pairs parallel importance failures pareto timings"
[ -z "${QUICK:-}" ] || kinds="parallel importance failures"
for kind in $kinds; do
    for size in "85mm 8pt 240.94" "170mm 9pt 481.89" "60mm 7pt 170.08"; do
        # shellcheck disable=SC2086
        set -- $size
        "$HOPSCOTCH" plot names --kind "$kind" --width "$1" --font "$2" -o figure.pdf >out 2>err
        grep -q 'nothing to plot' err && continue
        pdfinfo figure.pdf >out 2>err
        width=$(sed -n 's/^Page size: *\([0-9.]*\) x.*/\1/p' out)
        awk -v a="$width" -v b="$3" 'BEGIN { exit !(a - b < 0.1 && b - a < 0.1) }'
        check $? "$kind: the page is $1 wide: $width pt"
        pdffonts figure.pdf | awk 'NR > 2 { all++; in_it += $(NF - 4) == "yes" }
            END { exit !(all > 0 && all == in_it) }'
        check $? "$kind: its fonts are embedded"
        python3 "$checks" texts figure.pdf >out 2>err
        ! grep -q 'overlap\|leaves' out && grep -q '^[1-9][0-9]* words' out
        check $? "$kind, $1, $2: no text is over another or cut off"
    done
done
# the size of letters, by another reader of the same file
"$HOPSCOTCH" plot names --kind parallel --width 85mm --font 8pt -o figure.pdf >out 2>err
if command -v pdftohtml >/dev/null; then
    pdftohtml -xml -i -stdout -zoom 3 figure.pdf >out 2>err
    ! grep '<fontspec' out | grep -qv ' size="24"'
    check $? "letters are of 24 pt at three times the size"
    [ "$(grep '<text' out | grep -c 'thrust (N)\|k_xdot (s)\|T_max_thrust (s)')" -eq 3 ]
    check $? "no name is cut"
fi
exit $status
