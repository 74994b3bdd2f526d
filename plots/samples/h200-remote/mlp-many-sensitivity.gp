# mlp-many-sensitivity.gp - draws mlp-many-sensitivity.png and mlp-many-sensitivity.svg from the data files beside it.
# To draw them again, in this folder: gnuplot mlp-many-sensitivity.gp (5.2 or newer)
# Written by rift 0.1.

name = 'mlp-many-sensitivity'
device = 'NVIDIA H200'
title = 'mlp launches=many: which network it stands (imitated)'
finding = 'points: time of a step over native, a cost at a time, with least and most of 5 processes'
made1 = 'dashed: predicted from the native run alone; horizontal: 5 % and 25 % longer'
made2 = 'NVIDIA H200, layer remote transport=tcp poll=1000 (network imitated), stream mode, depth 64; native: 115 µs a step'
name1 = 'rtt'
panel1 = 1
name2 = 'bandwidth'
panel2 = 2
series = 2
frontier1 = NaN
zero1 = 1.171278958308857
says1 = '5 % longer: not reached'
alone1 = 'over the layer alone: not reached'
frontier2 = 18.640754595619661
zero2 = NaN
says2 = '5 % longer: 18.6 Gbit/s'
alone2 = 'over the layer alone: not reached'
frontiers = 2
unit1 = 'µs'
falls1 = 0
least1 = 5.0
most1 = 200.0
unit2 = 'Gbit/s'
falls2 = 1
least2 = 1.0
most2 = 200.0
panels = 2
least_ratio = 0.94999999999999996
most_ratio = 1.6714688700604736
points = 'mlp-many-sensitivity-points.csv'
model = 'mlp-many-sensitivity-model.csv'

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

# sensitivity.gp - a workload's time over costs of a layer; harness/sensitivity/sensitivity_chart.c
# sets
#   series, nameN, panelN   how many costs; their names; which panel each is in
#   panels, unitN, fallsN   one for each unit; falls: 1 where less is worse
#   leastN, mostN           what its axis shows
#   least_ratio, most_ratio   what the other axis shows
#   frontiers, frontierN, saysN, aloneN   of how many series it is said where they are 5 % longer:
#                           there, or NaN; in words, and the same over the layer alone
#   zeroN   what nothing added takes, which has no place on a logarithm; or NaN
#   title, finding, made1, made2   texts
#   points   columns series, value, ratio, least, most, cost, unit
#   model    columns series, value, ratio
height = 560
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set multiplot
set tmargin at screen from_top(146)
set bmargin at screen from_top(height - 62)
set logscale x
set format x '%g'
wide_range = most_ratio / least_ratio > 3
set yrange [least_ratio / (wide_range ? 1.15 : 1.03) : most_ratio * (wide_range ? 1.15 : 1.03)]
if (wide_range) {
	set logscale y
	set ytics (0.1, 0.2, 0.3, 0.5, 1, 2, 3, 5)
	do for [i = 1:5] { set ytics add (10.0**i, 2 * 10.0**i, 5 * 10.0**i) }
}
unset key
left = 0.07
wide = (0.98 - left) / panels
of(k, x) = column(1) == k ? column(x) : NaN
shape(k) = word('7 5 9 11 13 15 6 4 8 10 12 14', (k - 1) % 12 + 1) + 0
colour(k) = (k - 1) % 6 + 1

# The key: colour and shape are of the cost.
do for [k = 1:series] {
	x = 0.02 + 0.96 / (series > 6 ? series : 6) * (k - 1)
	set label 20 + k '' at screen x, from_top(112) point linetype colour(k) pointtype shape(k) \
		pointsize 1.1 * point linewidth 1.4
	set label 40 + k value('name'.k) at screen x + 0.012, from_top(112) left noenhanced font small
}
do for [i = 1:panels] {
	set lmargin at screen left + wide * (i - 1) + (i > 1 ? 0.06 : 0)
	set rmargin at screen left + wide * i
	low = value('least'.i) / 1.15
	high = value('most'.i) * 1.15
	if (value('falls'.i)) { set xrange [high : low] } else { set xrange [low : high] }
	set label 60 'cost ('.value('unit'.i).')' at graph 0.5, screen from_top(height - 20) center noenhanced
	set label 61 'time of a step over native' at graph 0, 1.04 left font small
	do for [f = 1:2] {
		ratio = f == 1 ? 1.05 : 1.25
		set arrow f from graph 0, first ratio to graph 1, first ratio nohead back \
			linecolor rgb faint dashtype (2, 3) linewidth 1.4
		set label 61 + f sprintf('%d %% longer', f == 1 ? 5 : 25) at graph 0.01, first ratio left \
			offset 0, (f == 1 && wide_range ? -0.5 : 0.5) font small textcolor rgb faint
	}
	do for [k = 1:frontiers] {
		if (value('panel'.k) == i) {
			set label 66 value('says'.k) at graph 0.02, graph 0.97 left noenhanced font small
			set label 67 value('alone'.k) at graph 0.02, graph 0.92 left noenhanced font small
			zero = value('zero'.k)
			if (zero == zero) {
				set arrow 4 from graph 0, first zero to graph 1, first zero nohead back \
					linetype colour(k) dashtype (8, 3, 2, 3) linewidth 1
				set label 68 '0 '.value('unit'.i) at graph 0.99, first zero right \
					offset 0, -0.5 noenhanced font small textcolor rgb faint
			}
			x = value('frontier'.k)
			if (x == x) {
				set arrow 3 from first x, graph 0 to first x, first 1.05 nohead back \
					linetype colour(k) dashtype (2, 3) linewidth 1.4
			}
		}
	}
	plot for [k = 1:series] model using (value('panel'.k) == i ? of(k, 2) : NaN):3 skip 1 \
			with lines linetype colour(k) linewidth 1.4 dashtype (8, 5), \
		for [k = 1:series] points using (value('panel'.k) == i ? of(k, 2) : NaN):3 skip 1 \
			with lines linetype colour(k) linewidth 1.2 dashtype solid, \
		for [k = 1:series] points using (value('panel'.k) == i ? of(k, 2) : NaN):3:4:5 skip 1 \
			with yerrorbars linetype colour(k) pointtype shape(k) pointsize 1.1 * point \
			linewidth 1.2 dashtype solid
	do for [k = 1:series] {
		unset label 20 + k
		unset label 40 + k
	}
	unset label 66
	unset label 67
	unset label 68
	unset arrow 3
	unset arrow 4
	do for [k = 101:104] { unset label k }
}
unset multiplot
eval done
