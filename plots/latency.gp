# latency.gp - left: a sample of the smallest kernels against its depth; right: a step against the
# length of its kernels, at one depth; harness/chart/latency.c sets
#   series, sides          how many; of series N:
#   titleN, lookN, sideN   its name, line type of its mode, 0 or 1 for platform A or B
#   smallest, depth, size  what the left panel is of; depth and axis of the right one
#   shallowest, deepest, shortest, longest   ends of the two axes
#   crossing               depth from which on a graph is faster than a stream; 0: none
#   with_depths, with_lengths   1: the left panel is there, the right one is
#   nominal                1: sizes are durations
#   fitted_depths, fitted_lengths   how many fitted lines each panel has
#   ideal                  1: one of them is what is ideal
#   fit                    what is said of the fitted lines
#   title, finding, made1, made2   texts
#   depths        columns series, depth, block_us, block_us_lo, block_us_hi
#   lengths       columns series, length, step_us, step_us_lo, step_us_hi
#   depth_lines, length_lines   fitted: series, depth or length, us; series 0: ideal
height = 610
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set multiplot
set tmargin at screen from_top(176)
set bmargin at screen from_top(height - 72)
set logscale xy
set format y '%h'
of(k, x) = column(1) == k ? column(x) : NaN
bound(x) = valid(x) ? column(x) : column(3) # of an interval, where it is known

# B has hollow points and thin lines.
look(k) = value('look'.k)
shape(k) = word('7 5 9 6 4 8', look(k) + 3 * value('side'.k)) + 0
width(k) = value('side'.k) ? 1.1 : 2.2

# The key, one for both panels: a line for each platform.
do for [k = 1:series] {
	x = 0.085 + 0.2 * (look(k) - 1)
	y = from_top(108 + 20 * value('side'.k))
	set arrow k from screen x, y rto screen 0.05, 0 nohead linetype look(k) linewidth width(k)
	set label k value('title'.k) at screen x + 0.06, y left noenhanced
	set label 20 + k '' at screen x + 0.025, y point linetype look(k) pointtype shape(k) \
		pointsize 1.1 * point linewidth 1.4
}
set label 50 fit at screen 0.965, from_top(108) right font small textcolor rgb faint

if (with_depths) {
	stats depths using 3 skip 1 nooutput
	set ytics autofreq
	if (STATS_max < 50 * STATS_min) { # powers of ten alone would be few
		do for [i = -3:7] { set ytics add (10.0**i, 2 * 10.0**i, 5 * 10.0**i) }
	}
	if (STATS_max < 4 * STATS_min) {
		do for [i = -3:7] { set ytics add (3 * 10.0**i, 4 * 10.0**i, 6 * 10.0**i, 8 * 10.0**i, \
			12 * 10.0**i, 15 * 10.0**i) }
	}
	set lmargin at screen 0.085
	set rmargin at screen with_lengths ? 0.475 : 0.965
	set label 51 'a sample, '.smallest.': time (µs)' at graph 0, 1.04 left noenhanced
	set label 53 'depth: steps before a synchronize' at graph 0.5, screen from_top(height - 18) center
	set xrange [shallowest / 1.2 : deepest * 1.25]
	set xtics (1, 4, 16, 64, 256, '1k' 1024, '4k' 4096, '16k' 16384, '64k' 65536)
	if (crossing > shallowest) {
		set arrow 51 from crossing, graph 0 to crossing, graph 1 nohead linecolor rgb faint \
			dashtype (2, 3) linewidth 1.4
		if (crossing * crossing < shallowest * deepest) {
			set label 52 sprintf(' graph faster from %d on', crossing) at crossing, graph 0.96 \
				left font small textcolor rgb faint
		} else {
			set label 52 sprintf('graph faster from %d on ', crossing) at crossing, graph 0.96 \
				right font small textcolor rgb faint
		}
	}
	paths = fitted_depths ? depth_lines : depths # gnuplot has a word to say about a file without data
	plot for [k = 1:series] paths using (fitted_depths ? of(k, 2) : NaN):3 skip 1 \
			with lines linetype look(k) linewidth width(k), \
		for [k = 1:series] depths using (valid(4) ? of(k, 2) : NaN):3:(bound(4)):(bound(5)) \
			skip 1 with yerrorbars linetype look(k) pointtype shape(k) pointsize 1.1 * point \
			linewidth 1.2 dashtype solid, \
		for [k = 1:series] depths using (of(k, 2)):3 skip 1 with points linetype look(k) \
			pointtype shape(k) pointsize 1.1 * point linewidth 1.4
	unset label
	unset arrow
}
if (with_lengths) {
	set xrange [*:*] # stats takes what is within
	stats lengths using 3 skip 1 nooutput
	set ytics autofreq
	if (STATS_max < 50 * STATS_min) { # powers of ten alone would be few
		do for [i = -3:7] { set ytics add (10.0**i, 2 * 10.0**i, 5 * 10.0**i) }
	}
	if (STATS_max < 4 * STATS_min) {
		do for [i = -3:7] { set ytics add (3 * 10.0**i, 4 * 10.0**i, 6 * 10.0**i, 8 * 10.0**i, \
			12 * 10.0**i, 15 * 10.0**i) }
	}
	set lmargin at screen with_depths ? 0.575 : 0.085
	set rmargin at screen 0.965
	set label 51 'a step, in samples of '.depth.': time (µs)' at graph 0, 1.04 left
	set label 53 size at graph 0.5, screen from_top(height - 18) center noenhanced
	if (ideal) {
		set label 54 'grey: ideal' at graph 0.98, graph 0.04 right font small \
			textcolor rgb faint
	}
	set xrange [shortest / 1.2 : longest * 1.25]
	set xtics autofreq
	set format x '%h'
	if (!nominal && longest > 100 * shortest) { # sizes are powers of two
		if (longest > 1e5 * shortest) {
			set xtics (1, 64, '4k' 4096, '256k' 262144, '16M' 16777216, '1G' 1073741824)
		} else {
			set xtics (1, 4, 16, 64, 256, '1k' 1024, '4k' 4096, '16k' 16384, '64k' 65536, \
				'256k' 262144, '1M' 1048576, '4M' 4194304, '16M' 16777216, '64M' 67108864)
		}
	}
	paths = fitted_lengths ? length_lines : lengths
	plot paths using (ideal ? of(0, 2) : NaN):3 skip 1 \
			with lines linecolor rgb faint linewidth 1 dashtype solid, \
		for [k = 1:series] paths using (fitted_lengths ? of(k, 2) : NaN):3 skip 1 \
			with lines linetype look(k) linewidth width(k), \
		for [k = 1:series] lengths using (valid(4) ? of(k, 2) : NaN):3:(bound(4)):(bound(5)) \
			skip 1 with yerrorbars linetype look(k) pointtype shape(k) pointsize 1.1 * point \
			linewidth 1.2 dashtype solid, \
		for [k = 1:series] lengths using (of(k, 2)):3 skip 1 with points linetype look(k) \
			pointtype shape(k) pointsize 1.1 * point linewidth 1.4
}
unset multiplot
eval done
