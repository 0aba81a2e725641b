/* masters.h - the record of the masters, as a master keeps it: src/scripts/masters.lua [S15]. */
#ifndef RLK_TESTS_SIM_MASTERS_H
#define RLK_TESTS_SIM_MASTERS_H

#include "sim/world.h"

/* Keep the text of a record; returns its number, the same for the same text, and 0 for "". And
 * back: "" for 0. */
size_t masters_keep(struct world *w, const char *text, size_t len);
const char *masters_text(const struct world *w, size_t record);

/* They say the same, under whatever ballot. */
bool masters_say_same(const struct world *w, size_t record, size_t other);

/* The masters of the first client have been on record for long. */
void masters_old(struct world *w, uint64_t ago_us);

/* Some server has a record. */
bool masters_are_on_record(const struct world *w);

/* Carry out the script: promise, and accept. */
void masters_write(struct world *w, unsigned server, struct message *m);

/* What the script that reads the incarnation key answers besides. */
void masters_read(const struct world *w, unsigned server, struct message *m);

/* The data are gone; are those of before the last write; are those of another server. */
void masters_forget(struct world *w, unsigned server);
void masters_lack_last(struct world *w, unsigned server);
void masters_copy(struct world *w, unsigned server, unsigned from);

#endif
