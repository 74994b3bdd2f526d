# share_latency.gp - how long steps take among neighbours; harness/share/share_chart.c sets
#   series, nameN                  how many arms; their names
#   title, finding, made1, made2   texts
#   points   columns series, us, share, clients, arm
height = 560
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set tmargin at screen from_top(146)
set bmargin at screen from_top(height - 62)
set lmargin at screen 0.09
set rmargin at screen 0.97
unset key
of(k, x) = column(1) == k ? column(x) : NaN
colour(k) = (k - 1) % 6 + 1
do for [k = 1:series] {
	x = 0.02 + 0.96 / (series > 6 ? series : 6) * (k - 1)
	set label 20 + k '' at screen x, from_top(112) point linetype colour(k) pointtype 7 \
		pointsize 1.1 * point linewidth 1.4
	set label 40 + k value('name'.k) at screen x + 0.012, from_top(112) left noenhanced font small
}
set logscale x
set format x '%g'
set yrange [0 : 1.02]
set label 60 'time of a step (µs)' at graph 0.5, screen from_top(height - 20) center noenhanced
set label 61 'share of steps' at graph 0, 1.03 left font small
plot for [k = 1:series] points using (of(k, 2)):3 skip 1 with lines linetype colour(k) \
	linewidth 1.6 dashtype 1 + (k > 6)
eval done
