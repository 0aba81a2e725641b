/* unit/records.c - see records.h. */
#include "unit/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *records_address(char letter)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

    return strchr(letters, letter);
}

unsigned records_marks(const char *letters, uint64_t *ret_marks)
{
    unsigned n;

    for (n = 0; letters[n]; n++) {
        ret_marks[n] = (uint64_t)letters[n];
    }
    return n;
}

/* One word; returns what comes behind it. */
static const char *take_entry(const char *at, struct rlk_record_master *m)
{
    char *end;

    *m = (struct rlk_record_master){.mark = (uint64_t)*at, .address = records_address(*at)};
    m->len = 1;
    m->from = (uint32_t)strtoul(at + 1, &end, 10);
    if (*end == ':') {
        m->until = (uint32_t)strtoul(end + 1, &end, 10);
        m->lost = *end == '!';
        end += m->lost;
    }
    if (*end == '@') {
        m->address = records_address(end[1]);
        end += 2;
    }
    return end + strspn(end, " ");
}

struct rlk_record records_make(uint64_t ballot, uint32_t epoch, const char *entries)
{
    struct rlk_record r = {.ballot = {ballot, 1}, .epoch = epoch, .max_ttl_ms = RECORDS_MAX_TTL_MS};

    while (*entries) {
        entries = take_entry(entries, &r.master[r.n++]);
    }
    return r;
}

static int print_entry(const struct rlk_record_master *m, char *to, size_t size)
{
    char until[16] = "", address[4] = "";

    if (m->until > 0) {
        snprintf(until, sizeof(until), ":%u%s", (unsigned)m->until, m->lost ? "!" : "");
    }
    if (m->len != 1 || (uint64_t)m->address[0] != m->mark) {
        snprintf(address, sizeof(address), "@%c", m->address[0]);
    }
    return snprintf(to, size, "%c%u%s%s", (char)m->mark, (unsigned)m->from, until, address);
}

const char *records_print(const struct rlk_record *r)
{
    static char text[2048];
    size_t used = 0;
    unsigned i;

    text[0] = '\0';
    for (i = 0; i < r->n && used < sizeof(text) - 32; i++) {
        used += i > 0 ? (size_t)snprintf(text + used, 2, " ") : 0;
        used += (size_t)print_entry(&r->master[i], text + used, sizeof(text) - used);
    }
    return text;
}
