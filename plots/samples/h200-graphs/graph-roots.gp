# graph-roots.gp - draws graph-roots.png and graph-roots.svg from the data files beside it.
# To draw them again, in this folder: gnuplot graph-roots.gp (5.2 or newer)
# Written by rift 0.1.

name = 'graph-roots'
device = 'NVIDIA H200'
made1 = 'graph topology=chains'
made2 = 'Medians of 5 processes with 95 % intervals, 2026-11-26; computed on: NVIDIA H200'
panels = 4
groups = 5
panel1 = 'launch call, idle'
fit1_1 = '1.76 µs + 1.96 ns'
fit1_2 = '2.23 µs + 0.39 ns'
fit1_3 = '3.44 µs + 0.67 ns'
fit1_4 = '6.11 µs + 0.67 ns'
fit1_5 = '14.1 µs + 0.74 ns'
panel2 = 'first launch call, idle'
fit2_1 = '11.4 µs + 962 ns'
fit2_2 = '17.5 µs + 869 ns'
fit2_3 = '32.5 µs + 823 ns'
fit2_4 = '36.6 µs + 853 ns'
fit2_5 = '58.4 µs + 827 ns'
panel3 = 'instantiate'
fit3_1 = '2.90 µs + 1415 ns'
fit3_2 = '-1.92 µs + 1332 ns'
fit3_3 = '-0.32 µs + 1241 ns'
fit3_4 = '-29.2 µs + 1337 ns'
fit3_5 = '-56.5 µs + 1521 ns'
panel4 = 'launch end to end'
fit4_1 = '6.77 µs + 748 ns'
fit4_2 = '6.58 µs + 405 ns'
fit4_3 = '7.22 µs + 248 ns'
fit4_4 = '8.45 µs + 172 ns'
fit4_5 = '8.00 µs + 171 ns'
group1 = 'width=1'
group2 = 'width=2'
group3 = 'width=4'
group4 = 'width=8'
group5 = 'width=16'
axis = 'nodes'
title = 'graph: launch call, idle takes 1.76 µs + 1.96 ns for each node more'
finding = 'Lines are fitted in each process, by relative residuals; the title is of width=1'
points = 'graph-roots-points.csv'

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
# A key of n series above a picture, six a row: how many rows, and where in them number k stands.
key_rows(n) = (n + 5) / 6
key_x(k) = 0.02 + 0.16 * ((k - 1) % 6)
key_pixels(k) = 112 + 18 * ((k - 1) / 6)
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

# graph-roots.gp - a grid of probes over the size axis; harness/chart/grid_chart.c sets
#   panels, panelN   how many quantities, at most 4, and their names
#   groups, groupN, fitN_K   lines: their names, and of panel N and group K the line in words
#   axis   what the x axis is
#   title, finding, made1, made2   texts
#   points   columns panel, group, size, us, lo_us, hi_us, fitted_us
rows = (panels + 1) / 2
key = 20 * (groups < 6 ? groups : 6) + 26
panel_height = 250
height = 110 + rows * (panel_height + key + 40)
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set multiplot
set logscale xy
set format x '%g'
set format y '%g'
unset key
of(p, g, x) = column(1) == p && column(2) == g ? column(x) : NaN
look(g) = (g - 1) % 6 + 1
stats points using 3 skip 1 nooutput
fewest = STATS_min
most = STATS_max
do for [p = 1:panels] {
	left = p % 2 ? 0.075 : 0.575
	top = 140 + ((p - 1) / 2) * (panel_height + key + 40)
	set lmargin at screen left
	set rmargin at screen left + 0.4
	set tmargin at screen from_top(top)
	set bmargin at screen from_top(top + panel_height - 48)
	set label 30 value('panel'.p).' (µs)' at graph 0, 1.05 left noenhanced
	set label 31 axis at graph 0.5, screen from_top(top + panel_height - 8) center noenhanced
	do for [g = 1:(groups < 6 ? groups : 6)] {
		y = from_top(top + panel_height - 4 + 20 * g)
		set arrow g from screen left, y rto screen 0.03, 0 nohead linetype look(g)
		set label 40 + g value('group'.g) at screen left + 0.04, y left noenhanced font small
		set label 60 + g value(sprintf('fit%d_%d', p, g)) at screen left + 0.4, y right \
			noenhanced font small
	}
	within(x) = column(1) == p ? column(x) : NaN
	set xrange [*:*]
	set yrange [*:*]
	stats points using (within(5)) skip 1 nooutput
	least = STATS_min
	stats points using (within(6)) skip 1 nooutput
	set xrange [fewest / 1.25 : most * 1.25]
	set yrange [least / 1.5 : STATS_max * 1.5]
	plot for [g = 1:groups] points using (of(p, g, 3)):(column(7) > 0 ? column(7) : NaN) skip 1 \
			with lines linetype look(g) linewidth 1.2, \
		for [g = 1:groups] points using (of(p, g, 3)):4:5:6 skip 1 with yerrorbars \
			linetype look(g) dashtype solid pointsize 0.8 * point linewidth 1.2
	unset label
	unset arrow
}
unset multiplot
eval done
