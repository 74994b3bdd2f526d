# share_latency.gp - how long steps take among neighbours; harness/share/share_chart.c sets
#   series, nameN                  how many arms; their names
#   title, finding, made1, made2   texts
#   points   columns series, us, share, clients, arm
more = 18 * (key_rows(series) - 1)
height = 560 + more
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set tmargin at screen from_top(146 + more)
set bmargin at screen from_top(height - 62)
set lmargin at screen 0.09
set rmargin at screen 0.97
unset key
of(k, x) = column(1) == k ? column(x) : NaN
colour(k) = (k - 1) % 6 + 1
# From the seventh on curves have a dash, and the key a piece of the curve.
dash(k) = 1 + (k - 1) / 6
do for [k = 1:series] {
	if (k <= 6) {
		set label 200 + k '' at screen key_x(k), from_top(key_pixels(k)) point linetype colour(k) \
			pointtype 7 pointsize 1.1 * point linewidth 1.4
	} else {
		set arrow 200 + k from screen key_x(k) - 0.01, from_top(key_pixels(k)) rto screen 0.02, 0 \
			nohead linetype colour(k) linewidth 1.6 dashtype dash(k)
	}
	set label 300 + k value('name'.k) at screen key_x(k) + 0.012, from_top(key_pixels(k)) left \
		noenhanced font small
}
set logscale x
set format x '%g'
set yrange [0 : 1.02]
set label 60 'time of a step (µs)' at graph 0.5, screen from_top(height - 20) center noenhanced
set label 61 'share of steps' at graph 0, 1.03 left font small
plot for [k = 1:series] points using (of(k, 2)):3 skip 1 with lines linetype colour(k) \
	linewidth 1.6 dashtype dash(k)
eval done
