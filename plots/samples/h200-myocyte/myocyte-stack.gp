# myocyte-stack.gp - draws myocyte-stack.png and myocyte-stack.svg from the data files beside it.
# To draw them again, in this folder: gnuplot myocyte-stack.gp (5.2 or newer)
# Written by rift 0.1.

name = 'myocyte-stack'
device = 'NVIDIA H200'
title = 'myocyte: where the time of a step goes'
finding = 'kernel 95 to 100 %; other 0.1 to 2.9 %; sync up to 1.4 % (cells=1, fused, depth 1)'
made1 = 'NVIDIA H200, driver 580.159.04; kvm, docker, passthrough; n = 5 processes, 2026-11-21'
notes = 4
note1 = 'gap, submission, sync: of launches on this platform (--from)'
note2 = 'kernel: the slope over launches in the deepest blocks (graphs where there are any), less the gap of launches'
note3 = 'transfer: the record is older than counts of copies; if there are any, they are part of kernel'
note4 = 'other is below 0 in 2 of 59 blocks: the parts come to more than they took, by up to 1.6 %'
bars = 18
bar1 = 'stream, cells=1, depth 1'
total1 = '394 µs'
mode1 = 0
bar2 = 'stream, cells=1, depth 256'
total2 = '378 µs'
mode2 = 0
bar3 = 'stream, cells=256, depth 1'
total3 = '464 µs'
mode3 = 0
bar4 = 'stream, cells=256, depth 16'
total4 = '447 µs'
mode4 = 0
bar5 = 'stream, cells=64k, depth 1'
total5 = '2.9 ms'
mode5 = 0
bar6 = 'stream, cells=64k, depth 4'
total6 = '2.9 ms'
mode6 = 0
bar7 = 'graph, cells=1, depth 1'
total7 = '391 µs'
mode7 = 1
bar8 = 'graph, cells=1, depth 256'
total8 = '377 µs'
mode8 = 1
bar9 = 'graph, cells=256, depth 1'
total9 = '461 µs'
mode9 = 1
bar10 = 'graph, cells=256, depth 64'
total10 = '443 µs'
mode10 = 1
bar11 = 'graph, cells=64k, depth 1'
total11 = '2.9 ms'
mode11 = 1
bar12 = 'graph, cells=64k, depth 4'
total12 = '2.9 ms'
mode12 = 1
bar13 = 'fused, cells=1, depth 1'
total13 = '393 µs'
mode13 = 2
bar14 = 'fused, cells=1, depth 256'
total14 = '373 µs'
mode14 = 2
bar15 = 'fused, cells=256, depth 1'
total15 = '465 µs'
mode15 = 2
bar16 = 'fused, cells=256, depth 64'
total16 = '443 µs'
mode16 = 2
bar17 = 'fused, cells=64k, depth 1'
total17 = '2.9 ms'
mode17 = 2
bar18 = 'fused, cells=64k, depth 4'
total18 = '2.8 ms'
mode18 = 2
parts = 'myocyte-stack-parts.csv'

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

# stack.gp - where the time of a step goes, a bar a block; harness/chart/stack.c sets
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
least = STATS_min < -0.5 ? STATS_min * 1.02 : 0
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
