# paper-growth-processes.gp - draws paper-growth-processes.png and paper-growth-processes.svg from the data files beside it.
# To draw them again, in this folder: gnuplot paper-growth-processes.gp (5.2 or newer)
# Written by rift 0.1.

name = 'paper-growth-processes'
device = 'NVIDIA H200'
title = 'processes: what clients of the same workload cost each other'
finding = 'points: mean of clients, 95 % intervals; dashed: the ideal share'
made1 = 'NVIDIA H200, 5 records'
made2 = ''
points = 'paper-growth-processes-points.csv'
name1 = 'binomial preset=v…'
name2 = 'blackscholes pres…'
name3 = 'matmul preset=vmc…'
name4 = 'radixsort preset=…'
name5 = 'stereo preset=vmc…'
series = 5
most_clients = 6
most = 7.7958717738595702

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

# share.gp - slowdown over the number of clients on a GPU; harness/share/share_chart.c sets
#   series, nameN            how many arms; their names
#   most_clients, most       the largest number of clients, the largest slowdown
#   title, finding, made1, made2   texts
#   points   columns series, clients, slowdown, least, most, arm
more = 18 * (key_rows(series) - 1)
height = 560 + more
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set tmargin at screen from_top(146 + more)
set bmargin at screen from_top(height - 62)
set lmargin at screen 0.09
set rmargin at screen 0.97
unset key
of(k, x) = column(1) == k ? column(x) : NaN
shape(k) = word('7 5 9 11 13 15 6', (k - 1) % 7 + 1) + 0
colour(k) = (k - 1) % 6 + 1
do for [k = 1:series] {
	set label 200 + k '' at screen key_x(k), from_top(key_pixels(k)) point linetype colour(k) \
		pointtype shape(k) pointsize 1.1 * point linewidth 1.4
	set label 300 + k value('name'.k) at screen key_x(k) + 0.012, from_top(key_pixels(k)) left \
		noenhanced font small
}
set xrange [0.7 : most_clients + 0.3]
set yrange [0 : most * 1.08]
set xtics 1
set label 60 'clients' at graph 0.5, screen from_top(height - 20) center noenhanced
set label 61 'time of a step over that of a client alone' at graph 0, 1.03 left font small
set label 62 'ideal' at first most_clients, first most_clients right offset -1, 0.5 font small textcolor rgb faint
plot [0.7 : most_clients + 0.3] x with lines linecolor rgb faint dashtype (8, 5) linewidth 1.4, \
	for [k = 1:series] points using (of(k, 2)):3 skip 1 smooth unique with lines linetype colour(k) linewidth 1.2 dashtype solid, \
	for [k = 1:series] points using (of(k, 2)):3:4:5 skip 1 with yerrorbars linetype colour(k) \
		pointtype shape(k) pointsize 1.1 * point linewidth 1.2 dashtype solid
eval done
