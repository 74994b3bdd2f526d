# plot.gp - how a network learns; app_plot.c sets
#   loss_file      columns epoch, loss: means over a few steps
#   accuracy_file  columns epoch, wrong_percent: of the test images
#   epochs         how many
#   title, made    texts
eval page(900, 520)
set lmargin at screen 0.09
set rmargin at screen 0.91
set tmargin at screen 0.84
set bmargin at screen 0.12
set label 1 title at screen 0.014, 0.95 left noenhanced font large
set label 2 made at screen 0.014, 0.905 left noenhanced font small textcolor rgb faint
set xrange [0 : epochs]
set xlabel 'epochs'
set logscale y
set logscale y2
set border 11
set ylabel 'loss'
set y2label 'test images that are wrong (%)'
set y2tics
set y2range [* : 100]
set format y '10^{%L}'
set format y2 '%g'
set key at graph 0.98, 0.96 right top
plot loss_file using 1:2 skip 1 with lines linetype 1 title 'loss of minibatches', \
     accuracy_file using 1:($2 > 0 ? $2 : 1/0) skip 1 axes x1y2 with linespoints linetype 2 pointsize 1.2 \
	title 'wrong test images'
eval done
