/* text.h - writes bytes into memory, and counts them. Without memory it only counts. */
#ifndef RLK_BASE_TEXT_H
#define RLK_BASE_TEXT_H

#include <stddef.h>
#include <string.h>

struct rlk_text {
    char *to; /* NULL: count only */
    size_t size;
    size_t len; /* how long the text is; what is beyond `size` was not written */
};

static inline void rlk_text_add(struct rlk_text *t, const char *bytes, size_t len)
{
    if (t->to && t->len <= t->size && len <= t->size - t->len) {
        memcpy(t->to + t->len, bytes, len);
    }
    t->len += len;
}

static inline void rlk_text_say(struct rlk_text *t, const char *text)
{
    rlk_text_add(t, text, strlen(text));
}

#endif
