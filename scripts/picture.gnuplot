# Called by scripts/picture with `work` (data folder) and `out` (the file to write).
set terminal svg size 1200,470 enhanced font "Helvetica,13" background "#ffffff" rounded
set output out
set multiplot
set border lw 1 lc rgb "#888888"
set tics textcolor rgb "#333333" nomirror
set key textcolor rgb "#333333"

set origin 0.0, 0.0
set size 0.47, 1.0
set title "One day on eight A100s: 17 schedulers, three ways of slicing" textcolor rgb "#111111"
set xlabel "energy of the day (kWh)" textcolor rgb "#333333"
set ylabel "mean tardiness (minutes)" textcolor rgb "#333333"
set logscale y
set grid lc rgb "#e4e4e4"
set xrange [38:50.5]
set yrange [0.3:300]
set key top left Left reverse samplen 1
plot work."/whole.tsv" using 1:2 with points pt 7 ps 0.8 lc rgb "#9a9a9a" title "whole GPUs", \
     work."/paper.tsv" using 1:2 with points pt 7 ps 0.8 lc rgb "#3b7dd8" title "the paper's mix of slices", \
     work."/tuned.tsv" using 1:2 with points pt 7 ps 0.8 lc rgb "#2a9d4e" title "a tuned mix of slices", \
     work."/tuned.tsv" using 1:2:(strcol(3) eq "cedf" || strcol(3) eq "fifo" || strcol(3) eq "sjf" ? strcol(3) : "") with labels offset 0,-0.9 font ",11" textcolor rgb "#2a9d4e" notitle, \
     work."/whole.tsv" using 1:2:(strcol(3) eq "sjf" || strcol(3) eq "fifo" ? strcol(3) : "") with labels offset 0,-1 font ",11" textcolor rgb "#777777" notitle

unset logscale y
unset grid
set origin 0.47, 0.0
set size 0.53, 1.0
set title "04:00 to 05:00 on the tuned mix: every box is a job on a slice (mdd, no preemption)" textcolor rgb "#111111"
unset xlabel
set ylabel "GPU" textcolor rgb "#333333"
set xrange [4:5]
set yrange [72:-1]
set xtics ("04:00" 4, "04:15" 4.25, "04:30" 4.5, "04:45" 4.75, "05:00" 5)
set ytics ("0" 4, "1" 13, "2" 22, "3" 31, "4" 40, "5" 49, "6" 58, "7" 67) scale 0
set key outside bottom center horizontal samplen 1.5
set style fill solid 0.9 border rgb "#ffffff"
colour(g) = g == 7 ? 0x264653 : g == 4 ? 0x2a9d8f : g == 3 ? 0x8ab17d : g == 2 ? 0xe9c46a : 0xe76f51
plot work."/boxes.txt" using 1:3:1:2:3:4:(colour($5)) with boxxyerror lc rgb variable lw 0.4 notitle, \
     keyentry with boxes lc rgb 0x264653 title "7g", \
     keyentry with boxes lc rgb 0x2a9d8f title "4g", \
     keyentry with boxes lc rgb 0x8ab17d title "3g", \
     keyentry with boxes lc rgb 0xe9c46a title "2g", \
     keyentry with boxes lc rgb 0xe76f51 title "1g"
unset multiplot
