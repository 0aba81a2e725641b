/* list.h - an intrusive, circular, doubly linked list.
 *
 * The head is a link, too. A link that is in no list points at itself, so removing it again does
 * no harm. Nothing here allocates or fails. */
#ifndef RLK_BASE_LIST_H
#define RLK_BASE_LIST_H

#include <stddef.h>

struct rlk_list {
    struct rlk_list *next;
    struct rlk_list *prev;
};

/* The object of type `type` whose member `member` is at `link`. */
#define RLK_CONTAINER(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

/* For each link in the list. The body may remove `link`, and no other one. */
#define RLK_LIST_EACH(link, next_link, head)                                                       \
    for ((link) = (head)->next; (next_link) = (link)->next, (link) != (head); (link) = (next_link))

static inline void rlk_list_init(struct rlk_list *l)
{
    l->next = l;
    l->prev = l;
}

static inline int rlk_list_empty(const struct rlk_list *l)
{
    return l->next == l;
}

static inline void rlk_list_remove(struct rlk_list *l)
{
    l->prev->next = l->next;
    l->next->prev = l->prev;
    rlk_list_init(l);
}

/* At the end of the list. `l` must be in no list. */
static inline void rlk_list_push(struct rlk_list *head, struct rlk_list *l)
{
    l->prev = head->prev;
    l->next = head;
    head->prev->next = l;
    head->prev = l;
}

/* Remove and return the first link; NULL when the list is empty. */
static inline struct rlk_list *rlk_list_pop(struct rlk_list *head)
{
    struct rlk_list *l = head->next;

    if (l == head) {
        return NULL;
    }
    rlk_list_remove(l);
    return l;
}

/* Move everything from `from` to the empty list `to`. */
static inline void rlk_list_take(struct rlk_list *to, struct rlk_list *from)
{
    if (rlk_list_empty(from)) {
        rlk_list_init(to);
        return;
    }
    *to = *from;
    to->next->prev = to;
    to->prev->next = to;
    rlk_list_init(from);
}

#endif
