# myocyte-overhead.gp - draws myocyte-overhead.png and myocyte-overhead.svg from the data files beside it.
# To draw them again, in this folder: gnuplot myocyte-overhead.gp (5.2 or newer)
# Written by rift 0.1.

name = 'myocyte-overhead'
device = 'NVIDIA H200'
panels = 3
columns = 5
rows = 6
mode1 = 'stream'
mode2 = 'graph'
mode3 = 'fused'
depth1 = '1'
depth2 = '4'
depth3 = '16'
depth4 = '64'
depth5 = '256'
size1 = '1: 377 µs'
size2 = '32: 424 µs'
size3 = '256: 442 µs'
size4 = '4k: 471 µs'
size5 = '16k: 1.1 ms'
size6 = '64k: 2.9 ms'
size = 'cells: kernels of a step'
nominal = 0
made1 = 'NVIDIA H200, driver 580.159.04; kvm, docker, passthrough; n = 5 processes, 2026-11-21'
made2 = 'ideal: the kernels of a step as the deepest blocks have them'
made3 = 'under 1 % at depth 1: stream from 1.8 ms (cells=33200), graph from 1.9 ms (cells=37200), fused from 2.0 ms (cells=37700)'
margin = 2
what = 'overhead over ideal (%)'
title = 'myocyte: under 5 % overhead, stream: from 482 µs at depth 1, every size at depth 4'
finding = 'graph: from 476 µs at depth 1, every size at depth 4; fused: from 484 µs at depth 1, every size at depth 4'
cells = 'myocyte-overhead-cells.csv'
lines = 'myocyte-overhead-lines.csv'
crossed = 4

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

# heat.gp - kernel size x depth, a panel a mode; harness/chart/heat.c sets
#   panels, modeN          what the panels are of, from the top
#   columns, depthN        what stands below a column
#   rows, sizeN, size      what stands left of a row; what sizes are
#   nominal                1: sizes are durations
#   what                   what the numbers are
#   margin                 (%) a dot says that a cell is not shown to differ by more
#   title, finding, made1, made2, made3   texts
#   cells   columns panel, column, row, percent, percent_lo, percent_hi, even, label
#   lines   columns panel, level_percent, column, row; crossed: how many there are
# of a row; few are taller, or the name of their axis runs into the title
tall = panels * rows < 4 ? 120 / (panels * rows) : rows < 6 ? 30 : 24
top = made3 eq '' ? 118 : 134
bottom = 104
between = 34
left = nominal ? 0.105 : 0.15
height = top + bottom + panels * rows * tall + (panels - 1) * between
from_top(pixels) = 1 - pixels / (1.0 * height)
from_foot(pixels) = pixels / (1.0 * height)

eval page(900, height)
eval heading(height)
set label 105 made3 at screen 0.014, from_top(98) left noenhanced font small
set multiplot
set lmargin at screen left
set rmargin at screen 0.985
unset grid
set border 0
set xrange [-0.5 : columns - 0.5]
set yrange [-0.5 : rows - 0.5]
set tics scale 0
set xtics ('' 0)
set ytics (size1 0)
do for [i = 2:rows] { set ytics add (value('size'.i) i - 1) }

# One hue, light where little is lost: what is dark in colour is dark in grey.
set logscale cb
set cbrange [1 : 1000]
unset colorbox
unset key
set palette defined (0 '#f7fbff', 1 '#deebf7', 2 '#c6dbef', 3 '#9ecae1', 4 '#6baed6', \
	5 '#4292c6', 6 '#2171b5', 7 '#08519c', 8 '#08306b')
shade(percent) = percent < 1 ? 1 : percent > 1000 ? 1000 : percent
# Numbers are black, and white where it is dark. All in one go: labels of which not one is drawn
# end gnuplot 5.4 by a signal, if they are of a file of one line.
ink_on(percent) = percent < 120 ? 0x000000 : 0xffffff
set style fill solid 1 noborder
in(p, x) = column(1) == p ? column(x) : NaN
line(p) = crossed ? in(p, 3) : NaN
at_level(p, level) = column(2) == level ? line(p) : NaN
paths = crossed ? lines : cells # gnuplot has a word to say about a file without data
# as wide as the number: the lines make room for it
room = 0.012 * columns

set label 4 size at screen 0.018, 0.5 * (from_top(top) + from_foot(bottom)) center rotate
# The key, in a line at the foot.
foot = from_foot(26)
set label 11 what at screen 0.262, foot right font small
set label 12 '5 %' at screen 0.545, foot left font small
set label 13 '25 %' at screen 0.62, foot left font small
set label 14 '100 %' at screen 0.71, foot left font small
set arrow 1 from screen 0.505, foot rto screen 0.035, 0 nohead linetype 2 dashtype solid
set arrow 2 from screen 0.58, foot rto screen 0.035, 0 nohead linetype 2 dashtype (9, 4)
set arrow 3 from screen 0.67, foot rto screen 0.035, 0 nohead linetype 2 dashtype (2, 3)
set label 15 sprintf('not shown to exceed %d %%', margin) at screen 0.805, foot left font small
set label 16 '' at screen 0.795, foot point pointtype 7 pointsize 0.45 * point linecolor rgb ink

do for [p = 0:panels - 1] {
	set tmargin at screen from_top(top + p * (rows * tall + between))
	set bmargin at screen from_top(top + p * (rows * tall + between) + rows * tall)
	set label 5 value('mode'.(p + 1)) at graph 0, graph 1 offset 0, 0.6 left
	if (p == panels - 1) {
		set xtics (depth1 0)
		do for [i = 2:columns] { set xtics add (value('depth'.i) i - 1) }
		set label 6 'depth: steps before a synchronize' at graph 0.5, screen from_foot(56) center
		set colorbox horizontal user origin screen 0.275, screen from_foot(22) \
			size screen 0.2, screen 10.0 / height
		set cbtics (1, 10, 100, 1000) font small offset 0, 0.5
	}
	plot cells using (in(p, 2)):3:(0.485):(0.47):(shade(column(4))) skip 1 \
			with boxxyerror linecolor palette, \
		paths using (line(p)):4 skip 1 with lines linecolor rgb 'white' linewidth 5 \
			dashtype solid, \
		paths using (at_level(p, 5)):4 skip 1 with lines linetype 2 dashtype solid, \
		paths using (at_level(p, 25)):4 skip 1 with lines linetype 2 dashtype (9, 4), \
		paths using (at_level(p, 100)):4 skip 1 with lines linetype 2 dashtype (2, 3), \
		cells using (in(p, 2)):3:(room * strlen(strcol(8))):(0.3):(shade(column(4))) skip 1 \
			with boxxyerror linecolor palette, \
		cells using (in(p, 2)):3:8:(ink_on(column(4))) skip 1 \
			with labels font medium textcolor rgb variable, \
		cells using (column(7) > 0.5 ? in(p, 2) + 0.5 - 0.012 * columns : NaN):(column(3) + 0.3) \
			skip 1 with points pointtype 7 pointsize 0.45 * point linecolor rgb ink
	unset label # once is enough
	unset arrow
}
unset multiplot
eval done
