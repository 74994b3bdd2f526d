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
