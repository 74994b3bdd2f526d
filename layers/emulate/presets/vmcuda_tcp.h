/*
 * vmcuda-tcp - calls forwarded over TCP, as vmCUDA does it: round trips of 60 us, copies in blocks.
 */
static const char vmcuda_tcp[] = "call=0.5 "		    /* guess */
				 "latency=30 return=30 "    /* guess: a round trip of 60 us */
				 "copies=1.1 block=4M "	    /* vmCUDA's network and block size */
				 "alloc=60 free=60 pin=60"; /* a round trip each */
