# block.gp - draws block.png from block.csv beside it, as bench/accept.sh vmcuda block does.
# To draw it again, in this folder: gnuplot block.gp (5.2 or newer)
set datafile separator ','
set terminal pngcairo size 900,520
set output 'block.png'
set grid
set key outside below
set title 'H200: copies of 256M by the blocks that they travel in, over TCP'
set logscale x 2
set xtics ('128 KiB' 2**17, '1 MiB' 2**20, '4 MiB' 2**22, '16 MiB' 2**24, '128 MiB' 2**27)
set ylabel 'time over bare, 95 %'
set yrange [0:*]
set xrange [2**16:2**28]
set datafile missing NaN
plot for [d in 'h2d d2h'] 'block.csv' every ::1 using (strcol(2) eq d ? $1 : NaN):4:5:6 with yerrorlines title d
