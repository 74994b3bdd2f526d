/*
 * hold.h - keeps a GPU awake between the processes of a session.
 *
 * Without a persistence daemon a GPU that nobody has open powers down, and the next process would
 * wait up to seconds for it. The supervisor therefore keeps a context open. Not where the GPU
 * admits one process only, and not on the CPU device, which does not sleep.
 */
#ifndef RIFT_SWEEP_HOLD_H
#define RIFT_SWEEP_HOLD_H

/*
 * Opens the device for as long as this process lives. Returns 0, or -ENODEV after one line where
 * there is none. pci: its address as "0000:1b:00.0"; "" on the CPU device.
 */
int hold_device(char pci[32]);

#endif
