# plot.gp - V, cytosolic and stored calcium of a myocyte, one below the other; app_plot.c sets
#   curves, fileN, titleN   what to draw; columns t (ms), V (mV), Ca_i (uM), Ca_SR (mM)
#   title, finding, calcium, made   texts
#   span                    ms
#   fall                    1: V falls through `mark` mV at t_first and t_last, drawn larger where
#                           the right half of the panel has room for it
zoom = fall
do for [i = 1:curves] {
	if (zoom) {
		stats [0.45 * span:] value('file'.i) using 1:2 skip 1 nooutput
		zoom = STATS_max_y < -75 && t_last < 0.4 * span
	}
}
if (zoom) {
	wide = 1.25 * (t_last - t_first)
	pad = wide < 5 ? 5 : wide
}

eval page(900, 840)
set multiplot
set lmargin at screen 0.09
set rmargin at screen 0.965
set xrange [-0.01 * span : span] # the upstroke stands clear of the axis
set format x ''

set label 1 title at screen 0.014, 0.972 left noenhanced font large
set label 2 finding.calcium at screen 0.014, 0.938 left noenhanced font medium
set label 3 made at screen 0.014, 0.912 left noenhanced font small textcolor rgb faint
# names of axes and of curves where both formats have room: what counts in characters, as offsets
# and the key do, differs between them
set label 4 'membrane potential V (mV)' at screen 0.02, 0.6775 center rotate
set label 5 '[Ca^{2+}]_i (µM)' at screen 0.02, 0.375 center rotate
set label 6 '[Ca^{2+}]_{SR} (mM)' at screen 0.02, 0.165 center rotate
set label 7 'time since the stimulus began (ms)' at screen 0.531, 0.02 center
set tmargin at screen 0.855
set bmargin at screen 0.5
do for [i = 1:curves] {
	set arrow i from screen 0.3 * i - 0.2, 0.876 rto screen 0.04, 0 nohead linetype i
	set label 10 + i value('title'.i) at screen 0.3 * i - 0.145, 0.876 left noenhanced
}
set yrange [* < -95 : 55 < *]
set ytics 40
if (zoom) {
	set object 1 rectangle from t_first - pad, mark - 30 to t_last + pad, mark + 30 \
		fillstyle empty border rgb faint
	set object 2 rectangle from graph 0.4, 0.19 to graph 1.01, 1 \
		fillcolor rgb 'white' fillstyle noborder back
}
plot for [i = 1:curves] value('file'.i) using 1:2 skip 1 with lines linetype i
unset label
unset arrow
unset object

set tmargin at screen 0.465
set bmargin at screen 0.285
set yrange [0 : 0.4 < *]
set ytics 0.1
plot for [i = 1:curves] value('file'.i) using 1:3 skip 1 with lines linetype i

set tmargin at screen 0.255
set bmargin at screen 0.075
set yrange [* < 0.3 : 0.6 < *]
set format x '%g'
plot for [i = 1:curves] value('file'.i) using 1:4 skip 1 with lines linetype i

if (zoom) {
	set lmargin at screen 0.5
	set rmargin at screen 0.95
	set tmargin at screen 0.83
	set bmargin at screen 0.6
	set border 15 linecolor rgb faint
	set xrange [t_first - pad : t_last + pad]
	set yrange [mark - 30 : mark + 30]
	set xtics font small
	set ytics 20 font small
	set arrow 1 from graph 0, first mark to graph 1, first mark nohead linecolor rgb faint
	set arrow 2 from t_first, mark to t_last, mark heads filled size screen 0.008, 20 \
		front linecolor rgb ink linewidth 1.4
	set label 1 sprintf('%.1f ms', t_last - t_first) \
		at (t_first + t_last) / 2, mark center offset 0.7, -0.75 font medium front
	plot for [i = 1:curves] value('file'.i) using 1:2 skip 1 with lines linetype i
}
unset multiplot
eval done
