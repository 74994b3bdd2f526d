# networks.gp - draws networks.png from the data files beside it: all programs, a panel for each figure of a network.
# To draw it again, in this folder: gnuplot networks.gp (5.2 or newer)
names = 'myocyte particlefilter alignment mlp mlp-many'
shown(i) = i == 5 ? 'mlp launches=many' : word(names, i)
colours = '#0072b2 #d55e00 #009e73 #cc79a7 #56b4e9'
set datafile separator ','
set terminal pngcairo size 900,560 font 'sans,10'
set output 'networks.png'
set multiplot layout 1,2 title "time of a step over native, H200, layer remote over TCP, network imitated\npoints: median, least and most of 5 processes; dashed: predicted from the native run alone; grey: 5 % longer"
set logscale xy
set grid
set yrange [0.9:8]
set ytics (0.9, 1, 1.05, 1.25, 1.5, 2, 3, 4, 5, 8)
set key top left samplen 1.5 font 'sans,9'
do for [s = 1:2] {
	set xlabel (s == 1 ? 'round trip, us, at 200 Gbit/s' : 'bandwidth, Gbit/s, no round trip')
	if (s == 1) { set xrange [4:250]; set xtics (5, 10, 20, 50, 100, 200) }
	if (s == 2) { set xrange [250:0.8]; set xtics (200, 100, 25, 10, 1); unset key }
	plot 1.05 with lines lc rgb '#888888' notitle, \
		for [i = 1:5] word(names, i).'-sensitivity-points.csv' every ::1 using ($1 == s ? $2 : NaN):3:4:5 with yerrorbars pt 7 ps 0.8 lc rgb word(colours, i) title shown(i), \
		for [i = 1:5] word(names, i).'-sensitivity-model.csv' every ::1 using ($1 == s ? $2 : NaN):3 with lines dt 2 lc rgb word(colours, i) notitle
}
unset multiplot
