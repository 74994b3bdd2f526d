# launch-depth-needed.gp - draws launch-depth-needed.png and launch-depth-needed.svg from the data files beside it.
# To draw them again, in this folder: gnuplot launch-depth-needed.gp (5.2 or newer)
# Written by rift 0.1.

name = 'launch-depth-needed'
device = 'CPU device (2 workers)'
sides = 2
title1 = 'A: stream'
has1 = 1
title2 = 'A: graph'
has2 = 1
title3 = 'A: fused'
has3 = 1
title4 = 'B: stream'
has4 = 1
title5 = 'B: graph'
has5 = 1
title6 = 'B: fused'
has6 = 1
title = 'A: launch: depth for 5 % overhead at 10 µs kernels: stream 140, graph 69, fused 74'
first = 1.0
last = 50.0
deepest = 256
points = 'launch-depth-needed-points.csv'
lines = 'launch-depth-needed-fit.csv'
fitted = 482
finding = 'B: stream > 256, graph > 256, fused > 256; A: below 5.3 µs (stream) no depth is enough, by the fit'
made1 = 'A: CPU device (2 workers); kvm, docker; n = 5 processes, 2026-11-21; not GPU figures'
made2 = 'B: CPU device (2 workers); behind ''env RIFT_CPU_LAUNCH_NS=5000'' (kvm, docker); n = 5 processes, 2026-11-21; not GPU figures'
floor = 5.2730544005488706
floor_of = 'A: stream'

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

# depth_needed.gp - how deep blocks must be for an overhead of 5 %, by the length of kernels;
# harness/chart/depth_needed.c sets
#   sides, titleN, hasN    of series N = 3 * platform + mode (1 stream, 2 graph, 3 fused)
#   first, last, deepest   kernels (µs) and depth that were swept
#   floor, floor_of      kernels (µs) below which no depth is enough, by the fit; 0: none
#   title, finding, made1, made2   texts
#   points   columns series, kernel_us, depth, enough (0: even this depth is not)
#   lines    fitted: series, kernel_us, depth; fitted: how many rows
height = 550
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set tmargin at screen from_top(176)
set bmargin at screen from_top(height - 72)
set lmargin at screen 0.085
set rmargin at screen 0.965
set logscale xy
set xrange [first / 1.3 : last * 1.3]
set yrange [0.7 : deepest * 2.5]
set label 51 'depth needed for 5 % over ideal' at graph 0, 1.05 left
set label 53 'length of a kernel (µs)' at graph 0.5, screen from_top(height - 18) center
set ytics (1, 4, 16, 64, 256, '1k' 1024, '4k' 4096, '16k' 16384, '64k' 65536)
set format x '%g'
set xtics (1)
do for [i = -2:6] { set xtics add (10.0**i, 2 * 10.0**i, 5 * 10.0**i) }
of(k, x) = column(1) == k ? column(x) : NaN

# B has hollow points and thin lines. Points of equal kernels stand beside each other.
look(k) = (k - 1) % 3 + 1
shape(k) = word('7 5 9 6 4 8', k) + 0
width(k) = k > 3 ? 1.1 : 2.2
beside(k) = 1 + 0.02 * (look(k) - 2) + (k > 3 ? 0.01 : 0)

if (floor > 0) {
	set object 1 rectangle from graph 0, graph 0 to floor, graph 1 behind \
		fillstyle pattern 4 transparent noborder fillcolor rgb '#c8c8c8'
	set label 52 'no depth is enough ('.floor_of.')' at graph 0.01, graph 0.05 left font small \
		noenhanced front
}
do for [k = 1:3 * sides] {
	if (value('has'.k)) {
		x = 0.085 + 0.2 * (look(k) - 1)
		y = from_top(k > 3 ? 128 : 108)
		set arrow k from screen x, y rto screen 0.05, 0 nohead linetype look(k) \
			linewidth width(k)
		set label k value('title'.k) at screen x + 0.06, y left noenhanced
		set label 20 + k '' at screen x + 0.025, y point linetype look(k) pointtype shape(k) \
			pointsize 1.1 * point linewidth 1.4
	}
}
set label 30 'points: measured; arrows: deeper than was swept; lines: fitted' \
	at graph 1, 1.05 right font small textcolor rgb faint
paths = fitted ? lines : points # gnuplot has a word to say about a file without data
plot for [k = 1:3 * sides] paths using (fitted ? of(k, 2) : NaN):3 skip 1 \
		with lines linetype look(k) linewidth width(k), \
	for [k = 1:3 * sides] points using (column(4) > 0.5 ? beside(k) * of(k, 2) : NaN):3 skip 1 \
		with points linetype look(k) pointtype shape(k) pointsize 1.2 * point linewidth 1.4, \
	for [k = 1:3 * sides] points using (column(4) > 0.5 ? NaN : beside(k) * of(k, 2)):3:(0): \
		(column(3) * 0.7) skip 1 with vectors filled head size screen 0.01, 20 linetype look(k) \
		linewidth 1.4 dashtype solid
eval done
