# grid_rows.gp - a grid of probes, a row for each configuration; harness/chart/grid_chart.c sets
#   rows, rowN   how many configurations, and what they are
#   quantities, nameN   what is drawn of each
#   title, finding, made1, made2   texts
#   points   columns quantity, row, us, lo_us, hi_us
height = 190 + 26 * rows
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set tmargin at screen from_top(136)
set bmargin at screen from_top(height - 54)
set lmargin at screen 0.36
set rmargin at screen 0.97
set yrange [rows + 0.6 : 0.4]
set xrange [0 : *]
unset ytics
set border 1
unset key
of(q, x) = column(1) == q ? column(x) : NaN
do for [q = 1:quantities] {
	x = 0.36 + 0.6 / (quantities > 3 ? quantities : 3) * (q - 1)
	set label 20 + q '' at screen x, from_top(112) point linetype q pointsize 1.1 * point
	set label 40 + q value('name'.q) at screen x + 0.012, from_top(112) left noenhanced font small
}
do for [i = 1:rows] {
	set label 200 + i value('row'.i) at screen 0.35, first i right noenhanced font small
}
set label 60 'µs' at graph 0.5, screen from_top(height - 16) center
apart = quantities > 3 ? 0.13 : 0.16
plot for [q = 1:quantities] points using (of(q, 3)):(column(2) + apart * (q - 1)):4:5 skip 1 \
	with xerrorbars linetype q dashtype solid pointsize 1.0 * point linewidth 1.2
eval done
