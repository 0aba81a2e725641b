/* fuzz_record.c - any bytes as what a master keeps of the record of the masters [S15].
 *
 * What is read can be written and is read again as the same, has no byte that a terminal would
 * obey, and only a master on it votes, or one that leaves while the change is not over. When it has
 * to be written again or with new data, and all masters accept that, nothing is left to be written.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/membership.h"
#include "core/proposal.h"
#include "fuzz.h"
#include "node/record_text.h"

#define NODES 3
#define MAX_TTL_MS 300000
#define BALLOT_ID UINT64_C(0xffffffffffffffff)

/* In memory of exactly that size. The caller frees it. */
static char *write_text(const struct rlk_record *r)
{
    struct rlk_text text = {.to = NULL};

    rlk_record_write(r, &text);
    text = (struct rlk_text){.to = malloc(text.len + 1), .size = text.len};
    if (text.to == NULL) {
        abort();
    }
    rlk_record_write(r, &text);
    text.to[text.len] = '\0';
    return text.to;
}

static void check_masters(const struct rlk_record *r)
{
    unsigned i;
    size_t at;

    FUZZ_CHECK(r->n <= RLK_RECORD_MASTERS && rlk_record_size(r) > 0, "it has masters");
    for (i = 0; i < r->n; i++) {
        const struct rlk_record_master *m = &r->master[i];

        FUZZ_CHECK(m->mark != 0 && m->from >= 1 && m->from <= r->epoch && m->until <= r->epoch,
                   "a master belongs to epochs that were");
        FUZZ_CHECK(m->until == 0 ? !m->lost : m->until > m->from, "it ends after it began");
        for (at = 0; at < m->len; at++) {
            FUZZ_CHECK(m->address[at] >= ' ' && m->address[at] <= '~', "an address is printable");
        }
    }
}

static void check_round_trip(const struct rlk_record *r)
{
    static struct rlk_record again;
    char *text = write_text(r);

    FUZZ_CHECK(rlk_record_read(text, &again), "what was written is read");
    FUZZ_CHECK(rlk_record_is_same(r, &again), "it says the same");
    FUZZ_CHECK(rlk_ballot_compare(&r->ballot, &again.ballot) == 0, "it has the same ballot");
    free(text);
}

/* ---- three masters that show it ---- */

static struct rlk_membership m;
static struct rlk_membership_verdict v;

static void show(const struct rlk_record *r)
{
    unsigned i;

    for (i = 0; i < NODES; i++) {
        m.shown[i].record = r;
        m.shown[i].promised = r->ballot;
    }
    rlk_membership_judge(&m, 0, &v);
}

static void begin(void)
{
    unsigned i;

    rlk_membership_init(&m, NODES, MAX_TTL_MS, 0);
    for (i = 0; i < NODES; i++) {
        m.shown[i] = (struct rlk_shown){.address = &"abc"[i],
                                        .len = 1,
                                        .tried = true,
                                        .connected = true,
                                        .readable = true,
                                        .mark = i + 1};
    }
}

static bool may_vote(const struct rlk_record *r, const struct rlk_record_master *on_record)
{
    return rlk_record_is_master(on_record) ||
           (rlk_record_resizes(r) && rlk_record_was_master(r, on_record));
}

/* Two majorities share a master, so the number of voters is that of the masters on record. */
static void check_voters(void)
{
    const struct rlk_record *r = v.misfit == RLK_MISFIT_NOT ? v.record : NULL;

    FUZZ_CHECK(r == NULL || v.voters.size == rlk_record_size(r) ||
                   (rlk_record_resizes(r) && v.voters.size == rlk_record_former_size(r)),
               "all that are on record count");
    FUZZ_CHECK(v.voters.set <= rlk_mask_all(m.n) && v.voters.size > 0, "voters are our nodes");
}

static void check_votes(void)
{
    unsigned i;

    check_voters();

    for (i = 0; i < NODES; i++) {
        int at = v.record ? rlk_record_find(v.record, m.shown[i].mark) : -1;

        FUZZ_CHECK(v.misfit == RLK_MISFIT_NOT || v.until_us[i] == RLK_NEVER,
                   "with other masters nobody votes");
        FUZZ_CHECK(v.record == NULL || v.until_us[i] == RLK_NEVER ||
                       (at >= 0 && may_vote(v.record, &v.record->master[at])),
                   "only a master on record votes");
    }
}

/* Write once, and all accept it. False: that is not possible, or need not be. */
static bool write_once(struct rlk_record *r)
{
    struct rlk_ballot ballot = {rlk_membership_next_number(&m), BALLOT_ID};

    if (v.task == RLK_RECORD_NOTHING || !rlk_membership_may_write(&m, &v, rlk_mask_all(NODES))) {
        return false;
    }
    rlk_membership_write(&m, &v, &ballot, r);
    check_round_trip(r);
    show(r);
    FUZZ_CHECK(m.in_use == r && v.pending == 0, "it is in use");
    check_votes();
    return true;
}

/* The data of one master may be in the place of another: when the one is written anew, the other is
 * found to have lost its data, too. */
static void check_writing(void)
{
    static struct rlk_record r[NODES + 1];
    unsigned i;

    for (i = 0; i < NODES && write_once(&r[i]); i++) {
    }
    FUZZ_CHECK(i == 0 || v.task == RLK_RECORD_NOTHING || !write_once(&r[NODES]),
               "what all have accepted need not be written again");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct rlk_record r;
    char *text = fuzz_text(data, size);
    const char *record = text;
    struct rlk_ballot promised;
    uint64_t since_us;

    if (rlk_record_read_kept(text, &promised, &since_us, &record)) {
        FUZZ_CHECK(record > text && record[-1] == '\n', "the record begins a line");
    } else {
        record = text;
    }
    if (rlk_record_read(record, &r)) {
        check_masters(&r);
        check_round_trip(&r);
        begin();
        show(&r);
        check_votes();
        check_writing();
    }
    free(text);
    return 0;
}
