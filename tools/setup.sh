#!/bin/sh
# setup.sh run|plot|test|lint|pages|fleet - makes sure that the packages which a target needs are there.
#
# Looks for the tools and headers themselves, not for package names, so that libraries from
# anywhere will do. What is missing is printed; then, by $SETUP:
#   ask (default)  asks on a terminal; without one installs if root
#   yes            installs (through sudo if not root)
#   no             never installs
# Installing needs apt-get (Debian, Ubuntu); elsewhere the list is all there is.
set -eu
target=${1:?usage: setup.sh run|plot|test|lint|fleet}
SETUP=${SETUP:-ask}
case $SETUP in
ask | yes | no) ;;
*)
	echo "rift: SETUP=$SETUP: use ask, yes or no" >&2
	exit 3
	;;
esac
# Either may bring options along: gcc -pipe.
cc=${CC:-cc}
cxx=${CXX:-c++}
missing=

need() { # PACKAGE COMMAND...: the package is missing when the command fails
	package=$1
	shift
	"$@" >/dev/null 2>&1 || missing="$missing $package"
}
header() { printf '#include <%s>\n' "$1" | $cc -E -x c - >/dev/null; }
library() { printf 'int main(void) { return 0; }\n' | $cc -x c - "-l$1" -o /dev/null; }

need make command -v make
need gcc command -v "${cc%% *}"
need g++ command -v "${cxx%% *}"
need libc6-dev header stdio.h
need libjansson-dev header jansson.h
need libnlopt-dev header nlopt.h
need zlib1g-dev header zlib.h
# The CPU device's matrix products. Any OpenBLAS will do; Debian's serial one starts no threads that
# would have to be stopped.
[ "$(tools/device.sh 2>/dev/null)" = cuda ] || need libopenblas-serial-dev library openblas
if [ "$target" = plot ]; then
	need gnuplot-nox command -v gnuplot
fi
# Tests that need one of these skip without it, and say so: a machine that can install nothing runs the others.
if [ "$target" = test ] && [ "$SETUP" != no ]; then
	need gnuplot-nox command -v gnuplot
	need bubblewrap command -v bwrap
elif [ "$target" = test ]; then
	command -v gnuplot >/dev/null || echo "rift: no gnuplot: tests that draw will be skipped" >&2
	command -v bwrap >/dev/null || echo "rift: no bwrap: tests of the layer container will be skipped" >&2
fi
if [ "$target" = test ]; then
	need libcriterion-dev header criterion/criterion.h
	need libgsl-dev header gsl/gsl_odeiv2.h
	need libedlib-dev header edlib.h
	need libsqlite3-0 library :libsqlite3.so.0
fi
# What looks at the pages of rift report as a parser, a browser and a printer do (tests/pages.sh).
if [ "$target" = pages ]; then
	need gnuplot-nox command -v gnuplot
	need tidy command -v tidy
	need chromium command -v chromium
	need poppler-utils command -v pdfinfo
fi
if [ "$target" = lint ]; then
	need git command -v git
	need clang-format command -v clang-format
	need cppcheck command -v cppcheck
	need shellcheck command -v shellcheck
fi
if [ "$target" = fleet ]; then
	need slurmctld command -v slurmctld
	need slurmd command -v slurmd
	need slurm-client command -v sbatch
	need munge command -v munged
	need python3-venv python3 -m venv --help
fi
[ -n "$missing" ] || exit 0

stop() {
	echo "rift: missing packages:$missing" >&2
	echo "rift: $1" >&2
	exit 3
}
by_hand="install them, on Debian or Ubuntu with: apt-get install$missing"
[ "$SETUP" != no ] || stop "SETUP=no: $by_hand"
command -v apt-get >/dev/null ||
	stop "no apt-get here; install these libraries and tools with your system's package manager"

root=
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || stop "not root and no sudo here: $by_hand"
	root=sudo
fi
if [ "$SETUP" = ask ] && [ -t 0 ] && [ -t 2 ]; then
	printf 'rift: missing packages:%s\nInstall them now with apt-get? [Y/n] ' "$missing" >&2
	read -r answer
	case $answer in
	n* | N*) stop "$by_hand" ;;
	esac
elif [ "$SETUP" = ask ] && [ -n "$root" ]; then
	stop "not root and no terminal to ask on; SETUP=yes uses sudo, or $by_hand"
fi

echo "rift: installing$missing; this may take a minute" >&2
# What the package manager says is of use only where it fails. It may ask nothing, as nobody sees it.
said=$(mktemp)
trap 'rm -f "$said"' EXIT
apt="$root env DEBIAN_FRONTEND=noninteractive apt-get -qq"
# The list is words of our own, split on purpose.
# shellcheck disable=SC2086
if ! { $apt update && $apt install -y --no-install-recommends $missing; } >"$said" 2>&1 </dev/null; then
	cat "$said" >&2
	stop "apt-get failed (no network, or another package manager at work?): $by_hand"
fi
