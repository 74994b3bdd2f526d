#!/bin/sh
# abi_probe.sh INCLUDE FOLDER - do the CPU device's headers agree with NVIDIA's in INCLUDE?
#
# Takes every enumerator, constant, type, named field and prototype out of our own headers and
# compiles it against both: values, sizes and offsets must print alike, and every prototype must
# be accepted as a redeclaration of NVIDIA's. Prints how many values and prototypes agree. So with
# cuBLAS's headers, where NVIDIA's are there.
# FOLDER is for what is generated. Fields called reserved... only keep the place.
set -eu
nvidia=${1:?usage: abi_probe.sh INCLUDE FOLDER}
out=${2:?usage: abi_probe.sh INCLUDE FOLDER}
ours=common/cpu/include
types="$ours/driver_types.h $ours/vector_types.h"
blas="$ours/cublas_v2.h $ours/cublasLt.h $ours/library_types.h"
[ -e "$nvidia/cublasLt.h" ] || blas=

# shellcheck disable=SC2086
{
	cat <<-'C'
		#include <cuda_runtime_api.h>
		#if WITH_BLAS
		#include <cublasLt.h>
		#include <cublas_v2.h>
		#endif
		#include <stddef.h>
		#include <stdio.h>
		#define V(x) printf("%-60s %lld\n", #x, (long long)(x));
		int main(void) {
	C
	sed -n 's/^\t\(cuda[A-Za-z0-9]*\) = .*/V(\1)/p' $types
	sed -n 's/^#define \(cuda[A-Za-z0-9]*\) .*/V(\1)/p' $types
	sed -n 's/^enum \(cuda[A-Za-z]*\) {.*/V(sizeof(enum \1))/p' $types
	sed -n 's/^typedef struct CU[A-Za-z]*_st \*\(cuda[A-Za-z]*\);/V(sizeof(\1))/p' $types
	awk '/^struct [A-Za-z0-9_]+ \{/ { name = $2; print "V(sizeof(struct " name "))"; next }
	     /^}/ { name = "" }
	     name != "" && /^\t[a-z].*;/ && !/return/ {
		sub(/;.*/, ""); sub(/^\t(enum |const |unsigned |struct )*[a-zA-Z_0-9]+ \**/, "")
		n = split($0, field, /, */)
		for (i = 1; i <= n; i++) {
			sub(/\[.*/, "", field[i]); sub(/^ *\**/, "", field[i])
			if (field[i] !~ /^reserved_/) print "V(offsetof(struct " name ", " field[i] "))"
		}
	     }' $types
	for f in algo workspaceSize state wavesCount; do
		[ -z "$blas" ] || echo "V(offsetof(cublasLtMatmulHeuristicResult_t, $f))"
	done
	[ -z "$blas" ] || echo 'V(sizeof(cublasLtMatmulHeuristicResult_t)) V(sizeof(cublasLtMatmulAlgo_t))'
	[ -z "$blas" ] || sed -n 's/^\t\(CU[A-Za-z0-9_]*\) = .*/V(\1)/p' $blas
	echo 'return 0; }'
} >"$out/values.c"
with_blas=$([ -z "$blas" ] && echo 0 || echo 1)
print_values() { # INCLUDE NAME
	cc -std=gnu11 -w -DWITH_BLAS="$with_blas" -I"$1" -o "$out/values_$2" "$out/values.c"
	"$out/values_$2" >"$out/values_$2.txt"
}
print_values "$nvidia" nvidia
print_values "$ours" ours
diff "$out/values_nvidia.txt" "$out/values_ours.txt"

{
	echo '#include <cuda_runtime_api.h>'
	# From the first prototype's line to its semicolon, without C++ default arguments.
	sed -n '/^\(cudaError_t \|const char \*\)cuda/,/;$/p' \
		"$ours/cuda_runtime_api.h" | sed 's/ CPUDEV_DEFAULT([^)]*)//'
	[ -z "$blas" ] || echo '#include <cublasLt.h>'
	[ -z "$blas" ] || echo '#include <cublas_v2.h>'
	# shellcheck disable=SC2086
	[ -z "$blas" ] || sed -n '/^\(cublasStatus_t$\|cublasStatus_t cublas\|const char \*cublas\|size_t cublas\)/,/;$/p' $blas
} >"$out/prototypes.c"
cc -std=gnu11 -w -I"$nvidia" -fsyntax-only "$out/prototypes.c"
echo "$(wc -l <"$out/values_ours.txt") values, $(grep -c '\(cuda\|cublas\)[A-Z].*(' "$out/prototypes.c") prototypes agree"
