# costs-atlas.gp - draws costs-atlas.png and costs-atlas.svg from the data files beside it.
# To draw them again, in this folder: gnuplot costs-atlas.gp (5.2 or newer)
# Written by rift 0.1.

name = 'costs-atlas'
device = 'NVIDIA H200'
made1 = 'base: NVIDIA H200, data/sessions/atlas-h200/none.jsonl.gz, n = 6, 2026-11-27'
title = 'copies, memory, cold start: what each of these adds to the base'
finding = 'dots: b − a, with 95 % intervals; hollow: not resolved; a number: beyond the axis'
made2 = 'cold start: from the command of a process to a device that answers; each panel has an axis of its own'
rows = 16
panels = 6
row1 = 'none'
row2 = 'shim'
row3 = 'container'
row4 = 'cpu-50'
row5 = 'cpu-100'
row6 = 'MPS'
row7 = 'CUPTI'
row8 = 'HAMi-O0'
row9 = 'HAMi-O2'
row10 = 'nvshare'
row11 = 'vgpu-manager'
row12 = 'Lupine'
row13 = 'remote'
row14 = 'neighbour-copy'
row15 = 'neighbour-launch'
row16 = 'neighbour-spin'
head1 = 'copy to device (ms)'
own1 = 'base: 6.8 µs, 4 B'
nothing1 = 0.0
least1 = -0.20480579047074174
most1 = 2.7577077149592184
step1 = 1.0
head2 = 'rate to device (GB/s)'
own2 = 'base: 51.8 GB/s'
nothing2 = 0.0
least2 = -56.107510215066554
most2 = 15.27367773269069
step2 = 20.0
head3 = 'copy to host (µs)'
own3 = 'base: 8.4 µs, 4 B'
nothing3 = 0.0
least3 = -1.3139160780642256
most3 = 6.1562123484613291
step3 = 2.0
head4 = 'rate to host (GB/s)'
own4 = 'base: 53.2 GB/s'
nothing4 = 0.0
least4 = -57.159329626365022
most4 = 6.6876643471613502
step4 = 20.0
head5 = 'allocation (ms)'
own5 = 'base: 129 µs, 4.00 MiB'
nothing5 = 0.0
least5 = -0.24247343659691323
most5 = 1.4249964915584785
step5 = 0.5
head6 = 'cold start (s)'
own6 = 'base: 357 ms'
nothing6 = 0.0
least6 = -0.3546487628191709
most6 = 1.3141712575357785
step6 = 0.5
word1 = '+1.5 ms'
word_panel1 = 3
word_row1 = 11
word_far1 = 1
word2 = '+1.0 ms'
word_panel2 = 3
word_row2 = 13
word_far2 = 1
words = 2
cells = 'costs-atlas-cells.csv'

# style.gp - the look of every picture. A script that rift writes is: values, this, and the
# picture's own commands, which begin with
#   eval page(900, 600)     the size in pixels
# and end with
#   eval done
# It is run twice, for PNG and for SVG, and starts afresh here.
reset
set encoding utf8
set datafile separator comma

# rift lets gnuplot write NAME.png.PART, and renames what is whole. By hand nothing is appended.
if (!exists('part')) part = ''
if (!exists('format')) format = 'png'

# sans-serif is what every machine and every browser has something for. 12 points, the usual text,
# are read with ease where 900 pixels are as wide as a page. In SVG gnuplot takes a point for a
# pixel; so other sizes have names.
points(n) = sprintf(',%d', n * (format eq 'png' ? 1 : 4.0 / 3) + 0.5)
large = points(16)
headline = points(13)
medium = points(11)
small = points(10)
# Points of one size; SVG's are larger.
point = format eq 'png' ? 1.0 : 0.7
page(w, h) = sprintf("set terminal %s enhanced size %d,%d font 'sans-serif%s' " . \
	"background rgb 'white'; set output '%s.%s%s'", \
	format eq 'png' ? 'pngcairo' : 'svg dynamic', w, h, points(12), name, format, part)
# What stands above a picture that is h pixels high: title, finding, made1 and made2, as texts.
heading(h) = sprintf("set label 101 title at screen 0.014, %g left noenhanced font headline;" . \
	"set label 102 finding at screen 0.014, %g left noenhanced font medium;" . \
	"set label 103 made1 at screen 0.014, %g left noenhanced font small textcolor rgb faint;" . \
	"set label 104 made2 at screen 0.014, %g left noenhanced font small textcolor rgb faint", \
	1 - 22.0 / h, 1 - 46.0 / h, 1 - 66.0 / h, 1 - 82.0 / h)
# A key of n series above a picture, six a row: how many rows, and where in them number k stands.
key_rows(n) = (n + 5) / 6
key_x(k) = 0.02 + 0.16 * ((k - 1) % 6)
key_pixels(k) = 112 + 18 * ((k - 1) / 6)
again = "format = 'svg'; load name.'.gp'"
done = "unset output; eval format eq 'png' ? again : 'undefine format'"

# Colours that colour-blind readers tell apart (Okabe and Ito), each with a dash of its own, so
# that a grey print can be read too.
set linetype 1 linecolor rgb '#0072b2' linewidth 2.2 dashtype solid pointtype 7
set linetype 2 linecolor rgb '#d55e00' linewidth 2.2 dashtype (12, 5) pointtype 5
set linetype 3 linecolor rgb '#222222' linewidth 2.2 dashtype (3, 4) pointtype 9
set linetype 4 linecolor rgb '#009e73' linewidth 2.2 dashtype (12, 3, 2, 3) pointtype 11
set linetype 5 linecolor rgb '#cc79a7' linewidth 2.2 dashtype (6, 2) pointtype 13
set linetype 6 linecolor rgb '#e69f00' linewidth 2.2 dashtype (2, 2, 8, 2) pointtype 15

ink = '#222222'   # text and axes
faint = '#6b6b6b' # what helps to read, and small print
set border 3 linecolor rgb ink linewidth 1
set minussign
set autoscale noextend
set tics nomirror out scale 0.6 textcolor rgb ink
set grid xtics ytics linetype 1 linecolor rgb '#e0e0e0' linewidth 0.8 dashtype solid
set key noautotitle reverse Left samplen 2.6 spacing 1.25 width -1 textcolor rgb ink

# atlas.gp - layers against one base; harness/atlas/atlas_chart.c sets
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
foot = 34
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
