# plot.gp - what each call that has to do with a graph takes, over its nodes; app_plot.c sets
#   lengths   columns quantity, length, nodes, us, fitted_us; quantities 1 to 6 are calls of the
#             host, the others take from the opening of a latch on, or a whole launch
#   quantities, nameN, fitN   how many, and of each its name and its fitted line in words
#   title, finding, made1, made2   texts
height = 760
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set multiplot
of(k, x) = column(1) == k ? column(x) : NaN
look(k) = (k - 1) % 6 + 1
set logscale xy
stats lengths using 3 skip 1 nooutput
fewest = STATS_min
most = STATS_max
set format y '%h'
set xtics (1, 2, 5, 10, 20, 50, 100, '' 200, 300, '' 500, '1k' 1000, '' 2000, '3k' 3000, '10k' 10000, \
	'30k' 30000)
set tmargin at screen from_top(140)
set bmargin at screen from_top(530)
array first[2] = [1, 7]
array last[2] = [6, quantities]
do for [panel = 1:2] {
	left = panel == 1 ? 0.085 : 0.575
	set lmargin at screen left
	set rmargin at screen left + 0.39
	set label 30 panel == 1 ? 'calls of the host: time (µs)' : \
		'the graph itself: time (µs)' at graph 0, 1.04 left
	set label 31 'nodes' at graph 0.5, screen from_top(578) center
	do for [k = first[panel]:last[panel]] {
		y = from_top(608 + 22 * (k - first[panel]))
		set arrow k from screen left - 0.05, y rto screen 0.04, 0 nohead linetype look(k)
		set label 40 + k value('name'.k) at screen left, y left noenhanced font medium
		set label 60 + k value('fit'.k) at screen left + 0.39, y right noenhanced font medium
	}
	within(x) = column(1) >= first[panel] && column(1) <= last[panel] ? column(x) : NaN
	set xrange [*:*] # stats takes what is within
	set yrange [*:*]
	stats lengths using (within(4)) skip 1 nooutput
	set xrange [fewest / 1.25 : most * 1.25]
	set yrange [STATS_min / 1.5 : STATS_max * 1.5]
	plot for [k = first[panel]:last[panel]] lengths using (of(k, 3)):5 skip 1 with lines \
			linetype look(k) linewidth 1.2, \
		for [k = first[panel]:last[panel]] lengths using (of(k, 3)):4 skip 1 with points \
			linetype look(k) pointsize point
	unset label
	unset arrow
}
unset multiplot
eval done
