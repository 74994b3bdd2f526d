#!/bin/sh
# build_info.sh TYPE FLAGS ARCHS - prints a header that says how this rift was built, and from
# which commit: what the records of its measurements begin with.
set -eu
define() { # NAME TEXT
	printf '#define BUILD_%s "%s"\n' "$1" "$(printf '%s' "$2" | tr '\n\t' '  ' | sed 's/["\\]/\\&/g')"
}

define TYPE "$1"
define FLAGS "$2"
define ARCHS "$3"
# Without git or a checkout there is no commit; one of a folder above is not rift's.
commit='' dirty=0
if [ -z "$(git rev-parse --show-prefix 2>/dev/null || echo none)" ]; then
	commit=$(git rev-parse HEAD 2>/dev/null || true)
	git diff --quiet HEAD -- 2>/dev/null || dirty=1
fi
define COMMIT "$commit"
printf '#define BUILD_DIRTY %s\n' "$dirty"
