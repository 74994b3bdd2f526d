# profile_timeline.gp - how busy host and device are, above threads, streams, idle times and ranges of a
# program; harness/profile/profile_chart.c sets
#   rows, rowN        how many, and their names: threads, streams, the device's idle times, ranges
#   shares, shareN    kinds of time, which are the colours, and their names
#   from, to, unit    what is drawn; note   what is not
#   title, finding, made1, made2   texts
#   boxes   columns t0, t1, row, share
#   busy    columns t, host, device: from 0 to 1
#   spans   columns t0, t1, row, shade, name
height = 300 + 34 * rows
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
colour(k) = word('#009e73 #0072b2 #56b4e9 #222222 #d55e00 #7f0000 #cc79a7 #8c564b #999999 #f0e442 #e69f00 #dddddd', k + 1)
shade(k) = word('#c6dbef #fdd0a2 #c7e9c0', k + 1)
# The curves have the place of three rows, above the first one.
level(busy) = -0.75 - 1.9 * busy
set tmargin at screen from_top(140)
set bmargin at screen from_top(height - 66)
set lmargin at screen 0.12
set rmargin at screen 0.98
set border 1
set xrange [from : to]
set yrange [rows - 0.5 : -2.85]
unset ytics
set grid noytics
set xtics font small
set label 10 'time ('.unit.')' at graph 0.5, screen from_top(height - 22) center noenhanced
do for [i = 0 : rows - 1] {
	set label 20 + i value('row'.i) at graph -0.01, first i right noenhanced font small
}
set label 91 'busy: 100 %' at graph -0.01, first level(1) right noenhanced font small
set label 92 'host' at graph -0.01, first level(0.66) right noenhanced font small textcolor rgb '#e69f00'
set label 93 'device' at graph -0.01, first level(0.33) right noenhanced font small textcolor rgb '#009e73'
set label 94 '0 %' at graph -0.01, first level(0) right noenhanced font small
# The key, in two lines.
do for [k = 0 : shares - 1] {
	x = 0.12 + 0.145 * (k % 6)
	y = 104 + 18 * (k / 6)
	set object 40 + k rectangle from screen x, from_top(y + 5) to screen x + 0.012, from_top(y - 5) \
		fillcolor rgb colour(k) fillstyle solid noborder
	set label 60 + k value('share'.k) at screen x + 0.017, from_top(y) left noenhanced font small
}
set label 90 note at screen 0.98, from_top(height - 22) right noenhanced font small textcolor rgb faint
set style fill solid noborder
plot level(0) with lines dashtype solid linecolor rgb '#dddddd' notitle, \
	level(1) with lines dashtype solid linecolor rgb '#dddddd' notitle, \
	busy using 1:(level($2)) skip 1 with lines dashtype solid linewidth 1.5 linecolor rgb '#e69f00' notitle, \
	busy using 1:(level($3)) skip 1 with lines dashtype solid linewidth 1.5 linecolor rgb '#009e73' notitle, \
	for [k = 0 : shares - 1] boxes using ($4 == k ? ($1 + $2) / 2 : NaN):3:1:2:($3 - 0.36):($3 + 0.36) \
	skip 1 with boxxyerror linecolor rgb colour(k), \
	for [k = 0 : 2] spans using ($4 == k ? ($1 + $2) / 2 : NaN):3:1:2:($3 - 0.36):($3 + 0.36) \
	skip 1 with boxxyerror linecolor rgb shade(k), \
	spans using (($1 + $2) / 2):3:5 skip 1 with labels noenhanced font small
eval done
