/*
 * wsl2-hags - WSL2 with hardware-accelerated GPU scheduling: a submission a launch, without
 * packets, but still a call of the operating system. Told by NVIDIA's article on CUDA on WSL2
 * (2021).
 */
static const char wsl2_hags[] = "call=1.5 "	      /* guess */
				"n=1 submit=6 "	      /* guess */
				"where=caller "	      /* the call is the program's */
				"latency=8 return=8 " /* guess */
				"stretch=5.3 "	      /* guess: copies at 0.95 of native */
				"alloc=100";	      /* guess */
