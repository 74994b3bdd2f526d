#!/bin/sh
# mutants.sh [PATTERN] - mistakes that are made on purpose, one at a time, in six
# workloads: their tests, on the CPU device, have to fail. Prints a table; ends with 1 where one
# survives, and with 3 where a mistake cannot be made as it stands here, or where PATTERN, as of
# grep, which chooses some, chooses none. It works on a copy, some seconds for each where rift has
# been built.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tests/mutants_shared.sh
. tests/mutants_shared.sh
pattern=${1:-.}
copy=
trap 'rm -rf "$copy"' EXIT
trap 'exit 1' INT TERM
killed=0 survived=0 changes=1 passed=

# Only where there is a mistake to make.
begin() {
	if [ -z "$copy" ]; then
		copy=$(mktemp -d)
		copy_tree "$copy"
		cd "$copy"
	fi
}

build() {
	make_cpu -j"$(nproc)" "$1" || wrong "$2: does not build: $(tail -5 log)"
}

# A test that fails anyway kills nothing.
passes_unchanged() {
	case " $passed " in *" $1 "*) return 0 ;; esac
	build "$1" "$1"
	timeout 300 "$1" >log 2>&1 || wrong "$1 fails without a mistake: $(tail -3 log)"
	passed="$passed $1"
}

# What it is, the file as seen from workloads/ by way of its folder, what sed does to it, test programs of the same folder.
# So many lines of the file must change.
mutant() {
	name=$1 file=workloads/$2 folder=${2%%/*} edit=$3 verdict=survived
	shift 3
	if ! echo "$folder: $name" | grep -q -e "$pattern"; then
		return 0
	fi
	begin
	for test in "$@"; do
		passes_unchanged "build/cpu/workloads/$folder/test_${folder}_$test"
	done
	cp -p "$file" original
	sed -i -e "$edit" "$file"
	lines=$(diff original "$file" | grep -c '^>') || true
	[ "$lines" = "$changes" ] || wrong "$folder: $name: $lines lines of $file change"
	for test in "$@"; do
		program=build/cpu/workloads/$folder/test_${folder}_$test
		build "$program" "$folder: $name"
		if ! timeout 300 "$program" >log 2>&1; then
			verdict="killed by $test"
			break
		fi
	done
	cp -p original "$file"
	touch "$file"
	case $verdict in
	survived) survived=$((survived + 1)) ;;
	*) killed=$((killed + 1)) ;;
	esac
	printf '%-14s %-48s %s\n' "$folder" "$name" "$verdict"
}

w=blackscholes/formula.cuh
mutant "the sign of a3" $w 's/q \* (1\.781477937f/q * (-1.781477937f/' values
mutant "call and put swapped" $w 's/float \*call, float \*put)$/float *put, float *call)/' values
mutant "root of T left out of d2" $w 's/(d1 - spread)/(d1 - m.volatility)/' values
w=blackscholes/kernels.cu
mutant "last option skipped where their number is odd" $w 's/? (int)(l\.end - i) : EACH/? (int)(l.end - i) \& ~1 : EACH/' values
mutant "only one round of blocks that go ahead" $w 's/for (index_range m = own_range(l); m\.count;/for (index_range m = own_range(l); m.count \&\& !round;/' modes

w=binomial/kernels.cu
mutant "N leaves, not N + 1" $w 's/j <= n ? leaf/j < n ? leaf/' values
mutant "one step too few" $w 's/i < steps; i++)$/i < steps - 1; i++)/' values
mutant "discounted twice" $w 's/nodes\[0\] \* o\.b;/nodes[0] * o.b * o.b;/' values

w=matmul/load.cuh
mutant "A transposed" $w 's/it\.a = a + (int64_t)row \* s\.k + depth;/it.a = a + (int64_t)depth * s.m + row;/' values check
w=matmul/kernels.cu
mutant "last piece dropped where k is no multiple" $w 's/while (loads\.k < s\.k)/while (loads.k + S::DEPTH <= s.k)/' values check
w=matmul/tile.cuh
mutant "beta = 1" $w 's/^\(.*\)\*(float4 \*)c = v;/\1c[0] += v.x, c[1] += v.y, c[2] += v.z, c[3] += v.w;/' values check
mutant "factors with the bits of TF32" $w 's/out\[q \* VEC\] = v\.x;/out[q * VEC] = v.x * 8193 - (v.x * 8193 - v.x);/' values check

w=stereo/strip.cuh
mutant "radius 7 downwards" $w 's/WINDOW = STEREO_WINDOW,/WINDOW = STEREO_WINDOW - 2,/' values check
mutant "radius 7 across" $w 's/edges = vec4_sum(first) + last\.x;/edges = first.y + first.z + first.w;/' values check
mutant "<= in place of <" $w 's/best = lesser(best, key\[k \* OUTPUTS\]);/best = best >> KEY_BITS < key[k * OUTPUTS] >> KEY_BITS ? best : key[k * OUTPUTS];/' values check
changes=2
mutant "d descending" $w 's/best = lesser(best, key\[k \* OUTPUTS\]);/best = best >> KEY_BITS < key[k * OUTPUTS] >> KEY_BITS ? best : key[k * OUTPUTS];/
s/return lesser((lower << KEY_BITS) + p\.number\[0\], (upper << KEY_BITS) + p\.number\[1\]);/return p.number[1] != none \&\& upper <= lower ? (upper << KEY_BITS) + p.number[1] : (lower << KEY_BITS) + p.number[0];/' values check
changes=1
mutant "last row of a strip" $w 's/if (i >= WINDOW && p\.to)/if (i >= WINDOW \&\& i < rows \&\& p.to)/' values check
w=stereo/kernels.cu
mutant "clamp(x + j) + d" $w 's/right = clamp(x - RADIUS + l\.dmin + before + i - COLUMNS, l\.size\.w);/right = clamp(clamp(x - RADIUS + i - COLUMNS, l.size.w) + l.dmin + before, l.size.w);/' values check

w=radixsort/tile.cuh
changes=2
mutant "ranks in a warp are not stable" $w 's/__popc(matches \& ((1u << lane) - 1))/__popc(matches >> lane) - 1/; s/!(matches \& ALL_LANES << lane << 1)/!(matches \& ((1u << lane) - 1))/' check values
changes=1
mutant "tiles of one digit are turned round" $w 's/rank\[j\] = first_item<S>() + 32 \* j;/rank[j] = first_item<S>() + 32 * (S::ITEMS - 1 - j);/' values modes
mutant "keys are signed" $w 's/return key >> 8 \* pass & 255;/return (key ^ 0x80000000u) >> 8 * pass \& 255;/' check values
w=radixsort/kernels_one.cu
mutant "three passes, in a block" $w 's/pass < PASSES; pass++)/pass < PASSES - 1; pass++)/' check values
w=radixsort/pass.cuh
mutant "three passes, over tiles" $w 's/pass < PASSES; pass++)/pass < PASSES - 1; pass++)/' check values
mutant "last, partial tile is not written" $w 's/i < valid; i += S::BLOCK/i < 0 * valid; i += S::BLOCK/' check values
w=radixsort/kernels_count.cu
mutant "old tile statuses in the second step" $w 's/statuses\[i\] = 0;/statuses[i] += 0;/' check

w=pathtrace/path.cuh
mutant "cosine left out" $w 's/(cosine \* there \/ square)/(there \/ square)/' check
mutant "roulette without 1/p" $w 's/p->carried = (1 \/ chance) \* p->carried;/(void)chance;/' check
mutant "eta inverted" $w 's/eta = at\.inside ?/eta = !at.inside ?/' check
mutant "no offset from the surface" $w 's/p->r\.o = at\.p + (float)pt_offset \* at\.n;/p->r.o = at.p + 0.0f * at.n;/' check
w=pathtrace/setup.c
mutant "density of lamps without their number" $w 's/area \* lights \/ M_PI/area * (lights > 0) \/ M_PI/' check
w=pathtrace/kernels.cu
mutant "every step starts at sample 0" $w 's/sample = sum\.count, end = sample + samples;/sample = 0, end = samples;/' check modes

lost() { # of graphs, all but slot 0
	printf '%s' "s/$1(\(.*\), stream);/{ enum cudaStreamCaptureStatus c; cudaStreamIsCapturing(stream, \&c); if (!c || !$2) $1(\1, stream); }/"
}
w=blackscholes/../../common/dataset_memory.c
mutant "copies back lost in graphs" $w "/^static void copy_out/,/^}/$(lost copy 'g->slot')" streamed
w=matmul/step.c
mutant "products lost in graphs" $w "$(lost matmul_library_multiply 'part->slot')" modes

[ -n "$copy" ] || wrong "no mistake is called '$pattern'"
echo "$killed killed, $survived survived"
[ "$survived" = 0 ]
