# dots.gp - workloads side by side, B over A; harness/chart/dots.c sets
#   rows, rowN, nativeN    names, from below; what A takes
#   title, finding, made1, made2   texts
#   means    columns row, ratio, ratio_lo, ratio_hi
#   points   columns row, ratio
height = 204 + 48 * rows
eval page(900, height)
eval heading(height)
set tmargin at screen 1 - 112.0 / height
set bmargin at screen 72.0 / height
set lmargin at screen 0.30
set rmargin at screen 0.975
set logscale x
set border 1
set grid noytics
unset ytics
set label 1000 'time on B over time on A' at graph 0.5, screen 18.0 / height center
# A logarithmic axis of its own accord marks powers of ten only.
stats points using 2 skip 1 nooutput
least = STATS_min < 1 ? STATS_min : 1.0
most = STATS_max > 1 ? STATS_max : 1.0
if (most < 1.01 * least) { # all are 1, or nearly: some room
	least = least / 1.01
	most = most * 1.01
}
wide = most / least
set xrange [least / wide**0.03 : most * wide**0.03]
set yrange [-0.5 : rows - 0.5] # not before: stats takes what is within
set xtics (1)
if (wide < 1.06) {
	set format x '%.2f'
	do for [i = 50:200] { set xtics add (i / 100.0) }
} else { if (wide < 2.5) {
	set format x '%.1f'
	do for [i = 2:30] { set xtics add (i / 10.0) }
} else {
	set format x '%g'
	do for [i = -3:5] { set xtics add (10.0**i, 2 * 10.0**i, 5 * 10.0**i) }
} }
set arrow 1 from 1, graph 0 to 1, graph 1 nohead back linecolor rgb ink linewidth 1.4
do for [i = 1:rows] {
	set label i value('row'.i) at screen 0.285, first i - 0.85 right noenhanced font medium
	set label rows + i value('native'.i) at screen 0.285, first i - 1.19 right font small \
		textcolor rgb faint
}
bound(x) = valid(x) ? column(x) : column(2) # of an interval, where it is known
plot points using 2:1 skip 1 with points pointtype 6 pointsize 0.6 * point linewidth 1 \
		linecolor rgb '#7f7f7f', \
	means using (valid(3) ? column(2) : NaN):1:(bound(3)):(bound(4)) skip 1 with xerrorbars \
		pointtype 7 pointsize 1.5 * point linewidth 2 linetype 1 dashtype solid, \
	means using 2:1 skip 1 with points pointtype 7 pointsize 1.5 * point linetype 1
eval done
