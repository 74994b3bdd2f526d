#!/bin/sh
# lint.sh - formatting and static checks over every source file; fails on the first kind found.
set -eu
files() { git ls-files -co --exclude-standard "$@"; }

# A suite under another name runs under neither size of test.
echo "== suites"
# shellcheck disable=SC2016
if files -z 'tests/*.c' 'workloads/*.c' | xargs -0 -r awk '
	/^(Test|TestSuite|ParameterizedTest|ParameterizedTestParameters|Theory)\(/ {
		suite = $0
		if (sub(/^ParameterizedTest\([^,]*, */, "", suite) == 0 &&
		    sub(/^Theory\(\(.*\), */, "", suite) == 0)
			sub(/^[A-Za-z]*\( */, "", suite)
		sub(/[,)].*/, "", suite)
		if (suite !~ /^(small|large)_/)
			print FILENAME ":" FNR ": suite " suite
	}' | grep .; then
	echo "rift: names of suites begin with small_ or large_, see above" >&2
	exit 1
fi

# Criterion 2.4.1 lets gt(int, 2, 2) pass, and both of NAN: lt() and le() with the sides swapped do not.
if files -z 'tests/*.c' 'tests/*.h' 'workloads/*.[ch]' | xargs -0 -r grep -nE '[( !]g[te]\(([a-z0-9]+|type\([^)]*\)), '; then
	echo "rift: gt() and ge() of Criterion cannot be relied on; swap the sides: lt(), le()" >&2
	exit 1
fi
# Its all(), any() and none() leak, which the address sanitizer takes for the test's fault.
if files -z 'tests/*.c' 'tests/*.h' 'workloads/*.[ch]' 'layers/*.[ch]' | xargs -0 -r grep -nE 'cr_(assert|expect)\((all|any|none)\('; then
	echo "rift: all(), any() and none() of Criterion leak; write an assertion for each" >&2
	exit 1
fi

# What stands behind ± comes from text_half_width(): beyond 100 % there is no figure.
if files -z 'harness/*.c' | xargs -0 -r grep -HnE '±[^"%]*%[-+.*0-9]*[defg]' --; then
	echo "rift: a number behind ± that text_half_width() (harness/base/text.h) has not seen" >&2
	exit 1
fi

# Takes as long as all else, on one core, and says nothing where nothing is wrong.
echo "== cppcheck, meanwhile"
# Tests are left out: Criterion's macros are beyond it.
# shellcheck disable=SC2046
cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,portability,performance \
	--inline-suppr --suppress=missingInclude --suppress=missingIncludeSystem \
	-I. -Icommon/cpu/include common harness workloads layers -i common/cpu/include \
	$(files '*/test_*.c' | sed 's/^/-i /') &
cppcheck=$!
trap 'kill "$cppcheck" 2>/dev/null || true' EXIT

echo "== clang-format"
files -z '*.c' '*.h' '*.cu' '*.cuh' | xargs -0 clang-format --dry-run -Werror

echo "== shellcheck"
files -z '*.sh' '*.sbatch' .ci/run share/slurm/rift-fleet | xargs -0 shellcheck

# Each header stands alone, so that it can be included first; those that .cu files may want also
# as C++.
echo "== headers"
stands_alone() { # LANGUAGE STANDARD HEADER
	printf '#include "%s"\n' "$3" |
		${CC:-cc} "-std=$2" -D_GNU_SOURCE -Wall -Wextra -Werror -I. -Icommon/cpu/include \
			-fsyntax-only -x "$1" - || {
		echo "rift: $3 does not compile alone as $1" >&2
		exit 1
	}
}
for h in $(files '*.h'); do
	case $h in
	common/gpu.h) ;; # C++ by nature
	*) stands_alone c c11 "$h" ;;
	esac
	case $h in
	common/trace/*) ;; # C by nature: calls have a member class
	common/cpu/include/* | common/[!c]*.h | common/c[!p]*.h | workloads/* | layers/layer.h) stands_alone c++ c++17 "$h" ;;
	esac
done

# Folders of harness/ are floors: a file includes its own folder's headers and those below it.
echo "== floors"
floors="base stats platform measure record fit compare session probe chart share profile trial report cmd main.c"
# shellcheck disable=SC2016
if files -z 'harness/*.c' 'harness/*.h' 'harness/*.cu' | xargs -0 awk -v floors="$floors" '
	BEGIN { n = split(floors, f, " "); for (i = 1; i <= n; i++) floor[f[i]] = i }
	/^#include "harness\// {
		split(FILENAME, from, "/")
		split($0, to, "/")
		if (!floor[to[2]] || !floor[from[2]] || floor[to[2]] > floor[from[2]])
			print FILENAME ":" FNR ": " from[2] " is no floor above " to[2]
	}' | grep .; then
	echo "rift: includes that go up, see above; docs/architecture.md has the floors" >&2
	exit 1
fi

# Below them all: a change of the contract of workloads makes no layer again.
if files -z 'common/*.[ch]' 'layers/*.[ch]' ':!*/test_*' | xargs -0 grep -nE '^#include "(workloads|harness)/' --; then
	echo "rift: common/ and layers/ include neither workloads nor the harness, see above" >&2
	exit 1
fi

# What it names is there.
echo "== docs/architecture.md"
# shellcheck disable=SC2016
grep -oE '`(harness|common|layers|workloads|tests|tools|plots|data|docs)/[^` ]*`' docs/architecture.md | tr -d '`' |
	while IFS= read -r path; do
		[ -e "$path" ] || echo "docs/architecture.md: no $path"
	done | grep . && exit 1

# So are those of common/cpu, by what is included and by what objects use.
echo "== floors of the CPU device"
tools/floors.sh

echo "== words"
if files -z '*.c' '*.h' '*.cu' '*.cuh' '*.sh' '*.mk' Makefile | xargs -0 grep -nwE 'TODO|FIXME|XXX|HACK' -- | grep -v '^tools/lint.sh'; then
	echo "rift: leftovers above" >&2
	exit 1
fi

# Words that have been replaced, most by those of the field; in code, comments and printed texts.
sources() { files -z '*.c' '*.h' '*.cu' '*.cuh' '*.sh' '*.awk' ':!tools/lint.sh'; }
printed='platform card|cold process|kinds? of waiting|warning signs'
words="$printed|\\bparty\\b|\\bsurroundings\\b|journal_saw|\\bforesee|\\bgreet|step_cost_|disjoint_refuse|\\blay_down"
found=$(
	sources | xargs -0 grep -nE "$words" -- || true
	files -z README.md 'docs/*.md' | xargs -0 grep -nE "$printed" -- || true
	if [ -f build/cpu/rift ]; then
		strings build/cpu/rift | grep -E "$printed" | sed 's,^,build/cpu/rift: ,'
	fi
)
if [ -n "$found" ]; then
	echo "$found"
	echo "rift: words above have been replaced" >&2
	exit 1
fi
wait "$cppcheck" || {
	echo "rift: cppcheck found the above" >&2
	exit 1
}
echo "lint: clean"
