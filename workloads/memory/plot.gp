# plot.gp - what taking memory and giving it back costs, over its size; app_plot.c sets
#   sizes    columns series, bytes, take_us, take_p99_us, give_us, give_p99_us; series 1 cudaMalloc,
#            2 cudaMallocAsync, 3 the same from an empty pool, 4 cudaMallocHost, 5 cudaHostRegister,
#            6 and 7 touch of device and host memory: take the first, give the next
#   misses   1: there is series 3
#   title, finding, made1, made2   texts
height = 520
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set multiplot
of(k, x) = column(1) == k ? column(x) : NaN
set logscale xy
set format y '%h'
set xrange [0.6:4e9]
set xtics ('1' 1, '64' 64, '4k' 4096, '64k' 65536, '16M' 16777216, '1G' 1073741824)
stats sizes using 3 skip 1 nooutput
most = STATS_max
stats sizes using 5 skip 1 nooutput
least = STATS_min
set yrange [(least > 0.01 ? least : 0.01) / 1.5 : most * 60] # the key has room above
set ytics ('10 ns' 0.01, '100 ns' 0.1, '1 µs' 1, '10 µs' 10, '100 µs' 100, '1 ms' 1e3, '10 ms' 1e4, '100 ms' 1e5, '1 s' 1e6)
set key at graph 0.02, graph 0.99 left top samplen 1.8 spacing 1.1

titles = '"cudaMalloc" "cudaMallocAsync" "from an empty pool" "cudaMallocHost" ' . \
	'"cudaHostRegister" "device memory" "host memory"'
look(k) = k == 7 ? 2 : k == 6 ? 1 : k

array heads[3] = ['memory of the device', 'memory of the host', 'touched first, and again']
array first[3] = [1, 4, 6]
array last[3] = [misses ? 3 : 2, 5, 7]
do for [panel = 1:3] {
	set lmargin at screen 0.085 + 0.3 * (panel - 1)
	set rmargin at screen 0.085 + 0.3 * (panel - 1) + 0.285
	set tmargin at screen from_top(140)
	set bmargin at screen from_top(height - 66)
	set label 30 heads[panel] at graph 0, 1.05 left
	set label 31 'bytes' at graph 0.5, screen from_top(height - 18) center
	if (panel == 2) { set format y ''; set ytics (0.01, 0.1, 1, 10, 100, 1e3, 1e4, 1e5, 1e6) }
	plot for [k = first[panel]:last[panel]] sizes using (of(k, 2)):4 skip 1 with lines \
			linetype look(k) linewidth 1 dashtype (1, 4), \
		for [k = first[panel]:last[panel]] sizes using (of(k, 2)):5 skip 1 with linespoints \
			linetype look(k) linewidth 1 pointtype 6 pointsize point, \
		for [k = first[panel]:last[panel]] sizes using (of(k, 2)):3 skip 1 with linespoints \
			linetype look(k) pointsize point title word(titles, k)
	do for [k = 101:104] { unset label k }
}
unset multiplot
eval done
