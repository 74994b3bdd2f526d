# busy.gp - what a host whose processors are loaded adds to a launch; accept.sh sets folder.
set datafile separator ','
set terminal pngcairo size 900,560
set output folder.'/charts/busy.png'
set title 'what a host whose processors are loaded adds to a launch'
set xlabel 'load of all processors (%)'
set ylabel 'time added (ns), 95 %'
set key left top
set xrange [0:110]
beside(p) = p eq 'c' ? -1.5 : p eq 'p' ? -0.5 : p eq 'Z' ? 0.5 : 1.5
plot for [p in 'c p Z a'] folder.'/busy.csv' every ::1 \
	using (strcol(2) eq p ? column(1) + beside(p) : NaN):4:5:6 with yerrorbars title p
