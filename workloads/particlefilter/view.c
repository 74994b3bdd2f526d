/* view.c - summary of a frame from its track. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "workloads/particlefilter/particlefilter.h"

const char particlefilter_track_header[] =
	"frame,xe,ye,truth_row,truth_col,distance,sum_loglik,max_loglik,"
	"sum_weights,ess,n_best,cdf_last,u1,unique_ancestors,"
	"ancestors_crc32\n";
const char particlefilter_particles8_header[] = "frame,i,x,y,loglik,weight,cdf,u,ancestor\n";

int particlefilter_view_init(struct pf_view *v, int64_t particles)
{
	size_t n = (size_t)particles;

	*v = (struct pf_view){ .particles = particles };
	v->x = malloc(5 * n * sizeof(*v->x));
	v->ancestor = malloc(n * sizeof(*v->ancestor));
	if (!v->x || !v->ancestor)
		return complain(ENOMEM,
				"particles=%ld: no %zu bytes of host memory to look at them",
				(long)particles, 44 * n);
	v->y = v->x + n;
	v->loglik = v->x + 2 * n;
	v->w = v->x + 3 * n;
	v->c = v->x + 4 * n;
	return 0;
}

void particlefilter_view_release(struct pf_view *v)
{
	free(v->x);
	free(v->ancestor);
	*v = (struct pf_view){ 0 };
}

uint32_t particlefilter_crc32(const void *bytes, size_t n)
{
	const uint8_t *b = bytes;
	uint32_t crc = 0xFFFFFFFFu;

	for (size_t i = 0; i < n; i++) {
		crc ^= b[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
	}
	return ~crc;
}

/* Ancestors of a systematic resampling ascend. */
static int64_t count_distinct(const int32_t *a, int64_t n)
{
	int64_t distinct = n > 0;

	for (int64_t i = 1; i < n; i++)
		distinct += a[i] != a[i - 1];
	return distinct;
}

static void sum_up(const struct pf_view *v, double *sum, double *most, double *best)
{
	*sum = *best = 0;
	*most = -INFINITY;
	for (int64_t i = 0; i < v->particles; i++) {
		*sum += v->loglik[i];
		if (v->loglik[i] > *most) {
			*most = v->loglik[i];
			*best = 0;
		}
		*best += v->loglik[i] == *most;
	}
}

void particlefilter_describe(const struct pf_rules *rules, bool synthetic, int64_t k,
			     const struct pf_view *v, struct pf_row *row)
{
	const struct pf_estimate *e = &v->estimate;
	int64_t n = v->particles, truth_row, truth_col;
	double sum, most, best;

	particlefilter_truth(rules->rows, rules->cols, rules->wraps, k, &truth_row, &truth_col);
	sum_up(v, &sum, &most, &best);
	*row = (struct pf_row){
		.frame = k,
		.value = {
			e->xe,
			e->ye,
			synthetic ? (double)truth_row : NAN,
			synthetic ? (double)truth_col : NAN,
			hypot(e->xe - rules->start_row, e->ye - rules->start_col),
			sum,
			most,
			e->sum * exp(e->max),
			e->ess,
			best,
			v->c[n - 1],
			e->u / (double)n,
			(double)count_distinct(v->ancestor, n),
		},
		.crc = particlefilter_crc32(v->ancestor, (size_t)n * sizeof(*v->ancestor)),
	};
}
