/* reply_text.h - the texts of replies, made fit to be printed. */
#ifndef RLK_NET_REPLY_TEXT_H
#define RLK_NET_REPLY_TEXT_H

#include <stddef.h>

#include "core/reply.h"

/* Replace every byte that is not printable ASCII by '?': texts from the network go to terminals. */
void rlk_reply_make_printable(char *text);

/* The length of a text as it was received; more than reply->len when it was cut. */
size_t rlk_reply_full_len(const struct rlk_reply *reply);

/* Write a value of any bytes as text: printable ASCII as it is, "\xHH" for every other byte, and
 * "..." at the end when it does not fit. size: at least 8. */
void rlk_reply_show(const struct rlk_reply *reply, char *to, size_t size);

#endif
