# copied.gp - left: time of a step over the bytes it copies, linear; right: how far off the line;
# harness/chart/copied.c sets
#   lines, nameN           how many; of line N: its name
#   fixedN, slopeN         us, and us for a byte
#   title, finding, made1, made2   texts
#   points   columns line, bytes, step_us, step_us_lo, step_us_hi, line_us, off_percent
height = 500
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set multiplot
set tmargin at screen from_top(160)
set bmargin at screen from_top(height - 66)
of(k, x) = column(1) == k ? column(x) : NaN
bound(x) = valid(x) ? column(x) : column(3) # of an interval, where it is known
shape(k) = word('7 5 9 11', k) + 0
do for [k = 1:lines] {
	x = 0.085 + 0.22 * (k - 1)
	set arrow k from screen x, from_top(112) rto screen 0.05, 0 nohead linetype k linewidth 1.6
	set label k value('name'.k) at screen x + 0.06, from_top(112) left noenhanced
	set label 20 + k '' at screen x + 0.025, from_top(112) point linetype k pointtype shape(k) \
		pointsize 1.1 * point linewidth 1.4
}
stats points using 2 skip 1 name 'B' nooutput
stats points using 3 skip 1 name 'T' nooutput

# Units in which the largest number has two digits or more before the point.
large_bytes = B_max >= 1e9 ? 1e9 : B_max >= 1e6 ? 1e6 : 1e3
large_time = T_max >= 1e6 ? 1e6 : T_max >= 2e3 ? 1e3 : 1
set lmargin at screen 0.085
set rmargin at screen 0.475
set xrange [0 : B_max / large_bytes * 1.05]
set yrange [0 : T_max / large_time * 1.08]
set format '%h'
set label 51 sprintf('a step: time (%s)', \
	large_time == 1 ? 'µs' : large_time == 1e3 ? 'ms' : 's') at graph 0, 1.05 left
set label 53 sprintf('copied a step (%s)', \
	large_bytes == 1e9 ? 'GB' : large_bytes == 1e6 ? 'MB' : 'kB') at graph 0.5, \
	screen from_top(height - 18) center
line(k, x) = (value('fixed'.k) + value('slope'.k) * x * large_bytes) / large_time
plot for [k = 1:lines] line(k, x) with lines linetype k linewidth 1.6, \
	for [k = 1:lines] points using (valid(4) ? of(k, 2) / large_bytes : NaN): \
		(column(3) / large_time):(bound(4) / large_time):(bound(5) / large_time) skip 1 \
		with yerrorbars linetype k pointtype shape(k) pointsize 1.1 * point linewidth 1.2 \
		dashtype solid, \
	for [k = 1:lines] points using (of(k, 2) / large_bytes):(column(3) / large_time) skip 1 \
		with points linetype k pointtype shape(k) pointsize 1.1 * point linewidth 1.4
unset label
unset arrow

set lmargin at screen 0.575
set rmargin at screen 0.965
set logscale x
set xrange [*:*] # stats takes what is within
set yrange [*:*]
off(x) = valid(x) ? 100 * (column(x) / column(6) - 1) : column(7)
stats points using (off(4)):(off(5)) skip 1 name 'O' nooutput
most = abs(O_max_y) > abs(O_min_x) ? abs(O_max_y) : abs(O_min_x)
most = most > 1 ? 1.1 * most : 1.1
set xrange [B_min / 1e6 / 1.3 : B_max / 1e6 * 1.3]
set yrange [-most : most]
set label 51 'measured beside the line (%)' at graph 0, 1.05 left
set label 53 'copied a step (MB)' at graph 0.5, screen from_top(height - 18) center
set arrow 1 from graph 0, first 0 to graph 1, first 0 nohead back linecolor rgb ink linewidth 1.4
plot for [k = 1:lines] points using (valid(4) ? of(k, 2) / 1e6 : NaN):7:(off(4)):(off(5)) skip 1 \
		with yerrorbars linetype k pointtype shape(k) pointsize 1.1 * point linewidth 1.2 \
		dashtype solid, \
	for [k = 1:lines] points using (of(k, 2) / 1e6):7 skip 1 with points linetype k \
		pointtype shape(k) pointsize 1.1 * point linewidth 1.4
unset multiplot
eval done
