# profile_shares.gp - shares of a program's wall time; harness/profile/profile_chart.c sets
#   shares, shareN, textN, percentN   kinds of time: names, what they are, per cent
#   title, finding, made1, made2      texts
height = 214 + 26 * shares
from_top(pixels) = 1 - pixels / (1.0 * height)
eval page(900, height)
eval heading(height)
colour(k) = word('#009e73 #0072b2 #56b4e9 #222222 #d55e00 #7f0000 #cc79a7 #8c564b #999999 #f0e442 #e69f00 #dddddd', k + 1)
set tmargin at screen from_top(104)
set bmargin at screen from_top(150)
set lmargin at screen 0.03
set rmargin at screen 0.97
set border 1
set xrange [0 : 100]
set yrange [0 : 1]
unset ytics
unset grid
set xtics 10 format '%g %%' font small
sum = 0
do for [k = 0 : shares - 1] {
	percent = value('percent'.k)
	set object 20 + k rectangle from first sum, 0.1 to first sum + percent, 0.95 \
		fillcolor rgb colour(k) fillstyle solid noborder
	sum = sum + percent
	y = 202 + 26 * k
	set object 40 + k rectangle from screen 0.03, from_top(y + 7) to screen 0.05, from_top(y - 7) \
		fillcolor rgb colour(k) fillstyle solid noborder
	set label 60 + k sprintf('%.1f %%', percent) at screen 0.13, from_top(y) right
	set label 80 + k value('share'.k).': '.value('text'.k) at screen 0.15, from_top(y) left \
		noenhanced
}
plot NaN
eval done
