# Sentences of Markdown with more than 25 words, a line each: FILE:LINE WORDS SENTENCE.
#
# A sentence ends with a full stop, an exclamation or a question mark, and with its paragraph or list
# item. A table's cell is a list more than a sentence: a semicolon ends a part of it, and code in it is
# no word. Elsewhere `code` is one word. A link is its text, and signs alone are no words.
# Headings, fences, comments, lists of links, and the tables of options, which rift prints, are left out.
function part(what,   words, n, i, count) {
	n = split(what, words, /[ \t]+/)
	for (i = 1; i <= n; i++)
		if (words[i] ~ /[A-Za-z0-9]/) count++
	if (count > 25) print file ":" at, count, what
}
function flush(ends, code,   parts, n, i, link) {
	gsub(/`[^`]*`/, code, text)
	gsub(/!\[[^]]*\]\([^)]*\)/, "", text)
	while (match(text, /\[[^]]*\]\([^)]*\)/)) {
		link = substr(text, RSTART + 1, RLENGTH - 1)
		sub(/\].*/, "", link)
		text = substr(text, 1, RSTART - 1) link substr(text, RSTART + RLENGTH)
	}
	n = split(text, parts, ends)
	for (i = 1; i <= n; i++) part(parts[i])
	text = ""
}
function flush_text() { flush("([.!?][*_)\"]* +)| · ", "code") }
FNR == 1 { flush_text(); file = FILENAME; fence = skip = 0 }
/^ *```/ { flush_text(); fence = !fence; next }
fence { next }
/^<!-- options of rift/ { skip = 1 }
/^<!-- end of options/ { skip = 0 }
skip || /^<!--/ || /^ *$/ || /^#/ { flush_text(); next }
/^    / && text == "" { next }
/^ *\|/ {
	flush_text()
	at = FNR
	row = $0
	gsub(/\\\|/, "/", row)
	gsub(/`[^`]*`/, "-", row)
	cells = split(row, cell, /\|/)
	for (c = 1; c <= cells; c++) { text = cell[c]; flush("([.!?][*_)\"]* +)|;", "-") }
	next
}
/^ *([*-]|[0-9]+\.) / { flush_text(); sub(/^ *([*-]|[0-9]+\.) +/, "") }
{ if (text == "") at = FNR; text = text " " $0 }
END { flush_text() }
