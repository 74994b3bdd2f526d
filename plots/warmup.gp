# warmup.gp - what samples take from the first on; harness/chart/warmup_chart.c sets
#   columns, depthN   a column a depth
#   beginnings, beginningN   how curves begin: three
#   series, nameN   what is watched beside them, of rested processes; '' where it is not there
#   title, finding, made1, made2   texts
#   blocks    columns column, beginning, ms, us
#   samples   columns column, series, ms, over_last
height = 640
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set multiplot
unset key
set logscale x
set format x '%g'
of(c, k, x) = column(1) == c && column(2) == k ? column(x) : NaN
left = 0.075
wide = (0.985 - left) / columns
stats blocks using 3 skip 1 nooutput
earliest = STATS_min
latest = STATS_max
stats blocks using 4 skip 1 nooutput
least = STATS_min
most = STATS_max
# samples of the first millisecond, and where there is one value alone
stats samples using 4 skip 1 nooutput
lowest = STATS_records ? STATS_min : 1
highest = STATS_records ? STATS_max : 1
do for [b = 1:beginnings] {
	x = 0.02 + 0.16 * (b - 1)
	set label 20 + b '' at screen x, from_top(112) point linetype b pointsize 0.9 * point
	set label 30 + b value('beginning'.b) at screen x + 0.012, from_top(112) left noenhanced font small
}
do for [s = 1:series] {
	if (strlen(value('name'.s))) {
		x = 0.02 + 0.16 * (s - 1)
		set label 40 + s '' at screen x, from_top(402) point linetype s pointsize 0.9 * point
		set label 50 + s value('name'.s) at screen x + 0.012, from_top(402) left noenhanced font small
	}
}
do for [c = 1:columns] {
	set lmargin at screen left + wide * (c - 1) + (c > 1 ? 0.05 : 0)
	set rmargin at screen left + wide * c
	set xrange [earliest / 1.3 : latest * 1.3]
	set tmargin at screen from_top(150)
	set bmargin at screen from_top(360)
	set logscale y
	set format y '%g'
	set yrange [least / 1.4 : most * 1.4]
	set label 60 'depth '.value('depth'.c).': time of a step (µs)' at graph 0, 1.05 left font small
	plot for [b = 1:beginnings] blocks using (of(c, b, 3)):4 skip 1 with points \
		linetype b pointsize 0.45 * point
	do for [k = 20:60] { unset label k }
	do for [k = 101:104] { unset label k }
	set tmargin at screen from_top(440)
	set bmargin at screen from_top(580)
	unset logscale y
	set yrange [(lowest < 0.9 ? lowest : 0.9) - 0.05 : (highest > 1.1 ? highest : 1.1) + 0.05]
	if (highest > 4) { set logscale y; set yrange [0.5 : highest * 1.3] }
	set label 60 'over its last value' at graph 0, 1.06 left font small
	set label 61 'ms since the first sample began' at graph 0.5, screen from_top(622) center font small
	plot for [s = 1:series] samples using (of(c, s, 3) > 0 ? of(c, s, 3) : NaN):4 skip 1 \
		with points linetype s pointsize 0.55 * point, \
		1 with lines linecolor rgb faint dashtype (2, 3) linewidth 1
	unset label 60
	unset label 61
}
unset multiplot
eval done
