# stack.gp - where the time of a step goes, a bar a sample; harness/chart/stack.c sets
#   bars, barN, totalN     how many; names from the top; time per step
#   modeN                  number of a bar's mode: where it changes there is some room
#   title, finding, made1  texts
#   notes, noteN           what is part of what
#   parts   columns bar, part, from_percent, to_percent, ns, name
# Order and colours of the parts are the same everywhere: Okabe and Ito's, other grey.
array Name[7] = ['kernel', 'gap', 'submission', 'sync', 'transfer', 'allocation', 'other']
array Colour[7] = [0x0072b2, 0x56b4e9, 0xd55e00, 0xe69f00, 0x009e73, 0xcc79a7, 0x999999]
array On[7] = [0xffffff, 0x000000, 0xffffff, 0x000000, 0xffffff, 0x000000, 0x000000]
modes = 1
array Place[bars] # of each bar, from the top
do for [i = 1:bars] {
	if (i > 1 && value('mode'.i) != value('mode'.(i > 1 ? i - 1 : 1))) { modes = modes + 1 }
	Place[i] = i - 1 + 0.5 * (modes - 1)
}
tall = 24
top = 134
bottom = 46 + 15 * notes
rows = bars + 0.5 * (modes - 1)
height = top + bottom + tall * (rows < 4 ? 4 : rows)
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
made2 = ''
eval heading(height)
set tmargin at screen from_top(top)
set bmargin at screen bottom / (1.0 * height)
set lmargin at screen 0.325
set rmargin at screen 0.88
set border 1
unset ytics
set grid xtics noytics
stats parts using 4 skip 1 nooutput
least = 0 # what is below 0 stands in the notes
most = STATS_max > 100.5 ? STATS_max * 1.02 : 100
set xrange [least : most]
set yrange [rows - 0.5 : -0.5]
set xtics add 0, 20
if (most - least > 300) { set xtics add -1000, 100 }
set format x '%h %%'
set xtics font medium
do for [i = 1:bars] {
	set label i value('bar'.i) at screen 0.315, first Place[i] right noenhanced font medium
	set label 100 + bars + i value('total'.i) at screen 0.89, first Place[i] left font medium
}
set label 99 'a step' at screen 0.89, from_top(top - 10) left font small textcolor rgb faint
# The key.
do for [k = 1:7] {
	x = 0.014 + 0.137 * (k - 1)
	set object k rectangle from screen x, from_top(110) to screen x + 0.022, from_top(97) \
		fillcolor rgb Colour[k] fillstyle solid noborder
	set label 80 + k Name[k] at screen x + 0.028, from_top(103) left font small
}
do for [k = 1:notes] {
	set label 90 + k value('note'.k) at screen 0.014, (15.0 * (notes - k) + 14) / height \
		left noenhanced font small textcolor rgb faint
}
set style fill solid 1 border rgb 'white'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead front linecolor rgb ink linewidth 1
of(k, x) = column(2) == k ? column(x) : NaN
place(b) = Place[int(b) + 1]
wide(k) = abs(of(k, 4) - column(3)) >= 0.05 * (most - least)
plot for [k = 1:7] parts using (of(k, 3)):(place(column(1))):3:4:(place(column(1)) - 0.38): \
		(place(column(1)) + 0.38) skip 1 with boxxyerror linecolor rgb Colour[k] linewidth 0.6 \
		dashtype solid, \
	for [k = 1:7] parts using (wide(k) ? (column(3) + column(4)) / 2 : NaN): \
		(place(column(1))):(sprintf('%.0f', column(4) - column(3))) skip 1 with labels \
		font small textcolor rgb On[k]
eval done
