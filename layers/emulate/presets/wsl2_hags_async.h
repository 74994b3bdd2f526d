/*
 * wsl2-hags-async - WSL2 with hardware-accelerated GPU scheduling and the asynchronous Submit: what
 * NVIDIA's article on CUDA on WSL2 (2021) ends with. The program's thread goes on while VMBus
 * carries the submission, so a launch takes it as long as on native Windows (windows-hags), and a
 * wait pays for VMBus's way.
 */
static const char wsl2_hags_async[] =
	"call=0.5 " /* windows-hags' call and submit: the article has comparable launch latency */
	"n=1 submit=0.3 where=submitter " /* the article: asynchronous; 0.3 us as windows-hags */
	"latency=2 return=2 "		  /* guess: a message of VMBus each way */
	"stretch=5.3 "			  /* guess: copies at 0.95 of native, as wsl2-hags */
	"alloc=100 paging=first-use";	  /* guess; the article: asynchronous paging */
