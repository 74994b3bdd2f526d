# model.gp - programs under the presets of a layer that emulates others; bench/accept.sh wsl2 sets
#   rows, rowN, nativeN   how many programs there are; what each is called; its step without a layer
#   presets, presetN, styleN   how many presets; their names; each one's points, in all pictures alike
#   least, most         what the axis shows
#   title, finding, made1, made2   texts
#   points              columns row, preset, ratio, from, to
top = 136
height = top + 74 + 54 * rows
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set tmargin at screen from_top(top)
set bmargin at screen from_top(height - 62)
set lmargin at screen 0.32
set rmargin at screen 0.97
set logscale x
set format x '%g'
range = most / least
set xtics (1)
if (range < 1.2) { do for [i = -20:20] { set xtics add (1 + 0.01 * i) } }
if (range >= 1.2 && range < 2.5) { set xtics add (0.8, 0.9, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5) }
if (range >= 2.5) { set xtics add (0.7, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100) }
set xrange [(least < 0.98 ? least / 1.03 : 0.98) : (most < 1.02 ? 1.02 : most * 1.05)]
set yrange [rows + 0.5 : 0.5]
set ytics ()
set arrow 1 from first 1, graph 0 to first 1, graph 1 nohead back linecolor rgb faint linewidth 1.4
do for [i = 1:rows] { set ytics add (value('row'.i).' ('.value('native'.i).')' i) }
set xlabel 'time of a step over native, whose time is in parentheses'
shape(k) = word('7 5 9 11 13 15 6', value('style'.k)) + 0
colour(k) = (value('style'.k) - 1) % 6 + 1
do for [k = 1:presets] {
	x = 0.32 + 0.13 * (k - 1)
	set label 20 + k '' at screen x, from_top(112) point linetype colour(k) pointtype shape(k) \
		pointsize 1.1 * point linewidth 1.4
	set label 40 + k value('preset'.k) at screen x + 0.012, from_top(112) left noenhanced font small
}
unset key
plot for [k = 1:presets] points \
	using (column(2) == k ? column(3) : NaN):(column(1) + 0.13 * (k - 0.5 * (presets + 1))):4:5 skip 1 \
	with xerrorbars linetype colour(k) pointtype shape(k) pointsize 1.1 * point linewidth 1.2 dashtype solid
eval done
