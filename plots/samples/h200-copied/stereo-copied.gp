# stereo-copied.gp - draws stereo-copied.png and stereo-copied.svg from the data files beside it.
# To draw them again, in this folder: gnuplot stereo-copied.gp (5.2 or newer)
# Written by rift 0.1.

name = 'stereo-copied'
device = 'NVIDIA H200'
lines = 2
name1 = 'pinned'
fixed1 = 51.208829385161486
slope1 = 2.0054041324604716e-05
name2 = 'pageable'
fixed2 = -8.1306479632775908
slope2 = 0.00015356753444824972
title = 'stereo, pinned: 49.9 GB/s and 13 µs a copy, on a line within 8.7 %'
finding = 'pageable: 6.51 GB/s and nothing beside, on a line within 8.8 %'
made1 = 'NVIDIA H200, driver 580.159.04; kvm, docker, passthrough; n = 5 processes, 2026-11-22'
made2 = 'upload_output=1 slots=1 data=streamed block=0; stream mode, depth 1; width=280 to 8800'
points = 'stereo-copied-points.csv'

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

# copied.gp - left: time of a step over the bytes it copies, linear; right: how far off the line;
# harness/chart/copied.c sets
#   lines, nameN           how many; of line N: its name
#   fixedN, slopeN         us, and us for a byte
#   title, finding, made1, made2   texts
#   points   columns line, bytes, step_us, step_us_lo, step_us_hi, line_us, off_percent
height = 500
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set multiplot
set tmargin at screen from_top(160)
set bmargin at screen from_top(height - 66)
of(k, x) = column(1) == k ? column(x) : NaN
bound(x) = valid(x) ? column(x) : column(3) # of an interval, where it is known
shape(k) = word('7 5 9 11', k) + 0
do for [k = 1:lines] {
	x = 0.085 + 0.22 * (k - 1)
	set arrow k from screen x, from_top(112) rto screen 0.05, 0 nohead linetype k linewidth 1.6
	set label k value('name'.k) at screen x + 0.06, from_top(112) left noenhanced
	set label 20 + k '' at screen x + 0.025, from_top(112) point linetype k pointtype shape(k) \
		pointsize 1.1 * point linewidth 1.4
}
stats points using 2 skip 1 name 'B' nooutput
stats points using 3 skip 1 name 'T' nooutput

# Units in which the largest number has two digits or more before the point.
large_bytes = B_max >= 1e9 ? 1e9 : B_max >= 1e6 ? 1e6 : 1e3
large_time = T_max >= 1e6 ? 1e6 : T_max >= 2e3 ? 1e3 : 1
set lmargin at screen 0.085
set rmargin at screen 0.475
set xrange [0 : B_max / large_bytes * 1.05]
set yrange [0 : T_max / large_time * 1.08]
set format '%h'
set label 51 sprintf('a step: time (%s)', \
	large_time == 1 ? 'µs' : large_time == 1e3 ? 'ms' : 's') at graph 0, 1.05 left
set label 53 sprintf('copied a step (%s)', \
	large_bytes == 1e9 ? 'GB' : large_bytes == 1e6 ? 'MB' : 'kB') at graph 0.5, \
	screen from_top(height - 18) center
line(k, x) = (value('fixed'.k) + value('slope'.k) * x * large_bytes) / large_time
plot for [k = 1:lines] line(k, x) with lines linetype k linewidth 1.6, \
	for [k = 1:lines] points using (valid(4) ? of(k, 2) / large_bytes : NaN): \
		(column(3) / large_time):(bound(4) / large_time):(bound(5) / large_time) skip 1 \
		with yerrorbars linetype k pointtype shape(k) pointsize 1.1 * point linewidth 1.2 \
		dashtype solid, \
	for [k = 1:lines] points using (of(k, 2) / large_bytes):(column(3) / large_time) skip 1 \
		with points linetype k pointtype shape(k) pointsize 1.1 * point linewidth 1.4
unset label
unset arrow

set lmargin at screen 0.575
set rmargin at screen 0.965
set logscale x
set xrange [*:*] # stats takes what is within
set yrange [*:*]
off(x) = valid(x) ? 100 * (column(x) / column(6) - 1) : column(7)
stats points using (off(4)):(off(5)) skip 1 name 'O' nooutput
most = abs(O_max_y) > abs(O_min_x) ? abs(O_max_y) : abs(O_min_x)
most = most > 1 ? 1.1 * most : 1.1
set xrange [B_min / 1e6 / 1.3 : B_max / 1e6 * 1.3]
set yrange [-most : most]
set label 51 'measured beside the line (%)' at graph 0, 1.05 left
set label 53 'copied a step (MB)' at graph 0.5, screen from_top(height - 18) center
set arrow 1 from graph 0, first 0 to graph 1, first 0 nohead back linecolor rgb ink linewidth 1.4
plot for [k = 1:lines] points using (valid(4) ? of(k, 2) / 1e6 : NaN):7:(off(4)):(off(5)) skip 1 \
		with yerrorbars linetype k pointtype shape(k) pointsize 1.1 * point linewidth 1.2 \
		dashtype solid, \
	for [k = 1:lines] points using (of(k, 2) / 1e6):7 skip 1 with points linetype k \
		pointtype shape(k) pointsize 1.1 * point linewidth 1.4
unset multiplot
eval done
