# overhead.gp - draws overhead.png from overhead.csv beside it.
# To draw it again, in this folder: gnuplot overhead.gp (5.2 or newer)
set datafile separator ','
set terminal pngcairo size 900,420
set output 'overhead.png'
set grid ytics
set key outside below
set title "vmCUDA's five programs at its table 1, H200: what the layer remote adds over shared memory"
set ylabel 'percent, 95 %'
set xrange [-0.5:4.5]
set object 1 rectangle from graph 0, first 0.6 to graph 1, first 3.5 fillcolor rgb '#e6e6e6' fillstyle solid noborder behind
plot 'overhead.csv' every ::1 using 0:2:3:4:xtic(1) with yerrorbars pt 7 lc rgb '#0072b2' title 'n = 5 pairs of processes', \
	0 lc rgb '#888888' notitle, NaN with boxes fillstyle solid lc rgb '#e6e6e6' title "the paper's layer: 0.6 to 3.5 %"
