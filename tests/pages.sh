#!/bin/bash
# pages.sh [--only-write] RIFT FOLDER - a report of each kind of record, from the kept ones, in FOLDER: written, parsed
# by tidy, and looked at in headless Chromium 400, 1000 and 1600 pixels wide and on paper. In Chromium nothing may be
# wider than the window, each link and each part of a chart must be there, no id twice, no script, no word on the console.
# What is not installed (tidy, chromium, poppler-utils) is left out, and a line says so. Ends with 1 where a page is bad.
set -u
only=''
[ "${1:-}" != --only-write ] || { only=yes && shift; }
rift=$(realpath "${1:?usage: pages.sh [--only-write] RIFT FOLDER}")
folder=${2:?usage: pages.sh [--only-write] RIFT FOLDER}
cd "$(dirname "$0")/.." || exit 3
mkdir -p "$folder" && folder=$(realpath "$folder") || exit 3
sessions=data/sessions status=0
bad() {
	echo "rift: pages.sh: $*" >&2
	status=1
}

# ---- a page of each kind ------------------------------------------------------------------------

write() { # NAME WORD...
	local name=$1
	shift
	rm -f "$folder/$name.html"
	"$rift" report "$@" --quiet --output "$folder/$name.html" || bad "$name: not written"
	"$rift" report "$@" --quiet --markdown >"$folder/$name.md" || bad "$name: no Markdown"
	[ "$(wc -l <"$folder/$name.md")" -lt 60 ] || bad "$name.md: 60 lines or more"
	[ "$(wc -c <"$folder/$name.html")" -lt 5000000 ] || bad "$name.html: 5 MB or more"
}

rows=()
for row in shim container cpu-50 cpu-100 MPS CUPTI HAMi-O0 HAMi-O2 nvshare vgpu-manager Lupine remote \
	neighbour-copy neighbour-launch neighbour-spin; do
	rows+=("$row=$sessions/atlas-h200/$row.jsonl.gz")
done
# The base of each of them, on several machines over two days; and nodes of which one has slow launches.
series=()
for row in none none-1 none-2 "${rows[@]#*=}"; do
	series+=("$sessions/atlas-h200/$(basename "$row" .jsonl.gz).jsonl.gz")
done
rm -f "$folder"/node?.jsonl
for node in 1 2 3 4; do
	RIFT_CPU_LAUNCH_NS=$((node == 3 ? 60000 : 0)) "$rift" sweep launch us=20 --depth 1 --mode stream --quick --processes 3 \
		--platform "node$node" --output "$folder/node$node.jsonl" --quiet >"$folder/sweep.txt" || bad "node$node: not measured"
done
write session $sessions/h200-launch.jsonl
write two $sessions/atlas-h200/CUPTI.jsonl.gz
write layers $sessions/atlas-h200/none.jsonl.gz:a "${rows[@]}" --force
write share $sessions/share-h200/pair-myocyte-mlp.jsonl.gz
write trace data/traces/h200-pytorch-eager.trace.gz
write time $sessions/programs-h200/xsbench.jsonl.gz
write series --each date --side a "${series[@]}"
write fleet --each node "$folder"/node?.jsonl
[ ! "$only" ] || exit "$status"

# ---- as a parser and a browser see them ---------------------------------------------------------

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if command -v tidy >/dev/null; then
	for page in "$folder"/*.html; do
		tidy -quiet -errors "$page" >"$work/tidy" 2>&1 || { bad "$page:" && head -3 "$work/tidy"; }
	done
else
	echo "pages.sh: no tidy: pages are not parsed"
fi

look='
function look(frame) {
	const d = frame.contentDocument, wide = frame.contentWindow.innerWidth, bad = [], ids = {};
	if (d.documentElement.scrollWidth > wide) bad.push("scrolls");
	for (const e of d.querySelectorAll("body *"))
		if (e.getBoundingClientRect().right > wide + 1 && !e.closest(".wide,pre,svg")) bad.push("wide " + e.tagName);
	for (const e of d.querySelectorAll("[id]")) ids[e.id] = (ids[e.id] || 0) + 1;
	for (const id in ids) if (ids[id] > 1) bad.push("twice " + id);
	for (const e of d.querySelectorAll("a, use")) {
		const to = e.getAttribute("href") || e.getAttribute("xlink:href") || "";
		if (!to.startsWith("#") || !ids[to.slice(1)]) bad.push("nowhere " + to);
	}
	for (const e of d.querySelectorAll("figure")) {
		const chart = e.querySelector("svg[role=img][aria-label]");
		if (!chart || !chart.getAttribute("aria-label") || chart.getBoundingClientRect().height < 50) bad.push("no chart");
	}
	if (d.scripts.length) bad.push("script");
	return bad.slice(0, 5);
}
addEventListener("load", () => document.getElementById("said").textContent =
	[...document.querySelectorAll("iframe")].map(f => f.style.width + " " + look(f).join(", ")).join(";"));'

browse() {
	timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/profile" --enable-logging=stderr "$@"
}

see() { # PAGE
	local page=$1 said
	{
		echo '<!DOCTYPE html><meta charset="utf-8"><body>'
		for width in 400 1000 1600; do
			printf '<iframe style="width:%dpx;height:900px;border:0" srcdoc="' "$width"
			sed 's/&/\&amp;/g; s/"/\&quot;/g' "$page"
			echo '"></iframe>'
		done
		echo "<p id=\"said\"></p><script>$look</script>"
	} >"$work/look.html"
	browse --window-size=1700,900 --dump-dom "file://$work/look.html" >"$work/dom" 2>"$work/log"
	said=$(sed -n 's/.*<p id="said">\([^<]*\)<.*/\1/p' "$work/dom")
	[ "$said" = '400px ;1000px ;1600px ' ] || bad "$page: ${said:-not seen}"
	! grep CONSOLE "$work/log" || bad "$page: words on the console"
	browse --no-pdf-header-footer --print-to-pdf="$work/page.pdf" "file://$page" 2>/dev/null
	if command -v pdfinfo >/dev/null; then
		pdfinfo "$work/page.pdf" | grep -q '^Page size:.*(A4)' || bad "$page: not on A4"
	fi
}

echo '<p>seen' >"$work/try.html"
if command -v chromium >/dev/null && browse --dump-dom "file://$work/try.html" 2>/dev/null | grep -q seen; then
	for page in "$folder"/*.html; do
		see "$page"
	done
else
	echo "pages.sh: no chromium that runs here: pages are not looked at"
fi
[ "$status" = 0 ] && echo "pages.sh: $(find "$folder" -name '*.html' | wc -l) pages are as they should be"
exit "$status"
