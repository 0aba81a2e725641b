/* leader_text.c - what a leader's lock says of its leader. */
#include "lock/leader_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD "leader"

#define MAX_PRIORITY_DIGITS 3

_Static_assert(RLK_LEADER_MAX_PRIORITY == 999, "it has MAX_PRIORITY_DIGITS");
_Static_assert(sizeof(WORD "+999 ") + REDLOCK_MAX_ID + 1 + REDLOCK_MAX_VALUE <=
                   REDLOCK_MAX_OWNER + 1,
               "an owner text has room for the longest id and value");

void rlk_leader_text_write(char owner[REDLOCK_MAX_OWNER + 1], const char *id, const char *value,
                           uint32_t priority)
{
    bool has_value = value && value[0];
    char rank[16] = "";

    if (priority) {
        snprintf(rank, sizeof(rank), "+%u", (unsigned)priority);
    }
    snprintf(owner, REDLOCK_MAX_OWNER + 1, WORD "%s %s%s%s", rank, id, has_value ? " " : "",
             has_value ? value : "");
}

/* What follows "leader" or "leader+PRIORITY" and a space; NULL: the owner text is another one. */
static const char *skip_word(const char *owner, uint32_t *ret_priority)
{
    const char *at = owner + sizeof(WORD) - 1;
    size_t digits = 0;

    if (strncmp(owner, WORD, sizeof(WORD) - 1) != 0) {
        return NULL;
    }
    if (*at == '+') {
        digits = strspn(at + 1, "0123456789");
    }
    if (digits > 0 && digits <= MAX_PRIORITY_DIGITS) {
        *ret_priority = (uint32_t)strtoul(at + 1, NULL, 10);
        at += 1 + digits;
    }
    return *at == ' ' ? at + 1 : NULL;
}

void rlk_leader_text_read(const char *owner, struct rlk_leader_text *ret_text)
{
    uint32_t priority = 0;
    const char *at = skip_word(owner, &priority);
    size_t len = at ? strcspn(at, " ") : 0;

    *ret_text = (struct rlk_leader_text){.value = ""};
    if (len == 0 || len > REDLOCK_MAX_ID) {
        return;
    }
    memcpy(ret_text->id, at, len);
    ret_text->value = at[len] ? at + len + 1 : "";
    ret_text->priority = priority;
}
