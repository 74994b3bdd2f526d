/*
 * wsl2-2020 - WSL2's first GPU support: packets, each submission and each wait is a message
 * over VMBus, and the program's thread pays for it. Told by NVIDIA's article on CUDA on WSL2
 * (2021). "Fitted": towards what the article says, docs/results/wsl2.md.
 */
static const char wsl2_2020[] =
	"call=1.5 "		/* guess */
	"n=8 age=200 "		/* guess */
	"submit=45 "		/* fitted: with latency and return, myocyte 5 to 12 times as long */
	"where=caller "		/* the article: submission became asynchronous later */
	"serialize=yes "	/* packet scheduling */
	"latency=15 return=15 " /* fitted: a message of VMBus each way */
	"stretch=11 "		/* guess: copies at 0.9 of native */
	"alloc=2000";		/* the article: milliseconds; how many is a guess */
