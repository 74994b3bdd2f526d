# share-beside-mps.gp - draws share-beside-mps.png and share-beside-mps.svg from the data files beside it.
# To draw them again, in this folder: gnuplot share-beside-mps.gp (5.2 or newer)
# Written by rift 0.1.

name = 'share-beside-mps'
device = 'NVIDIA H200'
title = 'launch us=0, mps: how long steps take beside each neighbour'
finding = 'share of steps that take at most so long'
made1 = 'NVIDIA H200, 5 records'
made2 = ''
points = 'share-beside-mps-points.csv'
name1 = 'alone'
name2 = 'launch us=0'
name3 = 'binomial'
name4 = 'blackscholes'
name5 = 'mlp'
name6 = 'myocyte'
series = 6

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

# share_latency.gp - how long steps take among neighbours; harness/share/share_chart.c sets
#   series, nameN                  how many arms; their names
#   title, finding, made1, made2   texts
#   points   columns series, us, share, clients, arm
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
colour(k) = (k - 1) % 6 + 1
# From the seventh on curves have a dash, and the key a piece of the curve.
dash(k) = 1 + (k - 1) / 6
do for [k = 1:series] {
	if (k <= 6) {
		set label 200 + k '' at screen key_x(k), from_top(key_pixels(k)) point linetype colour(k) \
			pointtype 7 pointsize 1.1 * point linewidth 1.4
	} else {
		set arrow 200 + k from screen key_x(k) - 0.01, from_top(key_pixels(k)) rto screen 0.02, 0 \
			nohead linetype colour(k) linewidth 1.6 dashtype dash(k)
	}
	set label 300 + k value('name'.k) at screen key_x(k) + 0.012, from_top(key_pixels(k)) left \
		noenhanced font small
}
set logscale x
set format x '%g'
set yrange [0 : 1.02]
set label 60 'time of a step (µs)' at graph 0.5, screen from_top(height - 20) center noenhanced
set label 61 'share of steps' at graph 0, 1.03 left font small
plot for [k = 1:series] points using (of(k, 2)):3 skip 1 with lines linetype colour(k) \
	linewidth 1.6 dashtype dash(k)
eval done
