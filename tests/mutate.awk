# mutate.awk - places in C files where one operator or constant may be changed, for
# mutants_random.sh: awk -v seed=SEED -f tests/mutate.awk FILE...
#
# Prints them all, in an order drawn from the seed, each with one change drawn for it:
#   FILE LINE COLUMN LENGTH WHERE TO     separated by tabs
# LENGTH bytes from COLUMN on, counted from 1, become TO, which may be empty; WHERE is `code` inside
# functions, else `data`. Comments, texts, lines of the preprocessor and the sizes of arrays that
# are declared stay as they are, and so does what is added to the number of what calloc() is asked
# for, and && where it asks whether memory is there; a one of calloc() becomes none. It relies on
# how .clang-format sets spaces: `a * b`, but `*b`.

# Park and Miller's generator: the same draws with every awk.
function draw(n)
{
	state = state * 16807 % 2147483647
	return int(state / 2147483647 * n)
}

function swap(a, b) { to[a] = b; to[b] = a }

BEGIN {
	state = (seed % 100000007) * 12 + 1
	draw(1); draw(1); draw(1)
	swap("==", "!="); swap("&&", "||"); swap("++", "--"); swap("+=", "-=")
	swap("*=", "/="); swap("|=", "&="); swap("<<", ">>"); swap("<<=", ">>=")
	to["<"] = "<=\t>="; to[">"] = ">=\t<="; to["<="] = "<\t>"; to[">="] = ">\t<"
	between["+"] = "-"; between["-"] = "+"; between["*"] = "/"; between["/"] = "*"
	between["%"] = "/"; between["&"] = "|"; between["|"] = "&"; between["^"] = "&"
	before["-"] = "-"; before["!"] = "!"; before["~"] = "~"
	swap("true", "false"); swap("fmin", "fmax"); swap("fminf", "fmaxf")
	swap("floor", "ceil"); swap("INFINITY", "-INFINITY"); delete to["-INFINITY"]
	to["NAN"] = "0"; to["fabs"] = ""; changed["fabs"]
	for (t in to)
		changed[t]
}

function site(column, length_, tos) { place[n_places++] = FILENAME "\t" FNR "\t" column "\t" length_ "\t" where "\t:" tos }

# Off by one, or half and double where it is no whole number.
function number(text)
{
	if (text ~ /^0$/)
		return "1\t-1"
	if (text ~ /^[1-9][0-9]*$/ && length(text) < 15)
		return sprintf("%d\t%d", text + 1, text - 1)
	if (text ~ /^0?\.?0*$/)
		return "1"
	if (text ~ /^0[xX]/ || text !~ /[.eE]/)
		return "(" text " + 1)\t(" text " - 1)"
	return "(" text " * 2)\t(" text " / 2)"
}

# Between the brackets of an array that this line declares.
function is_array_size(i, k, inner)
{
	if ($0 ~ /^[\t ]*(return|else|case) / ||
	    $0 !~ /^[\t ]*((static|const|unsigned|struct|enum|union) )*[a-z_0-9]+ \**[a-z_0-9]+(\[|, )/)
		return 0
	for (k = i - 1; k > 0; k--)
		if (substr($0, k, 1) == "]")
			inner++
		else if (substr($0, k, 1) == "[" && inner-- == 0)
			break
	return k > 0 && substr($0, 1, k) !~ /[=(]/
}

# The 1 of calloc(n + 1, ...), which keeps n = 0 valid: no test can tell one more or less.
function is_room_to_spare(i)
{
	return substr($0, i - 2, 2) == "+ " && substr($0, 1, i) ~ /calloc\([^,]*$/
}

# Is the memory there that was asked for? Where some of it was not, the next line faults.
function asks_for_memory() { return $0 ~ /CHECK\(.*"memory of/ }

# What no test can tell to be one more.
function is_one(i) { return substr($0, i - 7, 9) == "calloc(1," }

function spaced(i, length_)
{
	return substr($0, i - 1, 1) == " " && (i + length_ > length($0) || substr($0, i + length_, 1) == " ")
}

FNR == 1 { in_comment = 0; where = "data"; continued = 0 }
/^{/ { where = "code" }
/^}/ { where = "data" }
{
	skip = continued || (!in_comment && $0 ~ /^[ \t]*#/)
	continued = skip && $0 ~ /\\$/
	for (i = 1; i <= length($0); i += step) {
		rest = substr($0, i)
		step = 1
		if (in_comment) {
			if (rest ~ /^\*\//) {
				in_comment = 0
				step = 2
			}
		} else if (rest ~ /^\/\*/) {
			in_comment = 1
			step = 2
		} else if (rest ~ /^\/\//) {
			break
		} else if (match(rest, /^"([^"\\]|\\.)*"/) || match(rest, /^'([^'\\]|\\.)*'/)) {
			step = RLENGTH
		} else if (skip) {
			continue
		} else if (match(rest, /^[A-Za-z_][A-Za-z_0-9]*/)) {
			step = RLENGTH
			t = substr(rest, 1, step)
			if (t in changed && !(t == "INFINITY" && substr($0, i - 1, 1) == "-"))
				site(i, step, to[t])
		} else if (match(rest, /^\.?[0-9]([eEpP][+-]|[A-Za-z_0-9.])*/)) {
			step = RLENGTH
			if (!is_array_size(i) && !is_room_to_spare(i))
				site(i, step, is_one(i) ? "0" : number(substr(rest, 1, step)))
		} else if (match(rest, /^(<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*\/%&|^]=)/)) {
			step = RLENGTH
			t = substr(rest, 1, step)
			if (t in to && !(t == "&&" && asks_for_memory()))
				site(i, step, to[t])
		} else {
			t = substr(rest, 1, 1)
			if (t in between && spaced(i, 1) && !is_array_size(i))
				site(i, 1, between[t])
			else if (t in to && spaced(i, 1))
				site(i, 1, to[t])
			else if (t in before && substr($0, i + 1, 1) ~ /[A-Za-z_0-9(.*]/)
				site(i, 1, "")
		}
	}
}
END {
	for (i = 0; i < n_places; i++) {
		k = i + draw(n_places - i)
		t = place[k]; place[k] = place[i]; place[i] = t
		fields = split(t, f, "\t")
		sub(/^:/, "", f[6])
		print f[1] "\t" f[2] "\t" f[3] "\t" f[4] "\t" f[5] "\t" f[6 + draw(fields - 5)]
	}
}
