/*
 * wddm-packet - Windows' display driver model with packet scheduling: commands are collected in
 * user mode and submitted together. Costs stand beside native Linux. "Fitted":
 * docs/results/wsl2.md.
 */
static const char wddm_packet[] = "call=1 "	   /* guess */
				  "n=64 "	   /* guess */
				  "age=50 "	   /* fitted: a queue of 200 us kernels hides it */
				  "submit=30 "	   /* guess; others report 5 to 50 us */
				  "where=caller "  /* the program's thread makes the system call */
				  "serialize=yes " /* packets of a GPU run one after another */
				  "return=10 "	   /* guess */
				  "alloc=50";	   /* guess */
