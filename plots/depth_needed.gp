# depth_needed.gp - how deep samples must be for an overhead of 5 %, by the length of kernels;
# harness/chart/depth_needed.c sets
#   sides, titleN, hasN    of series N = 3 * platform + mode (1 stream, 2 graph, 3 fused)
#   first, last, deepest   kernels (µs) and depth that were swept
#   floor, floor_of      kernels (µs) below which no depth is enough, by the fit; 0: none
#   title, finding, made1, made2   texts
#   points   columns series, kernel_us, depth, enough (0: even this depth is not)
#   lines    fitted: series, kernel_us, depth; fitted: how many rows
height = 550
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set tmargin at screen from_top(176)
set bmargin at screen from_top(height - 72)
set lmargin at screen 0.085
set rmargin at screen 0.965
set logscale xy
set xrange [first / 1.3 : last * 1.3]
set yrange [0.7 : deepest * 2.5]
set label 51 'depth needed for 5 % over ideal' at graph 0, 1.05 left
set label 53 'length of a kernel (µs)' at graph 0.5, screen from_top(height - 18) center
set ytics (1, 4, 16, 64, 256, '1k' 1024, '4k' 4096, '16k' 16384, '64k' 65536)
set format x '%g'
set xtics (1)
do for [i = -2:6] { set xtics add (10.0**i, 2 * 10.0**i, 5 * 10.0**i) }
of(k, x) = column(1) == k ? column(x) : NaN

# B has hollow points and thin lines. Points of equal kernels stand beside each other.
look(k) = (k - 1) % 3 + 1
shape(k) = word('7 5 9 6 4 8', k) + 0
width(k) = k > 3 ? 1.1 : 2.2
beside(k) = 1 + 0.02 * (look(k) - 2) + (k > 3 ? 0.01 : 0)

if (floor > 0) {
	set object 1 rectangle from graph 0, graph 0 to floor, graph 1 behind \
		fillstyle pattern 4 transparent noborder fillcolor rgb '#c8c8c8'
	set label 52 'no depth is enough ('.floor_of.')' at graph 0.01, graph 0.05 left font small \
		noenhanced front
}
do for [k = 1:3 * sides] {
	if (value('has'.k)) {
		x = 0.085 + 0.2 * (look(k) - 1)
		y = from_top(k > 3 ? 128 : 108)
		set arrow k from screen x, y rto screen 0.05, 0 nohead linetype look(k) \
			linewidth width(k)
		set label k value('title'.k) at screen x + 0.06, y left noenhanced
		set label 20 + k '' at screen x + 0.025, y point linetype look(k) pointtype shape(k) \
			pointsize 1.1 * point linewidth 1.4
	}
}
set label 30 'points: measured; arrows: deeper than was swept; lines: fitted' \
	at graph 1, 1.05 right font small textcolor rgb faint
paths = fitted ? lines : points # gnuplot has a word to say about a file without data
plot for [k = 1:3 * sides] paths using (fitted ? of(k, 2) : NaN):3 skip 1 \
		with lines linetype look(k) linewidth width(k), \
	for [k = 1:3 * sides] points using (column(4) > 0.5 ? beside(k) * of(k, 2) : NaN):3 skip 1 \
		with points linetype look(k) pointtype shape(k) pointsize 1.2 * point linewidth 1.4, \
	for [k = 1:3 * sides] points using (column(4) > 0.5 ? NaN : beside(k) * of(k, 2)):3:(0): \
		(column(3) * 0.7) skip 1 with vectors filled head size screen 0.01, 20 linetype look(k) \
		linewidth 1.4 dashtype solid
eval done
