#!/bin/sh
# criterion_git.sh CC... - prints the libgit2 that Criterion loads and that tests/lazy_git.c can take the place of; nothing
# where Criterion loads none, or calls more of it than tests/lazy_git.c has.
criterion=$("$@" -print-file-name=libcriterion.so)
nm -D --undefined-only "$criterion" 2>/dev/null | grep -o '\bgit_[a-z0-9_]*' |
	grep -qvxF -e git_diff_buffers -e git_libgit2_init -e git_libgit2_shutdown ||
	ldd "$criterion" 2>/dev/null | sed -n 's,.*=> \(/.*/libgit2\.so[^ ]*\) .*,\1,p'
