/* redlock/export.h - marks what the shared library exports. Includes nothing. */
#ifndef REDLOCK_EXPORT_H
#define REDLOCK_EXPORT_H

#if defined(__GNUC__)
#define REDLOCK_EXPORT __attribute__((visibility("default")))
#else
#define REDLOCK_EXPORT
#endif

#endif
