# sensitivity.gp - a workload's time over costs of a layer; harness/chart/sensitivity_chart.c
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
