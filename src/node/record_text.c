/* record_text.c - reads and writes the text of a record. */
#include "node/record_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/digits.h"

#define VERSION 1

#define HEX_DIGITS 16

/* Longer than any line without its address. */
#define LINE_SIZE 96

/* ---- reading ---- */

/* Where we are in the text; NULL after something that cannot be read. */
struct reader {
    const char *at;
};

/* A number of `least` to `longest` digits, and the character behind it. Each inspection reads some.
 */
static uint64_t take_digits(struct reader *r, unsigned base, size_t least, size_t longest, char end)
{
    uint64_t n = 0;
    size_t len = 0;
    unsigned digit;

    if (r->at == NULL) {
        return 0;
    }
    for (; (digit = rlk_digit_value(r->at[len])) < base && len < longest; len++) {
        n = n * base + digit;
    }
    if (len < least || r->at[len] != end) {
        r->at = NULL;
        return 0;
    }
    r->at += len + 1;
    return n;
}

static uint64_t take_hex(struct reader *r, char end)
{
    return take_digits(r, 16, HEX_DIGITS, HEX_DIGITS, end);
}

static uint64_t take_number(struct reader *r, char end, uint64_t most)
{
    uint64_t n = take_digits(r, 10, 1, 19, end);

    r->at = n <= most ? r->at : NULL;
    return n;
}

static void take_until(struct reader *r, uint32_t epoch, struct rlk_record_master *m)
{
    if (r->at && strncmp(r->at, "- ", 2) == 0) {
        r->at += 2;
        return;
    }
    m->lost = r->at && r->at[strspn(r->at, "0123456789")] == '!';
    m->until = (uint32_t)take_number(r, m->lost ? '!' : ' ', epoch);
    if (m->lost && r->at) {
        r->at = *r->at == ' ' ? r->at + 1 : NULL;
    }
    if (m->until <= m->from) {
        r->at = NULL;
    }
}

/* Printable ASCII: it is shown to people, and we write no other. */
static void take_address(struct reader *r, struct rlk_record_master *m)
{
    const char *end = r->at;

    while (end && *end >= ' ' && *end <= '~') {
        end++;
    }
    if (end == r->at || *end != '\n') {
        r->at = NULL;
        return;
    }
    m->address = r->at;
    m->len = (size_t)(end - r->at);
    r->at = end + 1;
}

static void take_master(struct reader *r, uint32_t epoch, struct rlk_record_master *m)
{
    *m = (struct rlk_record_master){.mark = take_hex(r, ' ')};
    m->from = (uint32_t)take_number(r, ' ', epoch);
    take_until(r, epoch, m);
    take_address(r, m);
    if (m->mark == 0 || m->from == 0) {
        r->at = NULL;
    }
}

static struct rlk_ballot take_ballot(struct reader *r)
{
    struct rlk_ballot ballot = {.number = take_number(r, ' ', RLK_BALLOT_MOST)};

    ballot.id = take_hex(r, ' ');
    return ballot;
}

bool rlk_record_read(const char *text, struct rlk_record *ret_record)
{
    struct reader r = {text};

    *ret_record = (struct rlk_record){.n = 0};
    if (take_number(&r, ' ', VERSION) != VERSION) {
        return false;
    }
    ret_record->ballot = take_ballot(&r);
    ret_record->epoch = (uint32_t)take_number(&r, ' ', UINT32_MAX);
    ret_record->max_ttl_ms = (uint32_t)take_number(&r, '\n', UINT32_MAX);
    while (r.at && *r.at && ret_record->n < RLK_RECORD_MASTERS) {
        take_master(&r, ret_record->epoch, &ret_record->master[ret_record->n++]);
    }
    return r.at && *r.at == '\0' && rlk_record_size(ret_record) > 0;
}

bool rlk_record_is_of_later_form(const char *text)
{
    struct reader r = {text};

    return take_number(&r, ' ', UINT32_MAX) > VERSION;
}

bool rlk_record_read_kept(const char *text, struct rlk_ballot *ret_promised, uint64_t *ret_since_us,
                          const char **ret_record)
{
    struct reader r = {text};

    *ret_promised = take_ballot(&r);
    *ret_since_us = take_number(&r, '\n', UINT64_MAX);
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
