# share-matrix-processes.gp - draws share-matrix-processes.png and share-matrix-processes.svg from the data files beside it.
# To draw them again, in this folder: gnuplot share-matrix-processes.gp (5.2 or newer)
# Written by rift 0.1.

name = 'share-matrix-processes'
device = 'NVIDIA H200'
title = 'processes: who hurts whom, two clients'
finding = 'time of a step over that of a client alone; 2 is the ideal share'
made1 = 'NVIDIA H200, 10 records'
made2 = ''
name1 = 'binomial'
name2 = 'blackscholes'
name3 = 'mlp'
name4 = 'myocyte'
workloads = 4
cells = 'share-matrix-processes-cells.csv'

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

# share_matrix.gp - who hurts whom, two clients on a GPU; harness/share/across_chart.c sets
#   workloads, nameN               how many; their names, of rows and columns
#   title, finding, made1, made2   texts
#   cells   columns column, row, slowdown, least, most, label
tall = workloads < 5 ? 62 : 40
top = 150
bottom = 66
height = top + bottom + workloads * tall
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set tmargin at screen from_top(top)
set bmargin at screen from_top(top + workloads * tall)
set lmargin at screen 0.22
set rmargin at screen 0.97
unset grid
unset key
unset colorbox
set border 0
set tics scale 0
set xrange [-0.5 : workloads - 0.5]
set yrange [workloads - 0.5 : -0.5]
set xtics (name1 0) font small
set ytics (name1 0) font small
do for [i = 2:workloads] {
	set xtics add (value('name'.i) i - 1)
	set ytics add (value('name'.i) i - 1)
}
# One hue: 1 is light, the ideal share of 2 in the middle, 4 and more dark.
set logscale cb
set cbrange [1 : 4]
set palette defined (0 '#f7fbff', 1 '#c6dbef', 2 '#6baed6', 3 '#2171b5', 4 '#08306b')
shade(x) = x < 1 ? 1 : x > 4 ? 4 : x
ink_on(x) = x < 2.2 ? 0x000000 : 0xffffff
set style fill solid 1 noborder
set label 60 'this one ...' at screen 0.014, from_top(top - 14) left font small
set label 61 '... beside this one' at graph 0.5, screen from_top(height - 18) center font small
plot cells using 1:2:(0.485):(0.47):(shade(column(3))) skip 1 with boxxyerror linecolor palette, \
	cells using 1:2:6:(ink_on(column(3))) skip 1 with labels font medium textcolor rgb variable
eval done
