#!/bin/sh
# remake.sh - compiles the objects of this folder anew, with nvcc 13. They are kept, so that tests have
# fat binaries where there is no toolkit: client.c is the program that is linked from them.
set -eu
cd "$(dirname "$0")"
nvcc=$(cd ../../.. && tools/nvcc.sh)
compile() { "$nvcc" -std=c++17 -O2 -Xcompiler -fPIC "$@"; }
sm_90='arch=compute_90,code=sm_90'

for name in plain template arguments; do
	compile -gencode "$sm_90" -c $name.cu -o $name.o
done
compile -gencode arch=compute_90,code=compute_90 --compress-mode=size -c ptx.cu -o ptx.o
compile -gencode "$sm_90" --default-stream per-thread -c per_thread.cu -o per_thread.o
for name in rdc_one rdc_two; do
	compile -gencode "$sm_90" -rdc=true -c $name.cu -o $name.o
done
compile -gencode "$sm_90" -dlink rdc_one.o rdc_two.o -o rdc_link.o
"$nvcc" --version | sed -n 's/.*\(release.*\)/nvcc \1/p' >made_with
strip --strip-debug ./*.o
stat -c '%s %n' ./*.o
