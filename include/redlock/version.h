/* redlock/version.h - the version of the headers; see redlock_version() for the
 * version of the library that is running. Semantic versioning. */
#ifndef REDLOCK_VERSION_H
#define REDLOCK_VERSION_H

/* As text, and its three numbers. */
#define REDLOCK_VERSION "0.1.0"
#define REDLOCK_VERSION_MAJOR 0
#define REDLOCK_VERSION_MINOR 1
#define REDLOCK_VERSION_PATCH 0

#endif
