# trial.gp - a program by itself and under layers; harness/trial/trial_chart.c sets
#   rows, rowN, saidN      sides, from above; what is said of each
#   title, finding, made1, made2   texts
#   unit                   of all times
#   runs      columns row, time
#   medians   columns row, time, time_lo, time_hi
height = 204 + 56 * rows
eval page(900, height)
eval heading(height)
set tmargin at screen 1 - 112.0 / height
set bmargin at screen 72.0 / height
set lmargin at screen 0.34
set rmargin at screen 0.975
set border 1
set grid noytics
unset ytics
set label 1000 'wall time of the program, '.unit at graph 0.5, screen 18.0 / height center
stats runs using 2 skip 1 nooutput
wide = STATS_max - STATS_min
if (wide < 0.02 * STATS_max) { wide = 0.02 * STATS_max }
set xrange [STATS_min - 0.05 * wide : STATS_max + 0.05 * wide]
set yrange [rows - 0.4 : -0.6]
do for [i = 1:rows] {
	set label i value('row'.i) at screen 0.325, first i - 1.1 right noenhanced font medium
	set label rows + i value('said'.i) at screen 0.325, first i - 0.76 right noenhanced \
		font small textcolor rgb faint
}
bound(x) = valid(x) ? column(x) : column(2) # of an interval, where it is known
plot runs using 2:1 skip 1 with points pointtype 6 pointsize 0.6 * point linewidth 1 \
		linecolor rgb '#7f7f7f', \
	medians using 2:1:(bound(3)):(bound(4)) skip 1 with xerrorbars \
		pointtype 7 pointsize 1.5 * point linewidth 2 linetype 1 dashtype solid
eval done
