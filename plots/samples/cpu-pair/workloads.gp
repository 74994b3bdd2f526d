# workloads.gp - draws workloads.png and workloads.svg from the data files beside it.
# To draw them again, in this folder: gnuplot workloads.gp (5.2 or newer)
# Written by rift 0.1.

name = 'workloads'
device = 'CPU device (2 workers)'
title = 'B takes 52 % longer in launch, stream mode (mean of 25 points)'
finding = 'least: 1.2 % less time in myocyte, stream mode; large dots: geometric means, with 95 % intervals; small: points'
made1 = 'A: CPU device (2 workers); kvm, docker; n = 5 processes, 2026-11-21; not GPU figures'
made2 = 'B: CPU device (2 workers); behind ''env RIFT_CPU_LAUNCH_NS=5000'' (kvm, docker); n = 5 processes, 2026-11-21; not GPU figures'
rows = 6
row1 = 'myocyte, stream'
native1 = 'A: 7.7 µs to 386 µs a step'
row2 = 'myocyte, graph'
native2 = 'A: 7.3 µs to 388 µs a step'
row3 = 'myocyte, fused'
native3 = 'A: 7.4 µs to 379 µs a step'
row4 = 'launch, graph'
native4 = 'A: 1.1 µs to 53 µs a step'
row5 = 'launch, fused'
native5 = 'A: 1.1 µs to 53 µs a step'
row6 = 'launch, stream'
native6 = 'A: 1.3 µs to 53 µs a step'
means = 'workloads-means.csv'
points = 'workloads-points.csv'

# style.gp - the look of every picture. A script that rift writes is: values, this, and the
# picture's own commands, which begin with
#   eval page(900, 600)     the size in pixels
# and end with
#   eval done
# It is run twice, for PNG and for SVG, and starts afresh here.
reset
set encoding utf8
set datafile separator comma

# rift lets gnuplot write NAME.png.PART, and renames what is whole. By hand nothing is appended.
if (!exists('part')) part = ''
if (!exists('format')) format = 'png'

# sans-serif is what every machine and every browser has something for. 12 points, the usual text,
# are read with ease where 900 pixels are as wide as a page. In SVG gnuplot takes a point for a
# pixel; so other sizes have names.
points(n) = sprintf(',%d', n * (format eq 'png' ? 1 : 4.0 / 3) + 0.5)
large = points(16)
headline = points(13)
medium = points(11)
small = points(10)
# Points of one size; SVG's are larger.
point = format eq 'png' ? 1.0 : 0.7
page(w, h) = sprintf("set terminal %s enhanced size %d,%d font 'sans-serif%s' " . \
	"background rgb 'white'; set output '%s.%s%s'", \
	format eq 'png' ? 'pngcairo' : 'svg dynamic', w, h, points(12), name, format, part)
# What stands above a picture that is h pixels high: title, finding, made1 and made2, as texts.
heading(h) = sprintf("set label 101 title at screen 0.014, %g left noenhanced font headline;" . \
	"set label 102 finding at screen 0.014, %g left noenhanced font medium;" . \
	"set label 103 made1 at screen 0.014, %g left noenhanced font small textcolor rgb faint;" . \
	"set label 104 made2 at screen 0.014, %g left noenhanced font small textcolor rgb faint", \
	1 - 22.0 / h, 1 - 46.0 / h, 1 - 66.0 / h, 1 - 82.0 / h)
again = "format = 'svg'; load name.'.gp'"
done = "unset output; eval format eq 'png' ? again : 'undefine format'"

# Colours that colour-blind readers tell apart (Okabe and Ito), each with a dash of its own, so
# that a grey print can be read too.
set linetype 1 linecolor rgb '#0072b2' linewidth 2.2 dashtype solid pointtype 7
set linetype 2 linecolor rgb '#d55e00' linewidth 2.2 dashtype (12, 5) pointtype 5
set linetype 3 linecolor rgb '#222222' linewidth 2.2 dashtype (3, 4) pointtype 9
set linetype 4 linecolor rgb '#009e73' linewidth 2.2 dashtype (12, 3, 2, 3) pointtype 11
set linetype 5 linecolor rgb '#cc79a7' linewidth 2.2 dashtype (6, 2) pointtype 13
set linetype 6 linecolor rgb '#e69f00' linewidth 2.2 dashtype (2, 2, 8, 2) pointtype 15

ink = '#222222'   # text and axes
faint = '#6b6b6b' # what helps to read, and small print
set border 3 linecolor rgb ink linewidth 1
set minussign
set autoscale noextend
set tics nomirror out scale 0.6 textcolor rgb ink
set grid xtics ytics linetype 1 linecolor rgb '#e0e0e0' linewidth 0.8 dashtype solid
set key noautotitle reverse Left samplen 2.6 spacing 1.25 width -1 textcolor rgb ink

# dots.gp - workloads side by side, B over A; harness/chart/dots.c sets
#   rows, rowN, nativeN    names, from below; what A takes
#   title, finding, made1, made2   texts
#   means    columns row, ratio, ratio_lo, ratio_hi
#   points   columns row, ratio
height = 204 + 48 * rows
eval page(900, height)
eval heading(height)
set tmargin at screen 1 - 112.0 / height
set bmargin at screen 72.0 / height
set lmargin at screen 0.30
set rmargin at screen 0.975
set logscale x
set border 1
set grid noytics
unset ytics
set label 1000 'time on B over time on A' at graph 0.5, screen 18.0 / height center
# A logarithmic axis of its own accord marks powers of ten only.
stats points using 2 skip 1 nooutput
least = STATS_min < 1 ? STATS_min : 1.0
most = STATS_max > 1 ? STATS_max : 1.0
if (most < 1.01 * least) { # all are 1, or nearly: some room
	least = least / 1.01
	most = most * 1.01
}
wide = most / least
set xrange [least / wide**0.03 : most * wide**0.03]
set yrange [-0.5 : rows - 0.5] # not before: stats takes what is within
set xtics (1)
if (wide < 1.06) {
	set format x '%.2f'
	do for [i = 50:200] { set xtics add (i / 100.0) }
} else { if (wide < 2.5) {
	set format x '%.1f'
	do for [i = 2:30] { set xtics add (i / 10.0) }
} else {
	set format x '%g'
	do for [i = -3:5] { set xtics add (10.0**i, 2 * 10.0**i, 5 * 10.0**i) }
} }
set arrow 1 from 1, graph 0 to 1, graph 1 nohead back linecolor rgb ink linewidth 1.4
do for [i = 1:rows] {
	set label i value('row'.i) at screen 0.285, first i - 0.85 right noenhanced font medium
	set label rows + i value('native'.i) at screen 0.285, first i - 1.19 right font small \
		textcolor rgb faint
}
bound(x) = valid(x) ? column(x) : column(2) # of an interval, where it is known
plot points using 2:1 skip 1 with points pointtype 6 pointsize 0.6 * point linewidth 1 \
		linecolor rgb '#7f7f7f', \
	means using (valid(3) ? column(2) : NaN):1:(bound(3)):(bound(4)) skip 1 with xerrorbars \
		pointtype 7 pointsize 1.5 * point linewidth 2 linetype 1 dashtype solid, \
	means using 2:1 skip 1 with points pointtype 7 pointsize 1.5 * point linetype 1
eval done
