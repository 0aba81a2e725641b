/* record_text.c - reads and writes the text of a record. */
#include "node/record_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 1

/* Longer than any line without its address. */
#define LINE_SIZE 96

/* ---- reading ---- */

/* Where we are in the text; NULL after something that cannot be read. */
struct reader {
    const char *at;
};

/* A number, and the character behind it. */
static uint64_t take(struct reader *r, int base, char end, uint64_t most)
{
    static const char decimal[] = "0123456789", hex[] = "0123456789abcdef";
    size_t len = r->at ? strspn(r->at, base == 16 ? hex : decimal) : 0;
    uint64_t n;

    if (len == 0 || len > 19 || r->at[len] != end) {
        r->at = NULL;
        return 0;
    }
    n = strtoull(r->at, NULL, base);
    r->at = n <= most ? r->at + len + 1 : NULL;
    return n;
}

static void take_until(struct reader *r, struct rlk_record_master *m)
{
    if (r->at && strncmp(r->at, "- ", 2) == 0) {
        r->at += 2;
        return;
    }
    m->lost = r->at && r->at[strspn(r->at, "0123456789")] == '!';
    m->until = (uint32_t)take(r, 10, m->lost ? '!' : ' ', UINT32_MAX);
    if (m->lost && r->at) {
        r->at = *r->at == ' ' ? r->at + 1 : NULL;
    }
}

static void take_master(struct reader *r, struct rlk_record_master *m)
{
    const char *end;

    *m = (struct rlk_record_master){.mark = take(r, 16, ' ', UINT64_MAX)};
    m->from = (uint32_t)take(r, 10, ' ', UINT32_MAX);
    take_until(r, m);
    end = r->at ? strchr(r->at, '\n') : NULL;
    if (end == NULL || end == r->at || m->mark == 0 || m->from == 0) {
        r->at = NULL;
        return;
    }
    m->address = r->at;
    m->len = (size_t)(end - r->at);
    r->at = end + 1;
}

bool rlk_record_read(const char *text, struct rlk_record *ret_record)
{
    struct reader r = {text};

    *ret_record = (struct rlk_record){.n = 0};
    if (take(&r, 10, ' ', VERSION) != VERSION) {
        return false;
    }
    ret_record->ballot.number = take(&r, 10, ' ', UINT64_MAX);
    ret_record->ballot.id = take(&r, 16, ' ', UINT64_MAX);
    ret_record->epoch = (uint32_t)take(&r, 10, ' ', UINT32_MAX);
    ret_record->max_ttl_ms = (uint32_t)take(&r, 10, '\n', UINT32_MAX);
    while (r.at && *r.at && ret_record->n < RLK_RECORD_MASTERS) {
        take_master(&r, &ret_record->master[ret_record->n++]);
    }
    return r.at && *r.at == '\0' && ret_record->epoch > 0 && rlk_record_size(ret_record) > 0;
}

bool rlk_record_read_kept(const char *text, struct rlk_ballot *ret_promised, uint64_t *ret_since_us,
                          const char **ret_record)
{
    struct reader r = {text};

    ret_promised->number = take(&r, 10, ' ', UINT64_MAX);
    ret_promised->id = take(&r, 16, ' ', UINT64_MAX);
    *ret_since_us = take(&r, 10, '\n', UINT64_MAX);
    *ret_record = r.at;
    return r.at != NULL;
}

/* ---- writing ---- */

static void write_master(const struct rlk_record_master *m, struct rlk_text *out)
{
    char line[LINE_SIZE], until[16] = "-";

    if (m->until > 0) {
        snprintf(until, sizeof(until), "%" PRIu32 "%s", m->until, m->lost ? "!" : "");
    }
    snprintf(line, sizeof(line), "%016" PRIx64 " %" PRIu32 " %s ", m->mark, m->from, until);
    rlk_text_say(out, line);
    rlk_text_add(out, m->address, m->len);
    rlk_text_say(out, "\n");
}

void rlk_record_write(const struct rlk_record *r, struct rlk_text *out)
{
    char line[LINE_SIZE];
    unsigned i;

    snprintf(line, sizeof(line), "%d %" PRIu64 " %016" PRIx64 " %" PRIu32 " %" PRIu32 "\n", VERSION,
             r->ballot.number, r->ballot.id, r->epoch, r->max_ttl_ms);
    rlk_text_say(out, line);
    for (i = 0; i < r->n; i++) {
        write_master(&r->master[i], out);
    }
}
