# graph-orders.gp - draws graph-orders.png and graph-orders.svg from the data files beside it.
# To draw them again, in this folder: gnuplot graph-orders.gp (5.2 or newer)
# Written by rift 0.1.

name = 'graph-orders'
device = 'NVIDIA H200'
made1 = 'graph topology=chains node=staged width=8 us=20 first_us=200'
made2 = 'Medians of 5 processes with 95 % intervals, 2026-11-26; computed on: NVIDIA H200'
rows = 16
quantities = 3
name1 = 'first chain''s end'
name2 = 'last chain''s end'
name3 = 'launch end to end'
row1 = 'length=2 bytes=64k order=kept'
row2 = 'length=2 bytes=64k order=levels'
row3 = 'length=2 bytes=64k order=late'
row4 = 'length=2 bytes=64k order=shuffled'
row5 = 'length=2 bytes=1M order=kept'
row6 = 'length=2 bytes=1M order=levels'
row7 = 'length=2 bytes=1M order=late'
row8 = 'length=2 bytes=1M order=shuffled'
row9 = 'length=4 bytes=64k order=kept'
row10 = 'length=4 bytes=64k order=levels'
row11 = 'length=4 bytes=64k order=late'
row12 = 'length=4 bytes=64k order=shuffled'
row13 = 'length=4 bytes=1M order=kept'
row14 = 'length=4 bytes=1M order=levels'
row15 = 'length=4 bytes=1M order=late'
row16 = 'length=4 bytes=1M order=shuffled'
title = 'graph: what its configurations take'
finding = '16 of 16 configurations are drawn'
points = 'graph-orders-points.csv'

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

# grid_rows.gp - a grid of probes, a row for each configuration; harness/chart/grid_chart.c sets
#   rows, rowN   how many configurations, and what they are
#   quantities, nameN   what is drawn of each
#   title, finding, made1, made2   texts
#   points   columns quantity, row, us, lo_us, hi_us
height = 190 + 26 * rows
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set tmargin at screen from_top(136)
set bmargin at screen from_top(height - 54)
set lmargin at screen 0.36
set rmargin at screen 0.97
set yrange [rows + 0.6 : 0.4]
set xrange [0 : *]
unset ytics
set border 1
unset key
of(q, x) = column(1) == q ? column(x) : NaN
do for [q = 1:quantities] {
	x = 0.36 + 0.2 * (q - 1)
	set label 20 + q '' at screen x, from_top(112) point linetype q pointsize 1.1 * point
	set label 40 + q value('name'.q) at screen x + 0.012, from_top(112) left noenhanced font small
}
do for [i = 1:rows] {
	set label 200 + i value('row'.i) at screen 0.35, first i right noenhanced font small
}
set label 60 'µs' at graph 0.5, screen from_top(height - 16) center
plot for [q = 1:quantities] points using (of(q, 3)):(column(2) + 0.16 * (q - 1)):4:5 skip 1 \
	with xerrorbars linetype q dashtype solid pointsize 1.0 * point linewidth 1.2
eval done
