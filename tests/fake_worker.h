/*
 * fake_worker.h - sessions whose side b has shell scripts for workers, which say what a test wants
 * them to. For one test program each: everything is static.
 */
#ifndef RIFT_TESTS_FAKE_WORKER_H
#define RIFT_TESTS_FAKE_WORKER_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "harness/session/workers.h"
#include "tests/capture.h"
#include "tests/folder.h"
#include "tests/four_points.h"

static char worker_folder[] = TEST_FOLDER_PATH, worker_session[64], worker_script[64];

/* Workers are numbered from 0; each leaves its job, and does what worker.NUMBER or `worker` says.
 */
static inline void fake_worker_make(void)
{
	FILE *out;

	test_folder_make(worker_folder);
	snprintf(worker_session, sizeof(worker_session), "%s/s.jsonl", worker_folder);
	snprintf(worker_script, sizeof(worker_script), "%s/side.sh", worker_folder);
	out = fopen(worker_script, "w");
	cr_assert(ne(ptr, out, NULL), "%s", worker_script);
	fprintf(out,
		"#!/bin/sh\n"
		"cd '%s' || exit 1\n"
		"n=0\n"
		"while [ -e job.$n ]; do n=$((n + 1)); done\n"
		"read -r job\n"
		"printf '%%s\\n' \"$job\" >job.$n\n"
		"header() { echo '{\"record\":\"header\",\"calib\":{},\"host\":{},\"gpu\":{},"
		"\"env\":{},\"cuda_flags\":{},\"warmup\":{}}'; }\n"
		"begin() { echo '{\"record\":\"begin\",\"round\":0,\"point\":'$1'}'; }\n"
		"setup() { echo '{\"record\":\"setup\",\"config\":'$1'}'; }\n"
		"visit() { for i; do echo '{\"record\":\"visit\",\"point\":'$i',\"round\":0,"
		"\"t_enq_ns\":[1],\"t_total_ns\":[1000000],\"t_dev_ns\":[],\"marks\":[0],"
		"\"canary_ns\":[200000,200000]}'; done; }\n"
		"bye() { echo '{\"record\":\"bye\"'$1'}'; }\n"
		"if [ -e worker.$n ]; then . ./worker.$n; else . ./worker; fi\n",
		worker_folder);
	fclose(out);
	cr_assert(zero(int, chmod(worker_script, 0700)), "%s", worker_script);
}

static inline void fake_worker_remove(void)
{
	test_folder_remove(worker_folder);
}

/* What a worker does, in the shell; number -1: all others. */
static inline void fake_worker_does(int number, const char *what)
{
	char path[80];
	FILE *out;

	if (number < 0)
		snprintf(path, sizeof(path), "%s/worker", worker_folder);
	else
		snprintf(path, sizeof(path), "%s/worker.%d", worker_folder, number);
	out = fopen(path, "w");
	cr_assert(ne(ptr, out, NULL), "%s", path);
	fprintf(out, "%s\n", what);
	fclose(out);
}

static inline int fake_workers(void)
{
	const char *text;

	shell(&text, "ls '%s' | grep -c '^job'", worker_folder);
	return atoi(text);
}

/* What the worker of this number was told. New reference. */
static inline json_t *fake_worker_job(int number)
{
	char path[80];
	json_t *job;

	snprintf(path, sizeof(path), "%s/job.%d", worker_folder, number);
	job = json_load_file(path, 0, NULL);
	cr_assert(ne(ptr, job, NULL), "%s", path);
	return job;
}

/* A new session of the four points: two sides, one round, so many processes each. */
static inline void fake_worker_session(struct session *s, int processes, bool pairs)
{
	struct plan p = four_points(fakes, true);

	p.design.processes = processes;
	p.design.rounds = 1;
	p.design.pairs = pairs;
	p.design.pause_min_ns = p.design.pause_max_ns = 0;
	*s = (struct session){ .patience_ns = 30e9, .policy = p.design.sync };
	cr_assert(zero(int, journal_create(&s->journal, &p, worker_session, worker_script,
					   "rift sweep")),
		  "create");
	show_start(&s->show, true);
}

#endif
