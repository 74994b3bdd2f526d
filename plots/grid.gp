# grid.gp - a grid of probes over the size axis; harness/chart/grid_chart.c sets
#   panels, panelN   how many quantities, at most 4, and their names
#   groups, groupN, fitN_K   lines: their names, of two grids with A or B, and of panel N and group K
#                           the line in words
#   axis   what the x axis is
#   title, finding, made1, made2   texts
#   points   columns panel, group, size, us, lo_us, hi_us, fitted_us
rows = (panels + 1) / 2
key = 20 * (groups < 6 ? groups : 6) + 26
panel_height = 250
height = 110 + rows * (panel_height + key + 40)
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set multiplot
set logscale xy
set format x '%g'
set format y '%g'
unset key
of(p, g, x) = column(1) == p && column(2) == g ? column(x) : NaN
look(g) = (g - 1) % 6 + 1
stats points using 3 skip 1 nooutput
fewest = STATS_min
most = STATS_max
do for [p = 1:panels] {
	left = p % 2 ? 0.075 : 0.575
	top = 140 + ((p - 1) / 2) * (panel_height + key + 40)
	set lmargin at screen left
	set rmargin at screen left + 0.4
	set tmargin at screen from_top(top)
	set bmargin at screen from_top(top + panel_height - 48)
	set label 30 value('panel'.p).' (µs)' at graph 0, 1.05 left noenhanced
	set label 31 axis at graph 0.5, screen from_top(top + panel_height - 8) center noenhanced
	do for [g = 1:(groups < 6 ? groups : 6)] {
		y = from_top(top + panel_height - 4 + 20 * g)
		set arrow g from screen left, y rto screen 0.03, 0 nohead linetype look(g)
		set label 40 + g value('group'.g) at screen left + 0.04, y left noenhanced font small
		set label 60 + g value(sprintf('fit%d_%d', p, g)) at screen left + 0.4, y right \
			noenhanced font small
	}
	within(x) = column(1) == p ? column(x) : NaN
	set xrange [*:*]
	set yrange [*:*]
	stats points using (within(5)) skip 1 nooutput
	least = STATS_min
	stats points using (within(6)) skip 1 nooutput
	set xrange [fewest / 1.25 : most * 1.25]
	set yrange [least / 1.5 : STATS_max * 1.5]
	plot for [g = 1:groups] points using (of(p, g, 3)):(column(7) > 0 ? column(7) : NaN) skip 1 \
			with lines linetype look(g) linewidth 1.2, \
		for [g = 1:groups] points using (of(p, g, 3)):4:5:6 skip 1 with yerrorbars \
			linetype look(g) dashtype solid pointsize 0.8 * point linewidth 1.2
	unset label
	unset arrow
}
unset multiplot
eval done
