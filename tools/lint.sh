#!/bin/sh
# lint.sh - formatting and static checks over every source file; fails on the first kind found.
set -eu
files() { git ls-files -co --exclude-standard "$@"; }

echo "== clang-format"
files -z '*.c' '*.h' '*.cu' '*.cuh' | xargs -0 clang-format --dry-run -Werror

echo "== shellcheck"
files -z '*.sh' .ci/run | xargs -0 shellcheck

# Each header stands alone, as C and as C++: a user includes it first.
echo "== headers"
for h in $(files '*.h'); do
	for lang in c c++; do
		case $lang$h in
		ccommon/gpu.h | ccommon/cpu/include/cuda_runtime.h) continue ;; # C++ by nature
		c++common/cpu/[!i]*) continue ;;                                 # C by nature
		esac
		std=c11
		[ "$lang" = c ] || std=c++17
		printf '#include "%s"\n' "$h" |
			${CC:-cc} -std=$std -D_GNU_SOURCE -Wall -Wextra -Werror -I. -Icommon/cpu/include \
				-fsyntax-only -x $lang - || {
			echo "rift: $h does not compile alone as $lang" >&2
			exit 1
		}
	done
done

echo "== cppcheck"
# Tests are left out: Criterion's macros are beyond it.
# shellcheck disable=SC2046
cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,portability,performance \
	--inline-suppr --suppress=missingInclude --suppress=missingIncludeSystem \
	-I. -Icommon/cpu/include common harness workloads -i common/cpu/include \
	$(files '*/test_*.c' | sed 's/^/-i /')

echo "== words"
if files -z '*.c' '*.h' '*.cu' '*.cuh' '*.sh' '*.mk' Makefile | xargs -0 grep -nE 'TODO|FIXME|XXX|HACK' -- | grep -v '^tools/lint.sh'; then
	echo "rift: leftovers above" >&2
	exit 1
fi
echo "lint: clean"
