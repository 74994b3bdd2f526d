# plot.gp - a track over the last frame of the video; app_plot.c sets
#   frame_file               columns row, col, grey
#   track_file               columns frame, row, col and, where truth is 1, truth_row, truth_col
#   top, bottom, left, right what is shown, pixels
#   title, made              texts
eval page(780, 760)
set lmargin at screen 0.1
set rmargin at screen 0.94
set tmargin at screen 0.86
set bmargin at screen 0.09
set label 1 title at screen 0.014, 0.965 left noenhanced font large
set label 2 made at screen 0.014, 0.93 left noenhanced font small textcolor rgb faint
set size ratio -1
set xrange [left : right]
set yrange [bottom : top] # rows count downwards
set xlabel 'column (pixels)'
set ylabel 'row (pixels)'
unset grid
set palette gray
set cbrange [0 : 255]
unset colorbox
set key at screen 0.94, 0.895 right top horizontal samplen 2 width 2
if (truth) {
	plot frame_file using 2:1:3 skip 1 with image, \
	     track_file using 5:4 skip 1 with linespoints linetype 6 pointtype 6 pointsize 1.3 \
		title 'truth', \
	     track_file using 3:2 skip 1 with linespoints linetype 1 pointsize 0.8 \
		title 'estimate'
} else {
	plot frame_file using 2:1:3 skip 1 with image, \
	     track_file using 3:2 skip 1 with linespoints linetype 1 pointsize 0.8 \
		title 'estimate'
}
eval done
