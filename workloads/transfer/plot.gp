# plot.gp - copies over their size, and a large one in blocks; app_plot.c sets
#   sizes    columns kind, bytes, copy_us, call_us, GB_per_s, fitted_us; kinds 1 to 3 are to the
#            device (pinned, pageable, registered), 4 to 6 to the host, 7 within the device
#   blocks   columns series, block_bytes, copy_us, over_whole; series 1 to the device, 2 to the host
#   title, finding, made1, made2   texts
height = 800
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set multiplot
of(k, x) = column(1) == k ? column(x) : NaN
look(k) = k == 7 ? 4 : (k - 1) % 3 + 1

# One key for all panels.
array names[4] = ['pinned', 'pageable', 'registered', 'within the device']
do for [k = 1:4] {
	x = 0.085 + 0.17 * (k - 1)
	set arrow k from screen x, from_top(110) rto screen 0.04, 0 nohead linetype k
	set label k names[k] at screen x + 0.05, from_top(110) left
}

set logscale xy
set format y '%h'
set xtics ('4' 4, '64' 64, '1k' 1024, '16k' 16384, '256k' 262144, '4M' 4194304, '64M' 67108864, \
	'1G' 1073741824)
set xrange [3:*]
set tmargin at screen from_top(160)
set bmargin at screen from_top(430)
stats sizes using 3 skip 1 nooutput
most = STATS_max
stats sizes using 4 skip 1 nooutput
set yrange [STATS_min / 1.5 : most * 1.5]
set ytics ('10 ns' 0.01, '100 ns' 0.1, '1 µs' 1, '10 µs' 10, '100 µs' 100, '1 ms' 1e3, \
	'10 ms' 1e4, '100 ms' 1e5, '1 s' 1e6)
do for [side = 0:1] {
	first = side ? 4 : 1
	last = side ? 7 : 3
	set lmargin at screen side ? 0.575 : 0.085
	set rmargin at screen side ? 0.965 : 0.475
	set label 30 side ? 'to the host, and within the device: time' : \
		'host to device: time' at graph 0, 1.06 left
	plot for [k = first:last] sizes using (of(k, 2)):6 skip 1 with lines linetype look(k) \
			linewidth 1.2 dashtype solid, \
		for [k = first:last] sizes using (of(k, 2)):4 skip 1 with lines linetype look(k) \
			linewidth 1.2 dashtype (1, 4), \
		for [k = first:last] sizes using (of(k, 2)):3 skip 1 with points linetype look(k) \
			pointsize point
	do for [k = 1:4] { unset arrow k; unset label k }
	do for [k = 101:104] { unset label k }
}

set tmargin at screen from_top(500)
set bmargin at screen from_top(height - 66)
set lmargin at screen 0.085
set rmargin at screen 0.475
set yrange [*:*]
set ytics autofreq
set offsets 0, 0, graph 0.04, 0
set label 30 'rate (GB/s); hollow: to the host' at graph 0, 1.06 left
set label 31 'bytes of a copy' at graph 0.5, screen from_top(height - 18) center
hollow(k) = k > 3 && k < 7 ? 1 : 0
shape(k) = word('7 5 9 11 6 4 8', look(k) + 4 * hollow(k)) + 0
plot for [k = 1:7] sizes using (of(k, 2)):5 skip 1 with linespoints linetype look(k) \
	linewidth 1.2 pointtype shape(k) pointsize point

set lmargin at screen 0.575
set rmargin at screen 0.965
unset logscale y
set yrange [0.9:*]
set xrange [65536 / 1.5:*]
set xtics ('64k' 65536, '256k' 262144, '1M' 1048576, '4M' 4194304, '16M' 16777216, '64M' 67108864, \
	'256M' 268435456)
set label 30 'pinned, in blocks: time over one copy' at graph 0, 1.06 left
set label 31 'bytes of a block' at graph 0.5, screen from_top(height - 18) center
set key at graph 0.98, graph 0.95 right top
plot 1 with lines linecolor rgb faint linewidth 1 dashtype solid, \
	for [k = 1:2] blocks using (of(k, 2)):4 skip 1 with linespoints linetype k \
		pointsize point title (k == 1 ? 'to the device' : 'to the host')
unset multiplot
eval done
