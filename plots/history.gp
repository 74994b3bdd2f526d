# history.gp - sessions of one plan over time; harness/chart/history_chart.c sets
#   last                   sessions, numbered from 1
#   dates, dateN, atN      dates below the axis, and the session that each is of
#   since                  between the last session before the date that was found and the first after; 0: none
#   title, finding, made1, made2   texts
#   sessions  columns session, ratio, ratio_lo, ratio_hi, late
height = 460
eval page(900, height)
eval heading(height)
set tmargin at screen 1 - 112.0 / height
set bmargin at screen 64.0 / height
set lmargin at screen 0.09
set rmargin at screen 0.975
set xrange [0.4 : last + 0.6]
set label 1000 'time over that of the first session' at graph 0, screen 1 - 100.0 / height left \
	font small
set xtics nomirror out scale 0.6 ('' 0)
set offsets graph 0, 0, graph 0.04, graph 0.04
do for [i = 1:dates] { set xtics add (value('date'.i) value('at'.i)) }
if (since > 0) {
	set arrow 1 from first since, graph 0 to first since, graph 1 nohead linecolor rgb '#d55e00' \
		linewidth 1.5 dashtype (6, 4)
}
bound(x) = valid(x) ? column(x) : column(2) # of an interval, where it is known
plot 1 with lines linecolor rgb ink linewidth 1, \
	sessions using 1:(column(5) > 0 ? NaN : column(2)):(bound(3)):(bound(4)) skip 1 with yerrorbars \
		pointtype 7 pointsize 1.1 * point linewidth 1.6 linetype 1 dashtype solid, \
	sessions using 1:(column(5) > 0 ? column(2) : NaN):(bound(3)):(bound(4)) skip 1 with yerrorbars \
		pointtype 5 pointsize 1.1 * point linewidth 1.6 linetype 2 dashtype solid
eval done
