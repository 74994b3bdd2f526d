# block.gp - copies by the blocks that they travel in; accept.sh sets folder and size.
set datafile separator ','
set datafile missing NaN
set terminal pngcairo size 900,520
set output folder.'/block.png'
set title 'copies of '.size.' by the blocks that they travel in, over TCP'
set grid
set key outside below
set logscale x 2
set xtics ('128 KiB' 2**17, '1 MiB' 2**20, '4 MiB' 2**22, '16 MiB' 2**24, '128 MiB' 2**27)
set xrange [2**16:2**28]
set ylabel 'time over bare, 95 %'
set yrange [0:*]
plot for [d in 'h2d d2h'] folder.'/block.csv' every ::1 \
	using (strcol(2) eq d ? $1 : NaN):4:5:6 with yerrorlines title d
