# share_matrix.gp - who hurts whom, two clients on a GPU; harness/share/across_chart.c sets
#   workloads, nameN               how many; their names, of rows and columns
#   title, finding, made1, made2   texts
#   cells   columns column, row, slowdown, least, most, label
tall = workloads < 5 ? 62 : 40
top = 150
bottom = 66
height = top + bottom + workloads * tall
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set tmargin at screen from_top(top)
set bmargin at screen from_top(top + workloads * tall)
set lmargin at screen 0.22
set rmargin at screen 0.97
unset grid
unset key
unset colorbox
set border 0
set tics scale 0
set xrange [-0.5 : workloads - 0.5]
set yrange [workloads - 0.5 : -0.5]
set xtics (name1 0) font small
set ytics (name1 0) font small
do for [i = 2:workloads] {
	set xtics add (value('name'.i) i - 1)
	set ytics add (value('name'.i) i - 1)
}
# One hue: 1 is light, the ideal share of 2 in the middle, 4 and more dark.
set logscale cb
set cbrange [1 : 4]
set palette defined (0 '#f7fbff', 1 '#c6dbef', 2 '#6baed6', 3 '#2171b5', 4 '#08306b')
shade(x) = x < 1 ? 1 : x > 4 ? 4 : x
ink_on(x) = x < 2.2 ? 0x000000 : 0xffffff
set style fill solid 1 noborder
set label 60 'this one ...' at screen 0.014, from_top(top - 14) left font small
set label 61 '... beside this one' at graph 0.5, screen from_top(height - 18) center font small
plot cells using 1:2:(0.485):(0.47):(shade(column(3))) skip 1 with boxxyerror linecolor palette, \
	cells using 1:2:6:(ink_on(column(3))) skip 1 with labels font medium textcolor rgb variable
eval done
