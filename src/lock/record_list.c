/* record_list.c - reads records, and keeps them with the texts that their addresses are in. */
#include "lock/record_list.h"

#include <string.h>

#include "base/alloc.h"
#include "node/record_text.h"

struct kept {
    struct rlk_list link;
    struct rlk_record record;
    char text[];
};

static struct kept *kept_of(struct rlk_list *link)
{
    return RLK_CONTAINER(link, struct kept, link);
}

/* It may have been shown under another ballot before. */
static uint64_t first_seen_us(struct rlk_record_list *l, const struct rlk_record *r,
                              uint64_t now_us)
{
    struct rlk_list *link, *next;

    RLK_LIST_EACH (link, next, &l->records) {
        if (rlk_record_is_same(&kept_of(link)->record, r)) {
            return kept_of(link)->record.seen_us;
        }
    }
    l->seen_us = now_us;
    return now_us;
}

static bool add_record(struct rlk_record_list *l, const char *text, uint64_t now_us,
                       const struct rlk_record **ret_record)
{
    size_t size = strlen(text) + 1;
    struct kept *kept = rlk_alloc(sizeof(*kept) + size);

    if (kept == NULL) {
        return false;
    }
    memcpy(kept->text, text, size);
    if (!rlk_record_read(kept->text, &kept->record)) {
        rlk_free(kept);
        *ret_record = NULL;
        return true;
    }
    kept->record.seen_us = first_seen_us(l, &kept->record, now_us);
    rlk_list_init(&kept->link);
    rlk_list_push(&l->records, &kept->link);
    *ret_record = &kept->record;
    return true;
}

void rlk_record_list_init(struct rlk_record_list *l)
{
    rlk_list_init(&l->records);
}

bool rlk_record_list_find(struct rlk_record_list *l, const char *text, uint64_t now_us,
                          const struct rlk_record **ret_record)
{
    struct rlk_list *link, *next;

    RLK_LIST_EACH (link, next, &l->records) {
        if (strcmp(kept_of(link)->text, text) == 0) {
            *ret_record = &kept_of(link)->record;
            return true;
        }
    }
    return add_record(l, text, now_us, ret_record);
}

void rlk_record_list_drop(struct rlk_record_list *l,
                          bool (*is_used)(const void *arg, const struct rlk_record *r),
                          const void *arg)
{
    struct rlk_list *link, *next;

    RLK_LIST_EACH (link, next, &l->records) {
        if (!is_used(arg, &kept_of(link)->record)) {
            rlk_list_remove(link);
            rlk_free(kept_of(link));
        }
    }
}

void rlk_record_list_end(struct rlk_record_list *l)
{
    struct rlk_list *link, *next;

    if (l->records.next) {
        RLK_LIST_EACH (link, next, &l->records) {
            rlk_free(kept_of(link));
        }
    }
}
