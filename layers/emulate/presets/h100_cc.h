/*
 * h100-cc - an H100 in confidential computing: what crosses between the virtual machine and the GPU
 * is encrypted by the processor, in a buffer that both see. Sources:
 *   NVIDIA     NVIDIA's blog on confidential computing on H100 GPUs (2023) is said to give about
 *              4 GB/s between processor and GPU, limited by encryption: a guess, as it was not read
 *              again
 *   bridge     arXiv 2606.23969 (2026), of Blackwell GPUs: a fixed toll for small crossings,
 *              asynchronous copies that block in the runtime, no overlap of copies of several
 *              streams of a context; kernels themselves are as fast
 * That an H100 blocks and has one channel as Blackwell GPUs have is a guess.
 */
static const char h100_cc[] = "crossing=50 "		      /* guess: of tens to hundreds of us */
			      "copies=4 block=1M "	      /* guesses */
			      "copying=blocking channel=one " /* bridge */
			      "call=1"; /* guess: commands are encrypted as well */
