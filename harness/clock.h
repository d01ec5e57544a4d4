/* Time for durations. */
#ifndef ASSAY_CLOCK_H
#define ASSAY_CLOCK_H

/* Seconds of the monotonic clock; only differences mean something. */
double monotonic_seconds(void);

#endif
