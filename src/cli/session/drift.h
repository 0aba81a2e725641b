/* drift.h - how much the clocks of a client and of a master may differ: the default of the library.
 */
#ifndef CLI_SESSION_DRIFT_H
#define CLI_SESSION_DRIFT_H

/* [S3] By one part in CLI_DRIFT_PARTS of the time that passes, and CLI_DRIFT_MS. */
#define CLI_DRIFT_PARTS 100
#define CLI_DRIFT_MS 2

#endif
