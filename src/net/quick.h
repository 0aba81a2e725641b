/* quick.h - recognises the replies that come all the time from their bytes, without hiredis'
 * reader.
 *
 * These are +OK, nil, numbers, strings, and an array of those: what masters answer while nothing is
 * wrong. What is recognised means exactly what hiredis would make of it. Everything else is
 * hiredis' to judge: errors, other statuses, nested arrays, whatever is not complete or not
 * protocol. */
#ifndef RLK_NET_QUICK_H
#define RLK_NET_QUICK_H

#include <stddef.h>

#include "core/reply.h"

/* The most elements of such an array. */
#define RLK_QUICK_ELEMENTS 99

/* The longest of its strings. */
#define RLK_QUICK_STRING 999

/* Recognise the reply that the bytes begin with. Returns how many of them it has, or 0: ask
 * hiredis. item: room for an array of RLK_QUICK_ELEMENTS; ret_items: how many are used. A STRING
 * points to its bytes, and is not NUL terminated. */
size_t rlk_quick_read(const char *bytes, size_t len, struct rlk_reply *item, size_t *ret_items);

#endif
