# cells.gp - the time of a right-hand side of all cells over how many there are, beside Rodinia's
# two modes. cells.sh makes cells.csv, sets made1 and calls this here; the look is plots/style.gp's.
name = 'cells'
load '../../plots/style.gp'
stages = 13.0
# Rodinia's CUDA program, in float, on an H200: 46 us for one cell, one after the other; its
# many-cell mode 4.8e7 right-hand sides a second at 4,096 cells, 8.5e7 at 16,384.
rodinia_one_us = 46.0
$rodinia_many << END
4096,85.3
16384,192.8
END
stats 'cells.csv' using 1:2 skip 1 nooutput
most = STATS_max_x
at(column, cells) = sprintf("stats 'cells.csv' using (column(1) == %d ? column(%d) : NaN) skip 1 nooutput", cells, column)
eval at(2, 1); one_double = STATS_max / stages
eval at(3, 1); one_float = STATS_max / stages
eval at(2, most); rate_double = most * stages / STATS_max * 1e-3
eval at(3, most); rate_float = most * stages / STATS_max * 1e-3
title = sprintf('one cell: %.2f µs a right-hand side in double, %.2f in float', one_double, one_float)
finding = sprintf('%d cells: %.1f billion right-hand sides a second in double, %.1f in float', most, rate_double, rate_float)
made2 = 'a block for each cell, one a multiprocessor; above 264 cells (float: 132) 32 cells share a block'
eval page(900, 600)
eval heading(600)
set lmargin at screen 0.095
set rmargin at screen 0.97
set tmargin at screen 0.83
set bmargin at screen 0.11
set logscale xy
set xrange [1 : most * 1.1]
set yrange [0.3 : 3000]
set xtics (1, 4, 16, 64, 256, '1k' 1024, '4k' 4096, '16k' 16384, '64k' 65536)
set xlabel 'cells'
set label 1 'time of a right-hand side of all cells (µs)' at screen 0.022, 0.47 center rotate
set key at graph 0.55, 0.99 left top
plot 'cells.csv' using 1:($2 / stages) skip 1 with linespoints linetype 1 pointsize point title 'double', \
     'cells.csv' using 1:($3 / stages) skip 1 with linespoints linetype 2 pointsize point title 'float', \
     rodinia_one_us * x with lines linetype 3 title 'Rodinia, float: cell by cell', \
     $rodinia_many using 1:2 with linespoints linetype 4 pointsize point title 'Rodinia, float: many cells'
eval done
