/* chaos/client_log.h - the history that a client and a command write: see README.md. */
#ifndef CHAOS_CLIENT_LOG_H
#define CHAOS_CLIENT_LOG_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The exit status when the history cannot be written. */
#define LOG_FAILED 3

/* `path` is opened for appending; `name` is the field `p`. Exits with LOG_FAILED if it fails. */
void log_open(const char *path, const char *name);

/* True time in microseconds: CLOCK_BOOTTIME by a system call, which no clock shim changes. */
uint64_t true_us(void);

/* One line, in one write. `format` makes the fields after the common ones; it may make none. */
__attribute__((format(printf, 2, 3))) void log_line(const char *event, const char *format, ...);

/* The `begin` of a call, with the fields after `what`. Returns its number. */
__attribute__((format(printf, 2, 3))) unsigned op_begin(const char *what, const char *format, ...);

/* Its `end`. */
__attribute__((format(printf, 2, 3))) void op_end(unsigned op, const char *format, ...);

/* How many calls have begun and not ended. */
unsigned op_pending(void);

/* A JSON array of texts; cut if `size` is too small, which no caller lets happen. */
void json_texts(char *out, size_t size, const char *const *texts, size_t n);

/* Asked before each `end`: whether to leave it out. NULL: none is. */
extern bool (*log_mutes)(void);

#endif
