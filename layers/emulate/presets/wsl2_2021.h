/*
 * wsl2-2021 - WSL2 a year later: larger packets, asynchronous submission and paging. Told by
 * NVIDIA's article on CUDA on WSL2 (2021).
 */
static const char wsl2_2021[] = "call=1.5 "	   /* guess */
				"n=64 age=500 "	   /* guess: larger packets, says the article */
				"submit=45 "	   /* guess */
				"where=submitter " /* the article: asynchronous submission */
				"serialize=yes "   /* packet scheduling */
				"latency=15 return=15 " /* guess */
				"stretch=5.3 "		/* guess: copies at 0.95 of native */
				"alloc=100 "		/* guess */
				"paging=first-use";	/* the article: asynchronous paging */
