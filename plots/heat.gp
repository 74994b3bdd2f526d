# heat.gp - kernel size x depth, a panel a mode; harness/chart/heat.c sets
#   panels, modeN          what the panels are of, from the top
#   columns, depthN        what stands below a column
#   rows, sizeN, size      what stands left of a row; what sizes are
#   nominal                1: sizes are durations
#   what                   what the numbers are
#   margin                 (%) a dot says that a cell is not shown to differ by more
#   title, finding, made1, made2, made3   texts
#   cells   columns panel, column, row, percent, percent_lo, percent_hi, even, label
#   border  what the line around cells says
#   borders sides of cells, two points each: panel, column, row; bordered: how many there are
# of a row; few are taller, or the name of their axis runs into the title
tall = panels * rows < 4 ? 120 / (panels * rows) : rows < 6 ? 30 : 24
top = made3 eq '' ? 118 : 134
bottom = 104
between = 34
left = nominal ? 0.105 : 0.15
height = top + bottom + panels * rows * tall + (panels - 1) * between
from_top(pixels) = 1 - pixels / (1.0 * height)
from_foot(pixels) = pixels / (1.0 * height)

eval page(900, height)
eval heading(height)
set label 105 made3 at screen 0.014, from_top(98) left noenhanced font small
set multiplot
set lmargin at screen left
set rmargin at screen 0.985
unset grid
set border 0
set xrange [-0.5 : columns - 0.5]
set yrange [-0.5 : rows - 0.5]
set tics scale 0
set xtics ('' 0)
set ytics (size1 0)
do for [i = 2:rows] { set ytics add (value('size'.i) i - 1) }

# One hue, light where little is lost: what is dark in colour is dark in grey.
set logscale cb
set cbrange [1 : 1000]
unset colorbox
unset key
set palette defined (0 '#f7fbff', 1 '#deebf7', 2 '#c6dbef', 3 '#9ecae1', 4 '#6baed6', \
	5 '#4292c6', 6 '#2171b5', 7 '#08519c', 8 '#08306b')
shade(percent) = percent < 1 ? 1 : percent > 1000 ? 1000 : percent
# Numbers are black, and white where it is dark. All in one go: labels of which not one is drawn
# end gnuplot 5.4 by a signal, if they are of a file of one line.
ink_on(percent) = percent < 120 ? 0x000000 : 0xffffff
set style fill solid 1 noborder
in(p, x) = column(1) == p ? column(x) : NaN
sides = bordered ? borders : cells # gnuplot has a word to say about a file without data
side(p) = bordered ? in(p, 2) : NaN

set label 4 size at screen 0.018, 0.5 * (from_top(top) + from_foot(bottom)) center rotate
# The key, in a line at the foot.
foot = from_foot(26)
set label 11 what at screen 0.262, foot right font small
set label 12 border at screen 0.545, foot left font small
set arrow 1 from screen 0.505, foot rto screen 0.03, 0 nohead linetype 2 dashtype solid
set label 15 sprintf('not shown to exceed %d %%', margin) at screen 0.805, foot left font small
set label 16 '' at screen 0.795, foot point pointtype 7 pointsize 0.45 * point linecolor rgb ink

do for [p = 0:panels - 1] {
	set tmargin at screen from_top(top + p * (rows * tall + between))
	set bmargin at screen from_top(top + p * (rows * tall + between) + rows * tall)
	set label 5 value('mode'.(p + 1)) at graph 0, graph 1 offset 0, 0.6 left
	if (p == panels - 1) {
		set xtics (depth1 0)
		do for [i = 2:columns] { set xtics add (value('depth'.i) i - 1) }
		set label 6 'depth: steps before a synchronize' at graph 0.5, screen from_foot(56) center
		set colorbox horizontal user origin screen 0.275, screen from_foot(22) \
			size screen 0.2, screen 10.0 / height
		set cbtics (1, 10, 100, 1000) font small offset 0, 0.5
	}
	plot cells using (in(p, 2)):3:(0.485):(0.47):(shade(column(4))) skip 1 \
			with boxxyerror linecolor palette, \
		sides using (side(p)):3 skip 1 with lines linetype 2 linewidth 2.6 dashtype solid, \
		cells using (in(p, 2)):3:8:(ink_on(column(4))) skip 1 \
			with labels font medium textcolor rgb variable, \
		cells using (column(7) > 0.5 ? in(p, 2) + 0.5 - 0.012 * columns : NaN):(column(3) + 0.3) \
			skip 1 with points pointtype 7 pointsize 0.45 * point linecolor rgb ink
	unset label # once is enough
	unset arrow
}
unset multiplot
eval done
