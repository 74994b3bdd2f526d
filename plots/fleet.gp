# fleet.gp - a dot a node; harness/chart/fleet_chart.c sets
#   judged, margin         how many nodes; the share that counts
#   named, nameN, placeN, timesN   nodes that stand out
#   title, finding, made1, made2   texts
#   nodes     columns place, times, stands_out
eval page(900, 560)
eval heading(560)
set tmargin at screen 1 - 112.0 / 560
set bmargin at screen 72.0 / 560
set lmargin at screen 0.12
set rmargin at screen 0.975
set label 1000 'nodes, from the fastest to the slowest' at graph 0.5, screen 18.0 / 560 center
set ylabel 'time over the median of the fleet'
set format x '%.0f'
set xtics judged > 12 ? ceil(judged / 12.0) : 1
stats nodes using 2 skip 1 nooutput
least = STATS_min < 1 - margin ? STATS_min : 1 - margin
most = STATS_max > 1 + margin ? STATS_max : 1 + margin
set yrange [least - 0.06 * (most - least) : most + 0.06 * (most - least)]
set xrange [0 : judged + 1]
set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead back linecolor rgb ink linewidth 1.2
set arrow 2 from graph 0, first 1 + margin to graph 1, first 1 + margin nohead back \
	linecolor rgb faint dashtype (6, 4)
set arrow 3 from graph 0, first 1 - margin to graph 1, first 1 - margin nohead back \
	linecolor rgb faint dashtype (6, 4)
do for [i = 1:named] {
	set label i value('name'.i) at first value('place'.i), first value('times'.i) \
		right offset -1, 0 noenhanced font small
}
plot nodes using 1:2 skip 1 with points pointtype 6 pointsize 0.8 * point linecolor rgb '#7f7f7f', \
	nodes using 1:(column(3) == 0 ? NaN : column(2)) skip 1 with points pointtype 7 \
		pointsize 1.3 * point linetype 2
eval done
