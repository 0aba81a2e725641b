/* addresses.c - keeps, compares and sorts them. */
#include "net/addresses.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static void forget_unnamed(struct rlk_addresses *a)
{
    unsigned i, kept = 0;

    for (i = 0; i < a->n; i++) {
        if (a->item[i].is_named) {
            a->item[kept++] = a->item[i];
        }
    }
    a->n = kept > 0 ? kept : a->n;
}

void rlk_addresses_begin(struct rlk_addresses *a)
{
    unsigned i;

    forget_unnamed(a);
    a->tried = 0;
    for (i = 0; i < a->n; i++) {
        a->item[i].is_named = false;
    }
}

static struct rlk_address *find_address(struct rlk_addresses *a, const void *socket, size_t len)
{
    unsigned i;

    for (i = 0; i < a->n; i++) {
        if (a->item[i].len == len && memcmp(&a->item[i].socket, socket, len) == 0) {
            return &a->item[i];
        }
    }
    return NULL;
}

/* The place for one more, or NULL. When all are taken, the last one that the lookup has not named
 * makes room: otherwise a server could never be reached again after all its addresses have changed.
 * The one that worked last stays: a long reply may name it further back. */
static struct rlk_address *find_room(struct rlk_addresses *a)
{
    unsigned i = a->n;

    if (a->n < RLK_ADDRESSES_MAX) {
        return &a->item[a->n++];
    }
    while (i > a->tried && (a->item[i - 1].is_named || a->item[i - 1].has_worked)) {
        i--;
    }
    return i > a->tried ? &a->item[i - 1] : NULL;
}

static struct rlk_address *add_new(struct rlk_addresses *a, const void *socket, size_t len)
{
    struct rlk_address *added = len <= sizeof(added->socket) ? find_room(a) : NULL;

    if (added) {
        *added = (struct rlk_address){.len = (socklen_t)len};
        memcpy(&added->socket, socket, len);
    }
    return added;
}

void rlk_addresses_add(struct rlk_addresses *a, const void *socket, size_t len)
{
    struct rlk_address *known = find_address(a, socket, len);

    if (known == NULL) {
        known = add_new(a, socket, len);
    }
    if (known) {
        known->is_named = true;
    }
}

static bool is_v6(const struct rlk_address *x)
{
    return x->socket.ss_family == AF_INET6;
}

/* Whether x comes before y, families aside. */
static bool is_better(const struct rlk_address *x, const struct rlk_address *y)
{
    return x->failed != y->failed ? x->failed < y->failed : x->has_worked && !y->has_worked;
}

static void move(struct rlk_addresses *a, unsigned from, unsigned to)
{
    struct rlk_address moved = a->item[from];

    for (; from > to; from--) {
        a->item[from] = a->item[from - 1];
    }
    a->item[to] = moved;
}

/* Insertion: equal ones keep their order. */
static void sort_by_rank(struct rlk_addresses *a, unsigned first)
{
    unsigned i, to;

    for (i = first + 1; i < a->n; i++) {
        for (to = i; to > first && is_better(&a->item[i], &a->item[to - 1]); to--) {
        }
        move(a, i, to);
    }
}

/* The place of the next address of this family from `i` on that has not failed; a->n: none. */
static unsigned next_of_family(const struct rlk_addresses *a, unsigned i, bool v6)
{
    while (i < a->n && a->item[i].failed == 0 && is_v6(&a->item[i]) != v6) {
        i++;
    }
    return i < a->n && a->item[i].failed == 0 ? i : a->n;
}

/* The family of the first address: its own if that works, another one than that of the address
 * before, or IPv6. */
static bool begins_with_v6(const struct rlk_addresses *a, unsigned first)
{
    if (first < a->n && a->item[first].has_worked) {
        return is_v6(&a->item[first]);
    }
    return first == 0 || !is_v6(&a->item[first - 1]);
}

static void take_turns(struct rlk_addresses *a, unsigned first)
{
    bool v6 = begins_with_v6(a, first);
    unsigned i, from;

    for (i = first; i < a->n && a->item[i].failed == 0; i++) {
        from = next_of_family(a, i, v6);
        if (from < a->n) {
            move(a, from, i);
        }
        v6 = !is_v6(&a->item[i]);
    }
}

void rlk_addresses_sort(struct rlk_addresses *a)
{
    forget_unnamed(a);
    rlk_addresses_sort_rest(a, 0);
}

void rlk_addresses_sort_rest(struct rlk_addresses *a, unsigned first)
{
    sort_by_rank(a, first);
    take_turns(a, first);
}

void rlk_addresses_worked(struct rlk_addresses *a, unsigned i)
{
    unsigned j;

    for (j = 0; j < a->n; j++) {
        a->item[j].has_worked = j == i;
    }
    a->item[i].failed = 0;
}

void rlk_addresses_failed(struct rlk_addresses *a, unsigned i)
{
    a->item[i].failed = ++a->failures;
}

static unsigned count_named(const struct rlk_addresses *a, sa_family_t family)
{
    unsigned i, n = 0;

    for (i = 0; i < a->n; i++) {
        n += a->item[i].is_named && a->item[i].socket.ss_family == family;
    }
    return n;
}

static const char *text_of(const struct rlk_address *x, char *out, socklen_t size)
{
    const struct sockaddr_in *v4 = (const void *)&x->socket;
    const struct sockaddr_in6 *v6 = (const void *)&x->socket;
    const void *bytes = is_v6(x) ? (const void *)&v6->sin6_addr : (const void *)&v4->sin_addr;

    return inet_ntop(x->socket.ss_family, bytes, out, size) ? out : "?";
}

void rlk_addresses_write_several(const struct rlk_addresses *a, char *out, size_t size)
{
    char text[INET6_ADDRSTRLEN];
    size_t used = 0;
    unsigned i;

    out[0] = '\0';
    for (i = 0; i < a->n && used < size; i++) {
        const struct rlk_address *x = &a->item[i];

        if (x->is_named && count_named(a, x->socket.ss_family) > 1) {
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "",
                                     text_of(x, text, sizeof(text)));
        }
    }
}
