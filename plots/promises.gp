# promises.gp - share of the device's time asked for against share got; harness/share/promises_chart.c sets
#   series, nameN            numbers of clients and ways of waiting, or layers and numbers of clients; their names
#   most                     the largest share, %
#   title, finding, made1, made2   texts
#   points   columns series, asked, got, least, most, client, verdict
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
shape(k) = word('7 5 9 11 13 15 6', (k - 1) % 7 + 1) + 0
colour(k) = (k - 1) % 6 + 1
do for [k = 1:series] {
	set label 200 + k '' at screen key_x(k), from_top(key_pixels(k)) point linetype colour(k) \
		pointtype shape(k) pointsize 1.1 * point linewidth 1.4
	set label 300 + k value('name'.k) at screen key_x(k) + 0.012, from_top(key_pixels(k)) left \
		noenhanced font small
}
# Series of one limit stand beside each other, not on one another.
aside(k) = (k - (series + 1) / 2.0) * 0.6
top = most > 100 ? most * 1.08 : 108
set xrange [0 : 104]
set yrange [0 : top]
set xtics 0, 25, 100
set label 60 'share that was asked for (%)' at graph 0.5, screen from_top(height - 20) center noenhanced
set label 61 'share that the client got (%)' at graph 0, 1.03 left font small
plot [0 : 104] x with lines linecolor rgb faint dashtype (8, 5) linewidth 1.4, \
	for [k = 1:series] points using (of(k, 2) + aside(k)):3:4:5 skip 1 with yerrorbars linetype colour(k) \
		pointtype shape(k) pointsize 1.1 * point linewidth 1.2 dashtype solid
eval done
