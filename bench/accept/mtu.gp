# mtu.gp - copies between two namespaces, by MTU and offloads; accept.sh sets folder and size.
set datafile separator ','
set terminal pngcairo size 900,520
set output folder.'/mtu.png'
set title 'copies of '.size.' between two namespaces'
set grid
set key outside below
set xtics ('1500, on' 0, '1500, off' 1, '9000, on' 2, '9000, off' 3)
set xlabel 'MTU, offloads'
set xrange [-0.5:3.5]
set ylabel 'GB/s'
set yrange [0:*]
at(m, o, d) = (m == 9000 ? 2 : 0) + (o eq 'off' ? 1 : 0) + (d eq 'h2d' ? -0.1 : 0.1)
file = folder.'/mtu.csv'
plot for [d in 'h2d d2h'] file every ::1 using (strcol(3) eq d ? at($1, strcol(2), d) : NaN):5 with points pt 7 title 'copies, '.d, \
     for [d in 'h2d d2h'] file every ::1 using (strcol(3) eq d ? at($1, strcol(2), d) : NaN):6 with points pt 6 title 'a socket alone, '.d
