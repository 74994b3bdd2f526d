/*
 * wsl2-hags - WSL2 with hardware-accelerated GPU scheduling: a submission a launch, without
 * packets, but still a call of the operating system. Told by NVIDIA's article on CUDA on WSL2
 * (2021). "Fitted": towards what the article says, docs/results/wsl2.md.
 */
static const char wsl2_hags[] =
	"call=0.2 "		     /* fitted, as wsl2-2021's was in the first round */
	"n=1 submit=0.5 return=0.3 " /* fitted: between native and 2021, rift's reading */
	"where=caller "		     /* the call is the program's */
	"stretch=5.3 "		     /* guess: copies at 0.95 of native */
	"alloc=100 "		     /* guess */
	"paging=first-use";	     /* the article: asynchronous paging */
