# launch-atlas.gp - draws launch-atlas.png and launch-atlas.svg from the data files beside it.
# To draw them again, in this folder: gnuplot launch-atlas.gp (5.2 or newer)
# Written by rift 0.1.

name = 'launch-atlas'
device = 'NVIDIA H200'
made1 = 'base: NVIDIA H200, data/sessions/atlas-h200/none.jsonl.gz, n = 6, 2026-11-27'
title = 'launch: what each of these adds to the base'
finding = 'dots: b − a of parameters, b / a of steps, with 95 % intervals; hollow: not resolved; a number: beyond the axis'
made2 = 'steps: smallest kernels, stream mode; each panel has an axis of its own'
rows = 16
panels = 8
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
head1 = 'c (µs)'
own1 = 'base: 4.5 µs'
nothing1 = 0.0
least1 = -5.4739218706560591
most1 = 4.252289680700315
step1 = 2.0
head2 = 'p (µs)'
own2 = 'base: 4.6 µs'
nothing2 = 0.0
least2 = -1.2830759134186942
most2 = 5.2646585465926616
step2 = 2.0
head3 = 'g (µs)'
own3 = 'base: 1.9 µs'
nothing3 = 0.0
least3 = -1.1307475727056315
most3 = 2.3947701327147115
step3 = 1.0
head4 = 'Z (ms)'
own4 = 'base: 10 µs'
nothing4 = 0.0
least4 = -0.19363217305448913
most4 = 2.6015547190993353
step4 = 1.0
head5 = 'a (µs)'
own5 = 'base: 2.0 µs'
nothing5 = 0.0
least5 = -5.906277577153852
most5 = 52.546733798493328
step5 = 20.0
head6 = 'gn (ns)'
own6 = 'base: 1.0 µs'
nothing6 = 0.0
least6 = -795.91297682109416
most6 = 539.74971443630091
step6 = 500.0
head7 = 'step, depth 1'
own7 = 'base: 10 µs'
nothing7 = 1.0
least7 = -18.982883527155082
most7 = 267.92041025412777
step7 = 100.0
head8 = 'step, depth 64'
own8 = 'base: 4.7 µs'
nothing8 = 1.0
least8 = 0.063542047534299595
most8 = 9.9589626733597996
step8 = 2.0
word1 = '–'
word_panel1 = 1
word_row1 = 9
word_far1 = 0
word2 = '–'
word_panel2 = 2
word_row2 = 14
word_far2 = 0
word3 = '–'
word_panel3 = 2
word_row3 = 15
word_far3 = 0
word4 = '–'
word_panel4 = 5
word_row4 = 7
word_far4 = 0
word5 = 'not supported'
word_panel5 = 5
word_row5 = 9
word_far5 = 0
word6 = 'not supported'
word_panel6 = 6
word_row6 = 9
word_far6 = 0
words = 6
cells = 'launch-atlas-cells.csv'

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
