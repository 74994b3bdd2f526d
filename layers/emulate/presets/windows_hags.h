/*
 * windows-hags - native Windows with hardware-accelerated GPU scheduling: CUDA fills the hardware's
 * queues itself, so there are no packets, but a submission is still a call of the operating system.
 * Told by NVIDIA's article on CUDA on WSL2 (2021), which gives no figure.
 */
static const char windows_hags[] =
	"call=0.2 "		       /* guess */
	"n=1 submit=0.3 where=caller " /* guess: a system call without VMBus */
	"return=0.2 "		       /* guess */
	"alloc=100 paging=first-use";  /* guess; the article: Windows' paging can be asynchronous */
