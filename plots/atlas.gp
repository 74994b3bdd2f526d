# atlas.gp - layers against one base; harness/chart/atlas_chart.c sets
#   rows, rowN             names, from the top
#   panels, headN, ownN    how many; what each shows; what the base has
#   nothingN               where there is no difference
#   leastN, mostN, stepN   of its axis
#   words, wordN, word_panelN, word_rowN, word_farN   what stands where there is no dot; far: its
#       value, which is beyond the axis
#   title, finding, made1, made2   texts
#   cells   columns panel, row, value, lo, hi, resolved, processes, unit, what, state, name
across = panels < 4 ? panels : 4
bands = (panels + across - 1) / across
tall = 26
top = 100
head = 46
foot = 42
band = head + tall * rows + foot
height = top + bands * band
from_top(pixels) = 1 - pixels / (1.0 * height)
left = 0.23
wide = (0.985 - left) / across
eval page(900, height)
eval heading(height)
set multiplot
set border 1
set grid xtics noytics
unset ytics
unset key
set yrange [rows - 0.5 : -0.5]
set format x '%g'
set xtics font small
in(p, x) = column(1) == p ? column(x) : NaN
bound(x) = valid(x) ? column(x) : column(3) # of an interval, where it is known
dot(p, resolved) = column(6) == resolved ? in(p, 3) : NaN
do for [k = 1:panels] {
	b = (k - 1) / across
	x = left + wide * ((k - 1) % across)
	y = top + b * band + head
	set tmargin at screen from_top(y)
	set bmargin at screen from_top(y + tall * rows)
	set lmargin at screen x + 0.012
	set rmargin at screen x + wide - 0.012
	set xrange [value('least'.k) : value('most'.k)]
	set xtics value('nothing'.k) - 100 * value('step'.k), value('step'.k)
	set label 1 value('head'.k) at screen x + 0.012, from_top(y - 26) left noenhanced font medium
	set label 2 value('own'.k) at screen x + 0.012, from_top(y - 11) left noenhanced font small \
		textcolor rgb faint
	set arrow 1 from value('nothing'.k), graph 0 to value('nothing'.k), graph 1 nohead back \
		linecolor rgb ink linewidth 1.4
	do for [i = 1:rows] {
		if ((k - 1) % across == 0) {
			set label 10 + i value('row'.i) at screen left, first i - 1 right noenhanced font small
		} else { unset label 10 + i }
	}
	do for [i = 1:words] {
		if (value('word_panel'.i) == k) {
			set label 10 + rows + i value('word'.i) at graph 0.5, first value('word_row'.i) center \
				font small textcolor rgb (value('word_far'.i) ? 0x0072b2 : 0x6b6b6b)
		} else { unset label 10 + rows + i }
	}
	plot cells using (valid(3) ? in(k, 3) : NaN):2:(bound(4)):(bound(5)) skip 1 with xerrorbars \
			pointtype 0 linewidth 2 linecolor rgb '#7f7f7f' dashtype solid, \
		cells using (dot(k, 1)):2 skip 1 with points pointtype 7 pointsize 1.2 * point \
			linecolor rgb '#0072b2', \
		cells using (dot(k, 0)):2 skip 1 with points pointtype 6 pointsize 1.2 * point \
			linewidth 1.6 linecolor rgb '#7f7f7f'
	do for [i = 101:104] { unset label i }
}
unset multiplot
eval done
