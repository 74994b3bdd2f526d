name = 'figure-4'
row1 = 'mlp, batch 16'; native1 = '164.5 us'
row2 = 'mlp, batch 64'; native2 = '159.1 us'
row3 = 'mlp, batch 256'; native3 = '176.6 us'
row4 = 'mlp, batch 1024'; native4 = '167.3 us'
row5 = 'mlp, batch 4096'; native5 = '213.2 us'
preset1 = 'wddm-packet'; style1 = 2
preset2 = 'wsl2-2021'; style2 = 4
rows = 5
presets = 2
least = 0.9663
most = 5.791
title = 'Model: mlp over the size of its batch'
finding = 'Costs that the layer emulate adds. WSL2 itself was not measured.'
made1 = 'rift, bench/accept_wsl2.sh; NVIDIA H100 80GB HBM3, 2026-11-28'
made2 = 'median over processes with its 95 % interval'
points = 'figure-4.csv'

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

# model.gp - programs under the presets of a layer that emulates others; bench/accept_wsl2.sh sets
#   rows, rowN, nativeN   how many programs there are; what each is called; its step without a layer
#   presets, presetN, styleN   how many presets; their names; each one's points, in all pictures alike
#   least, most         what the axis shows
#   title, finding, made1, made2   texts
#   points              columns row, preset, ratio, from, to
top = 136
height = top + 74 + 54 * rows
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
set tmargin at screen from_top(top)
set bmargin at screen from_top(height - 62)
set lmargin at screen 0.32
set rmargin at screen 0.97
set logscale x
set format x '%g'
range = most / least
set xtics (1)
if (range < 1.2) { do for [i = -20:20] { set xtics add (1 + 0.01 * i) } }
if (range >= 1.2 && range < 2.5) { set xtics add (0.8, 0.9, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5) }
if (range >= 2.5) { set xtics add (0.7, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100) }
set xrange [(least < 0.98 ? least / 1.03 : 0.98) : (most < 1.02 ? 1.02 : most * 1.05)]
set yrange [rows + 0.5 : 0.5]
set ytics ()
set arrow 1 from first 1, graph 0 to first 1, graph 1 nohead back linecolor rgb faint linewidth 1.4
do for [i = 1:rows] { set ytics add (value('row'.i).' ('.value('native'.i).')' i) }
set xlabel 'time of a step over native, whose time is in parentheses'
shape(k) = word('7 5 9 11 13 15 6', value('style'.k)) + 0
colour(k) = (value('style'.k) - 1) % 6 + 1
do for [k = 1:presets] {
	x = 0.32 + 0.13 * (k - 1)
	set label 20 + k '' at screen x, from_top(112) point linetype colour(k) pointtype shape(k) \
		pointsize 1.1 * point linewidth 1.4
	set label 40 + k value('preset'.k) at screen x + 0.012, from_top(112) left noenhanced font small
}
unset key
plot for [k = 1:presets] points \
	using (column(2) == k ? column(3) : NaN):(column(1) + 0.13 * (k - 0.5 * (presets + 1))):4:5 skip 1 \
	with xerrorbars linetype colour(k) pointtype shape(k) pointsize 1.1 * point linewidth 1.2 dashtype solid
eval done

