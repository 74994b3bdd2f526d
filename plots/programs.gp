# programs.gp - layers by programs; harness/chart/atlas_chart.c sets
#   rows, rowN             layers, from the top
#   columns, columnN       programs, from the left
#   panels, depthN         one for each depth, one below the other
#   kindN                  kernels, copies and allocations of a step of program N
#   shallowN, deepN        what a step of program N takes on the base, in the first panel and the second
#   title, finding, made1, made2   texts
#   cells   columns panel, column, row, ratio, lo, hi, label, state, workload
tall = 24
top = 200
between = 58
bottom = 52
left = 0.15
height = top + bottom + panels * rows * tall + (panels - 1) * between
from_top(pixels) = 1 - pixels / (1.0 * height)
from_foot(pixels) = pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set multiplot
set lmargin at screen left
set rmargin at screen 0.985
unset grid
unset key
unset tics
set border 0
set xrange [-0.5 : columns - 0.5]
set yrange [rows - 0.5 : -0.5]

# Red is longer, blue is shorter; the same share of colour for twice and for half.
set logscale cb
set cbrange [0.125 : 8]
set palette defined (0 '#2166ac', 1 '#67a9cf', 2 '#d1e5f0', 3 '#f7f7f7', 4 '#fddbc7', 5 '#ef8a62', 6 '#b2182b')
unset colorbox
shade(ratio) = ratio < 0.125 ? 0.125 : ratio > 8 ? 8 : ratio
ink_on(ratio) = ratio > 4.5 || ratio < 0.22 ? 0xffffff : 0x000000
set style fill solid 1 noborder
in(p, x) = column(1) == p ? column(x) : NaN

do for [p = 0:panels - 1] {
	y = top + p * (rows * tall + between)
	set tmargin at screen from_top(y)
	set bmargin at screen from_top(y + rows * tall)
	set label 5 'depth '.value('depth'.(p + 1)) at screen 0.014, from_top(y - 12) left font medium
	do for [i = 1:columns] {
		if (p == 0) {
			set label 10 + i value('column'.i) at first i - 1, screen from_top(y - 44) \
				left rotate by 35 noenhanced font small
			set label 60 + i value('kind'.i) at first i - 1, screen from_top(y - 28) \
				center noenhanced font small textcolor rgb faint
		}
		set label 40 + i value((p == 0 ? 'shallow' : 'deep').i) at first i - 1, screen from_top(y - 12) \
			center noenhanced font small textcolor rgb faint
	}
	do for [i = 1:rows] {
		set label 80 + i value('row'.i) at screen left - 0.008, first i - 1 right noenhanced font small
	}
	if (p == panels - 1) {
		set colorbox horizontal user origin screen 0.4, screen from_foot(28) size screen 0.3, screen 10.0 / height
		set cbtics ('1/8' 0.125, '1/4' 0.25, '1/2' 0.5, '1' 1, '2' 2, '4' 4, '8 times' 8) scale 0 font small offset 0, 0.5
	}
	plot cells using (strcol(8) eq 'known' ? in(p, 2) : NaN):3:(0.485):(0.46):(shade(column(4))) skip 1 \
			with boxxyerror linecolor palette, \
		cells using (strcol(8) eq 'known' ? in(p, 2) : NaN):3:7:(ink_on(column(4))) skip 1 \
			with labels font small textcolor rgb variable, \
		cells using (strcol(8) eq 'known' ? NaN : in(p, 2)):3:7 skip 1 \
			with labels font small textcolor rgb faint
	unset label
}
unset multiplot
eval done
