/* param_cases.h - the tables of test_param.c: a struct of every kind, what it takes and refuses. */
#ifndef RIFT_TESTS_PARAM_CASES_H
#define RIFT_TESTS_PARAM_CASES_H

#include <math.h>

#include "common/param.h"

struct thing_opts {
	int64_t count, bytes, cells, any, odd;
	double dt, free;
	int solver;
	const char *file;
	struct param_list layers;
	const char *when;
};

static const char *const solvers[] = { "rk4", "rkf78", "euler", NULL };
static const struct param rows[] = {
	PARAM_INT(thing_opts, count, "1", "3", -5, 100, "a number"),
	PARAM_SIZE(thing_opts, bytes, "bytes", "1k", 0, 0x1p40, "a size"),
	PARAM_AXIS(thing_opts, cells, "cells", "1", 1, 65536, "1,32,1k", "the axis"),
	PARAM_SIZE(thing_opts, any, "", "0", -INFINITY, INFINITY, "any whole number"),
	PARAM_INT(thing_opts, odd, "", "1", 0.5, 9007199254740992.0, "limits between integers"),
	PARAM_REAL(thing_opts, dt, "ms", "0.5", 1e-6, 10, "a time"),
	PARAM_REAL(thing_opts, free, "", "0", -INFINITY, INFINITY, "any number"),
	PARAM_CHOICE(thing_opts, solver, "rkf78", solvers, "a solver"),
	PARAM_PATH(thing_opts, file, "a file"),
	PARAM_LIST(thing_opts, layers, "neurons", "784,512,10", 1, 1 << 20, "widths"),
	PARAM_TEXT(thing_opts, when, "seconds, or p1", "any text"),
	PARAM_END,
};

/* Accepted: the text that the value is formatted as. */
static const struct {
	const char *typed, *shown;
} accepted[] = {
	{ "count=-5", "-5" },
	{ "count=100", "100" },
	{ "count=0", "0" },
	{ "count=-0", "0" },
	{ "count=007", "7" },
	{ "bytes=0", "0" },
	{ "bytes=1000", "1000" },
	{ "bytes=1024", "1k" },
	{ "bytes=64k", "64k" },
	{ "bytes=64K", "64k" },
	{ "bytes=1536", "1536" },
	{ "bytes=8M", "8M" },
	{ "bytes=1024k", "1M" },
	{ "bytes=1024G", "1024G" },
	{ "any=9223372036854775807", "9223372036854775807" },
	{ "any=-9223372036854775808", "-8589934592G" },
	{ "any=-8589934592G", "-8589934592G" },
	{ "any=8589934591G", "8589934591G" },
	{ "any=-1k", "-1k" },
	{ "odd=1", "1" },
	{ "odd=9007199254740992", "9007199254740992" },
	{ "dt=1e-6", "1e-6" },
	{ "dt=10", "10" },
	{ "dt=.5", "0.5" },
	{ "dt=5.", "5" },
	{ "dt=0.1", "0.1" },
	{ "dt=+1E+0", "1" },
	{ "dt=0.30000000000000004", "0.30000000000000004" },
	{ "free=-1.7976931348623157e308", "-1.7976931348623157e308" },
	{ "free=123456789", "123456789" },
	{ "free=1e22", "1e22" },
	{ "solver=rk4", "rk4" },
	{ "file=a b=c", "a b=c" },
	{ "when=p1", "p1" },
	{ "layers=1", "1" },
	{ "layers=784,2k,10", "784,2k,10" },
	{ "layers=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,"
	  "30,31,32",
	  "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,"
	  "32" },
};

/* Refused: what the one line says. */
static const struct {
	const char *typed, *said;
} refused[] = {
	{ "cels=1", "unknown parameter 'cels' of thing; did you mean 'cells'?" },
	{ "Cells=1", "did you mean 'cells'?" },
	{ "zzzzz=1", "unknown parameter 'zzzzz' of thing; `rift list thing`" },
	{ "cells", "'cells' has no value; write cells=VALUE" },
	{ "1024", "'1024' must be name=value" },
	{ "", "'' must be name=value" },
	{ "=3", "'=3' must be name=value" },
	{ "count=", "count=: empty; must be a whole number, -5 to 100" },
	{ "count=101", "count=101: out of range; must be a whole number, -5 to 100" },
	{ "count=-6", "out of range" },
	{ "count=12x", "count=12x: not a whole number" },
	{ "count=1k", "not a whole number" },
	{ "count= 1", "not a whole number" },
	{ "count=1 ", "not a whole number" },
	{ "count=+1", "not a whole number" },
	{ "count=-", "not a whole number" },
	{ "count=--1", "not a whole number" },
	{ "count=0x10", "not a whole number" },
	{ "count=1.0", "not a whole number" },
	{ "count=1e3", "whole numbers take no exponent" },
	{ "count=1e3.5", "whole numbers take no exponent" },
	{ "count=nan", "not a whole number" },
	{ "count=1\n2", "not a whole number" },
	{ "cells=0",
	  "cells=0: out of range; must be a whole number (k, M, G: powers of 1024), 1 to "
	  "64k cells" },
	{ "cells=65537", "1 to 64k cells" },
	{ "cells=65k", "out of range" },
	{ "bytes=1kk", "not a whole number" },
	{ "bytes=1m", "not a whole number" },
	{ "bytes=1KiB", "not a whole number" },
	{ "bytes=k", "not a whole number" },
	{ "bytes=9999999999999999999999x", "not a whole number" },
	{ "bytes=9999999999999999999999", "out of range; must be" },
	{ "any=9223372036854775808", "out of range" },
	{ "any=-9223372036854775809", "out of range" },
	{ "any=18446744073709551617", "out of range" },
	{ "any=8589934592G", "out of range" },
	{ "any=9007199254740993k", "out of range" },
	{ "odd=0", "out of range" },
	{ "odd=9007199254740993", "out of range" },
	{ "dt=11", "dt=11: out of range; must be a decimal number, 1e-6 to 10 ms" },
	{ "dt=0", "out of range" },
	{ "dt=nan", "dt=nan: not a decimal number" },
	{ "dt=NaN", "not a decimal number" },
	{ "dt=inf", "not a decimal number" },
	{ "dt=-infinity", "not a decimal number" },
	{ "dt=1e3.5", "not a decimal number" },
	{ "dt=1e", "not a decimal number" },
	{ "dt=", "empty" },
	{ "dt=.", "not a decimal number" },
	{ "dt=e5", "not a decimal number" },
	{ "dt=1,5", "not a decimal number" },
	{ "dt=0x1p3", "not a decimal number" },
	{ "dt= 1", "not a decimal number" },
	{ "dt=1 ms", "not a decimal number" },
	{ "free=1e309", "out of range" },
	{ "free=-1e309", "out of range" },
	{ "free=1e-400", "out of range" },
	{ "solver=rkf77",
	  "no such choice; must be one of rk4, rkf78, euler; did you mean 'rkf78'?" },
	{ "solver=RK4", "did you mean 'rk4'?" },
	{ "solver=", "solver=: empty; must be one of rk4, rkf78, euler\n" },
	{ "file=", "file=: empty; must be a file name\n" },
	{ "when=", "when=: empty; must be seconds, or p1\n" },
	{ "layers=", "empty; must be 1 to 32 whole numbers with commas, each 1 to 1M neurons" },
	{ "layers=1,,2", "empty element" },
	{ "layers=,1", "empty element" },
	{ "layers=1,", "empty element" },
	{ "layers=1,0", "out of range" },
	{ "layers=1,2M", "out of range" },
	{ "layers=1 ,2", "not a whole number" },
	{ "layers=1,x", "not a whole number" },
	{ "layers=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,"
	  "30,31,32,33",
	  "too many elements" },
};

#endif
