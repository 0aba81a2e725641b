/* io/rig.h - three masters some of which may not vote; what is said of them, and what they do.
 *
 *     rig_start(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
 *     rig_restart(0);
 *     rig_must_be_quarantined(0, "it restarted");
 *     rig_vote_must_not_count("k", 0, "it restarted");
 *     rig_pass_ms(RIG_QUARANTINE_MS);
 *     rig_vote_must_count("k", 0);
 *     farm_end(&rig);
 *
 * Time passes by rig_pass_ms() only, for us and for the servers alike. */
#ifndef RLK_TESTS_IO_RIG_H
#define RLK_TESTS_IO_RIG_H

#include "io/farm.h"

/* Longer than the longest ttl, 300 s, with its drift. */
#define RIG_QUARANTINE_MS 304000u

/* When the next inspection is due: after so much simulated time, and not by itself; or never, in
 * tests where little time passes. */
#define RIG_HEALTH_MS 50000u
#define RIG_NO_HEALTH_MS 60000u

extern struct farm rig;

/* Make the servers; rig_start() also opens the manager. */
void rig_set_up(enum redlock_quarantine policy, uint32_t inspection_ms);
void rig_start(enum redlock_quarantine policy, uint32_t inspection_ms);

/* After rig_set_up(): without the record of the masters, which the servers have otherwise. New data
 * wait for it, too, and somewhat longer than for the quarantine. */
void rig_leave_out_record(void);
void rig_start_without_record(enum redlock_quarantine policy, uint32_t inspection_ms);

struct model *rig_model(size_t node);

void rig_set_clock_forward(size_t node, uint64_t by_ms);
void rig_pass_ms(unsigned ms);

/* Write its incarnation key by hand, as that run would have written it at that time. */
void rig_set_mark(size_t node, const char *run, uint64_t born_us);

/* How old the data are according to the key, in seconds by the server's clock. */
long long rig_data_age_s(size_t node);

/* How long the manager keeps the node in quarantine, and the node's name. */
uint64_t rig_quarantine_ms(size_t node);
const char *rig_name(size_t node);

/* The node's text must say that the node does not vote, and why; or must not say so. */
void rig_must_be_quarantined(size_t node, const char *why);
void rig_must_count(size_t node);
void rig_wait_until_quarantined(size_t node);
void rig_wait_until_it_counts(size_t node);

/* How often the node was greeted; wait until it was greeted once more than `before`, and is UP
 * again. */
size_t rig_greetings(size_t node);
void rig_wait_until_greeted(size_t node, size_t before);

/* Break the connection, and wait for the next one; rig_restart() restarts the server first. */
void rig_reconnect(size_t node);
void rig_restart(size_t node);

/* Acquire while node 1 refuses: so both others are needed. The vote of node 0 must not count,
 * for that reason, and its key is released; or the vote must count. */
void rig_vote_must_not_count(const char *key, int fence, const char *why);
void rig_vote_must_count(const char *key, int fence);

/* With inspections every second: until the next one is more than two seconds away, because nobody
 * relies on a master, and the last one was more than one second ago. */
void rig_idle(void);

/* Let the next inspection be due, and wait until every master has answered it. */
void rig_inspect_all(void);

#endif
