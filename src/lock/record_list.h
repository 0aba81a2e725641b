/* record_list.h - the records that masters have shown, each text once. */
#ifndef RLK_LOCK_RECORD_LIST_H
#define RLK_LOCK_RECORD_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "core/record.h"

struct rlk_record_list {
    struct rlk_list records;
    uint64_t seen_us; /* when we last saw one that says something new, by our clock */
};

void rlk_record_list_init(struct rlk_record_list *l);

/* The record with this text, which is added if it is new. *ret_record is NULL where the text is no
 * record. False: out of memory. */
bool rlk_record_list_find(struct rlk_record_list *l, const char *text, uint64_t now_us,
                          const struct rlk_record **ret_record);

/* Free those that nothing points to any more. */
void rlk_record_list_drop(struct rlk_record_list *l,
                          bool (*is_used)(const void *arg, const struct rlk_record *r),
                          const void *arg);

/* Free all. Also where it was not initialised, but zero. */
void rlk_record_list_end(struct rlk_record_list *l);

#endif
