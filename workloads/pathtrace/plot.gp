# plot.gp - the picture itself; app_plot.c sets
#   image_file     columns row, col, red, green, blue: 0 to 255, sRGB
#   width, height  of the whole picture, pixels
#   title, made    texts
eval page(760, 800)
set lmargin at screen 0.02
set rmargin at screen 0.98
set tmargin at screen 0.91
set bmargin at screen 0.02
set label 1 title at screen 0.014, 0.97 left noenhanced font large
set label 2 made at screen 0.014, 0.937 left noenhanced font small textcolor rgb faint
set size ratio -1
set xrange [-0.5 : width - 0.5]
set yrange [height - 0.5 : -0.5] # rows count downwards
unset grid
unset border
unset tics
unset key
plot image_file using 2:1:3:4:5 skip 1 with rgbimage
eval done
