/* talk_checks.h - what the results of each conversation promise, whatever the master said. */
#ifndef RLK_TESTS_FUZZ_TALK_CHECKS_H
#define RLK_TESTS_FUZZ_TALK_CHECKS_H

#include <stdbool.h>
#include <stddef.h>

#include <redlock/redlock.h>

/* A text is printable, and shorter than this. */
void talk_check_text(const char *text, size_t most);

/* The lock of an acquire or adoption that has ended. */
void talk_check_lock(const struct redlock_lock *lock, int status, bool out_of_memory);

/* The results of calls with one master. */
void talk_check_query(const struct redlock_query_result *r, int status);
void talk_check_list(const struct redlock_list_summary *s, int status);
void talk_check_history(const struct redlock_history_result *h, int status);
void talk_check_report(const struct redlock_report *r, int status);

/* What can be asked of a manager at any time. */
void talk_check_manager(const struct redlock *rl);

#endif
