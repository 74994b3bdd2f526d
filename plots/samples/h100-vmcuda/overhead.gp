# overhead.gp - draws overhead.png from overhead.csv beside it.
# To draw it again, in this folder: gnuplot overhead.gp (5.2 or newer)
set datafile separator ','
set datafile missing 'NaN'
set terminal pngcairo size 900,420
set output 'overhead.png'
set grid ytics
set key outside below
set title "vmCUDA's five programs, H100, 2026-11-28: what the layer remote adds over shared memory"
set ylabel 'percent, 95 %'
set xrange [-0.5:4.5]
set object 1 rectangle from graph 0, first 0.6 to graph 1, first 3.5 fillcolor rgb '#e6e6e6' fillstyle solid noborder behind
plot 'overhead.csv' every ::1 using ($0-0.1):2:3:4:xtic(1) with yerrorbars pt 7 lc rgb '#0072b2' title 'sizes of table 1, n = 9 pairs of processes', \
	'' every ::1 using ($0+0.1):5:6:7 with yerrorbars pt 5 lc rgb '#d55e00' title '12.5 GB, n = 5', \
	NaN with boxes fillstyle solid lc rgb '#e6e6e6' title "the paper's layer at table 1: 0.6 to 3.5 %"
