# fake_plot.gp - the picture of the fake workload: a curve; fails or warns where it is told to.
eval page(300, 200)
set title title noenhanced
if (bad) { plot no_such_variable }
if (warns) { plot 'no-such-file.csv' using 1:2, x }
plot file1 using 1:(half / 2 * column(2)) skip 1 with linespoints title sprintf('%g', half / 2)
eval done
