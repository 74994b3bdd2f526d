/*
 * wsl2-2021 - WSL2 a year later: submission that hardly costs, asynchronous paging.
 * Told by NVIDIA's article on CUDA on WSL2 (2021). "Fitted": towards what the article says,
 * docs/results/wsl2.md.
 */
static const char wsl2_2021[] =
	"call=0.1 "		 /* fitted: particlefilter close to native where it need not wait */
	"n=64 age=500 "		 /* guess */
	"submit=0.3 return=0.2 " /* fitted: the same, and myocyte at most 1.3 times as long */
	"where=caller "	    /* fitted: a thread of the layer's own costs 3 us more a wait, too much
			       for myocyte, though the article has submission asynchronous */
	"serialize=yes "    /* packet scheduling */
	"stretch=5.3 "	    /* guess: copies at 0.95 of native */
	"alloc=100 "	    /* guess */
	"paging=first-use"; /* the article: asynchronous paging */
