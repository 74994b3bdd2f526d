# collection.gp - draws collection.png and collection.svg from the data files beside it.
# To draw them again, in this folder: gnuplot collection.gp (5.2 or newer)
# Written by rift 0.1.

name = 'collection'
device = 'NVIDIA H200'
rows = 38
shallow = 1
deep = 64
row1 = 'particlefilter particles=1M'
why1 = ''
ideal1 = '38 µs'
over1 = '−2.8'
over2 = '3.2'
over3 = '−11'
over4 = '−0.2'
row2 = 'alignment pairs=32k'
why2 = ''
ideal2 = '349 µs'
over5 = '0.2'
over6 = '0.5'
over7 = '−1.1'
over8 = '0.0'
row3 = 'matmul n=4k'
why3 = ''
ideal3 = '3.0 ms'
over9 = '0.3'
over10 = '0.1'
over11 = '0.6'
over12 = '0.0'
row4 = 'binomial steps=8k'
why4 = ''
ideal4 = '2.7 ms'
over13 = '0.3'
over14 = '0.2'
over15 = '0.6'
over16 = '0.0'
row5 = 'pathtrace samples=64'
why5 = ''
ideal5 = '2.2 ms'
over17 = '0.6'
over18 = '0.2'
over19 = '0.7'
over20 = '0.0'
row6 = 'pathtrace samples=8'
why6 = ''
ideal6 = '320 µs'
over21 = '1.3'
over22 = '0.2'
over23 = '0.3'
over24 = '0.0'
row7 = 'myocyte cells=16k'
why7 = ''
ideal7 = '1.1 ms'
over25 = '1.8'
over26 = '0.0'
over27 = '1.7'
over28 = '0.0'
row8 = 'alignment pairs=1k'
why8 = ''
ideal8 = '48 µs'
over29 = '3.0'
over30 = '3.8'
over31 = '−3.1'
over32 = '0.0'
row9 = 'radixsort pairs=16M'
why9 = ''
ideal9 = '513 µs'
over33 = '3.2'
over34 = '1.5'
over35 = '1.6'
over36 = '0.0'
row10 = 'transfer bytes=64M'
why10 = ''
ideal10 = '1.2 ms*'
over37 = '4.2'
over38 = '0.1'
over39 = ''
over40 = ''
row11 = 'myocyte cells=1'
why11 = ''
ideal11 = '380 µs'
over41 = '4.2'
over42 = '0.3'
over43 = '3.5'
over44 = '0.1'
row12 = 'stereo width=4k'
why12 = ''
ideal12 = '194 µs'
over45 = '4.5'
over46 = '0.9'
over47 = '4.4'
over48 = '0.1'
row13 = 'myocyte cells=1k'
why13 = ''
ideal13 = '481 µs'
over49 = '4.6'
over50 = '0.5'
over51 = '4.1'
over52 = '0.1'
row14 = 'graph length=100'
why14 = ''
ideal14 = '84 µs*'
over53 = '6.4'
over54 = '0.1'
over55 = ''
over56 = ''
row15 = 'memory bytes=1M'
why15 = ''
ideal15 = '66 µs*'
over57 = '7.3'
over58 = '0.1'
over59 = ''
over60 = ''
row16 = 'mlp batch=16k'
why16 = ''
ideal16 = '197 µs'
over61 = '8.1'
over62 = '5.0'
over63 = '5.3'
over64 = '0.1'
row17 = 'launch 100 µs kernels'
why17 = ''
ideal17 = '100 µs'
over65 = '9.3'
over66 = '2.0'
over67 = '7.6'
over68 = '1.2'
row18 = 'blackscholes options=32M'
why18 = ''
ideal18 = '158 µs'
over69 = '14'
over70 = '0.8'
over71 = '13'
over72 = '0.2'
row19 = 'matmul n=1k'
why19 = ''
ideal19 = '57 µs'
over73 = '15'
over74 = '1.9'
over75 = '11'
over76 = '0.2'
row20 = 'binomial steps=1k'
why20 = ''
ideal20 = '53 µs'
over77 = '17'
over78 = '2.2'
over79 = '12'
over80 = '0.2'
row21 = 'pathtrace samples=1'
why21 = ''
ideal21 = '47 µs'
over81 = '19'
over82 = '2.2'
over83 = '13'
over84 = '0.2'
row22 = 'radixsort pairs=1M'
why22 = ''
ideal22 = '63 µs'
over85 = '24'
over86 = '8.4'
over87 = '10'
over88 = '0.2'
row23 = 'transfer bytes=1M'
why23 = ''
ideal23 = '22 µs*'
over89 = '26'
over90 = '0.4'
over91 = ''
over92 = ''
row24 = 'blackscholes options=4000000'
why24 = ''
ideal24 = '23 µs'
over93 = '37'
over94 = '4.0'
over95 = '34'
over96 = '0.5'
row25 = 'mlp batch=1k'
why25 = ''
ideal25 = '36 µs'
over97 = '43'
over98 = '16'
over99 = '14'
over100 = '0.2'
row26 = 'stereo width=640'
why26 = ''
ideal26 = '17 µs'
over101 = '49'
over102 = '6.2'
over103 = '34'
over104 = '0.5'
row27 = 'graph length=10'
why27 = ''
ideal27 = '10 µs*'
over105 = '52'
over106 = '0.8'
over107 = ''
over108 = ''
row28 = 'radixsort pairs=4k'
why28 = ''
ideal28 = '12 µs'
over109 = '65'
over110 = '8.1'
over111 = '44'
over112 = '0.7'
row29 = 'mlp batch=64'
why29 = ''
ideal29 = '21 µs'
over113 = '77'
over114 = '32'
over115 = '28'
over116 = '0.4'
row30 = 'particlefilter particles=1k'
why30 = ''
ideal30 = '7.9 µs'
over117 = '91'
over118 = '9.7'
over119 = '63'
over120 = '1.0'
row31 = 'launch 10 µs kernels'
why31 = ''
ideal31 = '10 µs'
over121 = '91'
over122 = '20'
over123 = '64'
over124 = '13'
row32 = 'particlefilter particles=64k'
why32 = ''
ideal32 = '7.0 µs'
over125 = '95'
over126 = '12'
over127 = '59'
over128 = '0.9'
row33 = 'stereo width=160'
why33 = ''
ideal33 = '8.2 µs'
over129 = '113'
over130 = '11'
over131 = '71'
over132 = '1.1'
row34 = 'binomial steps=128'
why34 = ''
ideal34 = '5.3 µs'
over133 = '154'
over134 = '19'
over135 = '114'
over136 = '1.8'
row35 = 'transfer bytes=4k'
why35 = ''
ideal35 = '2.9 µs*'
over137 = '159'
over138 = '2.5'
over139 = ''
over140 = ''
row36 = 'matmul n=256'
why36 = ''
ideal36 = '5.3 µs'
over141 = '162'
over142 = '19'
over143 = '112'
over144 = '1.8'
row37 = 'blackscholes options=64k'
why37 = ''
ideal37 = '2.5 µs'
over145 = '312'
over146 = '43'
over147 = '227'
over148 = '3.5'
row38 = 'launch 2 µs kernels'
why38 = ''
ideal38 = '2.0 µs'
over149 = '466'
over150 = '99'
over151 = '342'
over152 = '63'
title = 'stream: steps that take over 5 % more than ideal: 25 of 38 at depth 1, 13 of 38 at depth 64'
finding = 'graph: 20 of 32 at depth 1, 2 of 32 at depth 64; most at depth 1: 466 %, launch 2 µs kernels'
made1 = 'NVIDIA H200, driver 580.159.04; kvm, docker, passthrough; n = 2 processes, 2026-11-22'
made2 = 'ideal: kernels, copies or calls of a step, by the slope of the deepest blocks; where sizes are durations, these'
note1 = '* no graphs: by deep blocks of a stream, with what of submission they do not hide'
note2 = ''
dots = 'collection-dots.csv'

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

# collection.gp - all workloads of a session: T / ideal at two depths; harness/chart/collection.c sets
#   rows, rowN, idealN     how many; from below, their names and what is ideal of a step
#   whyN                   why there are no dots; '': there are
#   overN                  of row r, mode m (0 stream, 1 graph) and depth d (0 shallow, 1 deep), N =
#                          4 (r - 1) + 2 m + d + 1: overhead in %, and the depth if it is another one
#   shallow, deep          the two depths
#   title, finding, made1, made2, note1, note2   texts
#   dots   columns row, series (2 m + d + 1), ratio, ratio_lo, ratio_hi
tall = 21
top = 138
bottom = 84
height = top + bottom + tall * rows
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set tmargin at screen from_top(top)
set bmargin at screen bottom / (1.0 * height)
set lmargin at screen 0.375
set rmargin at screen 0.725
set logscale x
set border 1
set grid xtics noytics
unset ytics
stats dots using 3 skip 1 nooutput
least = STATS_min < 1 ? STATS_min : 1.0
most = STATS_max > 1.1 ? STATS_max : 1.1
wide = most / least
set xrange [least / wide**0.03 : most * wide**0.03]
set yrange [-0.6 : rows - 0.4] # not before: stats takes what is within
set xtics (1)
if (wide < 2.5) {
	set format x '%.1f'
	do for [i = 5:30] { set xtics add (i / 10.0) }
} else { if (wide < 12) {
	set xtics add (0.5, 0.7, 1.2, 1.5, 2, 3, 4, 5, 7, 10)
} else {
	do for [i = -2:5] { set xtics add (10.0**i, 2 * 10.0**i, 5 * 10.0**i) }
} }
set arrow 1 from 1, graph 0 to 1, graph 1 nohead back linecolor rgb ink linewidth 1.4
set label 50 'time of a step over ideal' at graph 0.5, screen (bottom - 42.0) / height center
foot = from_top(top - 8)
set label 51 'ideal' at screen 0.365, foot right font small textcolor rgb faint
set label 52 'over ideal (%): stream' at screen 0.852, from_top(top - 24) right font small \
	textcolor rgb faint
set label 53 'graph' at screen 0.985, from_top(top - 24) right font small textcolor rgb faint
at(k) = word('0.785 0.852 0.918 0.985', k) + 0
do for [k = 1:4] {
	set label 53 + k sprintf('%d', k % 2 ? shallow : deep) at screen at(k), foot right font small \
		textcolor rgb faint
}
# The key: colour and shape are of the depth; hollow is a graph.
shape(k) = word('7 5 6 4', k) + 0
colour(k) = k % 2 ? 1 : 2
do for [k = 1:4] {
	x = 0.014 + 0.155 * (k - 1)
	set label 60 + k sprintf('%s, depth %d', k > 2 ? 'graph' : 'stream', k % 2 ? shallow : deep) \
		at screen x + 0.018, from_top(106) left font small
	set label 70 + k '' at screen x + 0.006, from_top(106) point linetype colour(k) \
		pointtype shape(k) pointsize 1.1 * point linewidth 1.4
}
do for [r = 1:rows] { # labels from 200 on: those of the heading are below
	y = r - 1
	set label 200 + 5 * rows + r value('row'.r) at screen 0.29, first y right noenhanced font small
	set label 200 + 6 * rows + r value('ideal'.r) at screen 0.365, first y right noenhanced font small
	set label 200 + 7 * rows + r value('why'.r) at graph 0.02, first y left noenhanced font small \
		textcolor rgb faint
	do for [k = 1:4] {
		set label 200 + k * rows + r value('over'.(4 * (r - 1) + k)) at screen at(k), first y right \
			noenhanced font small
	}
	set arrow 10 + r from graph 0, first y rto graph 1, 0 nohead back linecolor rgb '#ececec' \
		linewidth 0.8
}
do for [k = 1:2] {
	set label 80 + k value('note'.k) at screen word('0.014 0.66', k) + 0, 14.0 / height left \
		noenhanced font small textcolor rgb faint
}
bound(x) = valid(x) ? column(x) : column(3) # of an interval, where it is known
of(k, x) = column(2) == k ? column(x) : NaN
place(k) = column(1) + (k > 2 ? -0.17 : 0.17)
plot for [k = 1:4] dots using (valid(4) ? of(k, 3) : NaN):(place(k)):(bound(4)):(bound(5)) skip 1 \
		with xerrorbars linetype colour(k) pointtype shape(k) pointsize 0.9 * point linewidth 1.2 \
		dashtype solid, \
	for [k = 1:4] dots using (of(k, 3)):(place(k)) skip 1 with points linetype colour(k) \
		pointtype shape(k) pointsize 0.9 * point linewidth 1.2
eval done
