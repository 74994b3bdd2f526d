# share.gp - slowdown over the number of clients on a GPU; harness/share/share_chart.c sets
#   series, nameN            how many arms; their names
#   most_clients, most       the largest number of clients, the largest slowdown
#   title, finding, made1, made2   texts
#   points   columns series, clients, slowdown, least, most, arm
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
set xrange [0.7 : most_clients + 0.3]
set yrange [0 : most * 1.08]
set xtics 1
set label 60 'clients' at graph 0.5, screen from_top(height - 20) center noenhanced
set label 61 'time of a step over that of a client alone' at graph 0, 1.03 left font small
set label 62 'ideal' at first most_clients, first most_clients right offset -1, 0.5 font small textcolor rgb faint
plot [0.7 : most_clients + 0.3] x with lines linecolor rgb faint dashtype (8, 5) linewidth 1.4, \
	for [k = 1:series] points using (of(k, 2)):3 skip 1 smooth unique with lines linetype colour(k) linewidth 1.2 dashtype solid, \
	for [k = 1:series] points using (of(k, 2)):3:4:5 skip 1 with yerrorbars linetype colour(k) \
		pointtype shape(k) pointsize 1.1 * point linewidth 1.2 dashtype solid
eval done
