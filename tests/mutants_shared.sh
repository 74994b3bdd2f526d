# shellcheck shell=sh
# mutants_shared.sh - what mutants.sh, mutants_random.sh, new_workload.sh and new_layer.sh share: a
# copy of the tree to make mistakes in or to add to, and builds of it. The tree itself stays as it is.

wrong() {
	echo "${0##*/}: $*" >&2
	exit 3
}

# copy_tree TO: what git tracks and what it does not ignore, with what is built already, so that it
# need not be built again. Into a copy that is there already goes what differs, as new.
copy_tree() {
	mkdir -p "$1"
	git ls-files -co --exclude-standard | sort -u >"$1/.files.new"
	while IFS= read -r f; do
		if [ -e "$f" ] && ! [ -e "$1/$f" ]; then
			cp -a --parents "$f" "$1"
		elif [ -e "$f" ] && ! cmp -s "$f" "$1/$f"; then
			cp "$f" "$1/$f"
		fi
	done <"$1/.files.new"
	if [ -e "$1/.files" ]; then
		comm -23 "$1/.files" "$1/.files.new" | while IFS= read -r f; do rm -f "$1/$f"; done
	fi
	mv "$1/.files.new" "$1/.files"
	if [ -d build/cpu ] && ! [ -e "$1/build" ]; then
		mkdir "$1/build"
		cp -a build/cpu "$1/build"
	fi
}

# must WHAT COMMAND...: shows what the command printed where it fails; then nothing else is tried.
must() {
	what=$1
	shift
	"$@" >out 2>&1 || {
		cat out
		echo "rift: ${0##*/}: $what: failed" >&2
		exit 1
	}
}

# Goals and variables of make, in the copy; what it says is left in `log`.
make_cpu() { make -f build.mk DEVICE=cpu "$@" >log 2>&1; }
