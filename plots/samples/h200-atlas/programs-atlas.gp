# programs-atlas.gp - draws programs-atlas.png and programs-atlas.svg from the data files beside it.
# To draw them again, in this folder: gnuplot programs-atlas.gp (5.2 or newer)
# Written by rift 0.1.

name = 'programs-atlas'
device = 'NVIDIA H200'
made1 = 'base: NVIDIA H200, data/sessions/atlas-h200/none.jsonl.gz, n = 6, 2026-11-27'
title = 'which layer hurts which program'
finding = 'time over that without the layer; ·, ±: no difference is shown, ±: how wide that is; bad: wrong results'
made2 = 'grey: a step of the base, its kernels, copies, allocations (k, c, a) and time; smallest kernels; depth: steps before a wait'
rows = 16
columns = 12
panels = 2
depth1 = 1
depth2 = 64
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
column1 = 'launch'
kind1 = '1k'
shallow1 = '10 µs'
deep1 = '4.7 µs'
column2 = 'transfer'
kind2 = '1c'
shallow2 = '6.8 µs'
deep2 = '2.5 µs'
column3 = 'memory'
kind3 = '2a'
shallow3 = '129 µs'
deep3 = '129 µs'
column4 = 'myocyte'
kind4 = '1k'
shallow4 = '25 µs'
deep4 = '17 µs'
column5 = 'particlefilter'
kind5 = '1k'
shallow5 = '16 µs'
deep5 = '8.6 µs'
column6 = 'alignment'
kind6 = '4k 2c'
shallow6 = '43 µs'
deep6 = '40 µs'
column7 = 'mlp'
kind7 = '6k'
shallow7 = '47 µs'
deep7 = '40 µs'
column8 = 'radixsort'
kind8 = '1k'
shallow8 = '21 µs'
deep8 = '12 µs'
column9 = 'blackscholes'
kind9 = '1k 5c'
shallow9 = '66 µs'
deep9 = '52 µs'
column10 = 'binomial'
kind10 = '1k 6c'
shallow10 = '36 µs'
deep10 = '33 µs'
column11 = 'matmul'
kind11 = '1k 3c'
shallow11 = '50 µs'
deep11 = '39 µs'
column12 = 'stereo'
kind12 = '1k 3c'
shallow12 = '120 µs'
deep12 = '114 µs'
cells = 'programs-atlas-cells.csv'

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

# programs.gp - layers by programs; harness/atlas/atlas_chart.c sets
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
