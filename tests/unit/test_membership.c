/* test_membership.c - what a client makes of the records that its masters show [S15]. Most tests
 * are schedules in which two clients would hold one lock, or nobody could get one, without a rule.
 *
 * The masters of a client are letters, as in records.h: the address of each, and the mark of the
 * data that it shows there. */
#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/inspection.h"
#include "core/membership.h"
#include "core/proposal.h"
#include "lib/test.h"
#include "unit/records.h"

SUITE("membership");

#define S UINT64_C(1000000)
#define NOW (1000 * S)
#define DRIFT_PPM 10000
#define NODES 5

/* The longest ttl, the oldest inspection, and the drift of both. */
#define WAIT_US (10 * S + 100000 + 2000 + 5 * S + 151020 + 2000)

static struct rlk_membership m;
static struct rlk_membership_verdict v;
static uint64_t now_us;
static struct rlk_record kept[16]; /* what is shown must stay */
static unsigned n_kept;

/* ---- the client and its masters ---- */

/* A client with masters at these addresses, none of which it has tried to connect to yet. */
static void begin(const char *addresses)
{
    unsigned i, n = (unsigned)strlen(addresses);

    rlk_membership_init(&m, n, RECORDS_MAX_TTL_MS, DRIFT_PPM);
    for (i = 0; i < n; i++) {
        m.shown[i].address = records_address(addresses[i]);
        m.shown[i].len = 1;
    }
    now_us = NOW;
    n_kept = 0;
}

static const struct rlk_record *keep(uint64_t ballot, uint32_t epoch, const char *entries)
{
    ck_assert_uint_lt(n_kept, N_ROWS(kept));
    kept[n_kept] = records_make(ballot, epoch, entries);
    return &kept[n_kept++];
}

/* A master is connected, and shows that mark and that record, NULL for none. */
static void show(unsigned node, char mark, const struct rlk_record *r)
{
    struct rlk_shown *s = &m.shown[node];

    s->tried = s->connected = s->readable = true;
    rlk_membership_set_mark(&m, node, (uint64_t)mark);
    s->since_us = s->record == r ? s->since_us : now_us;
    s->record = r;
    s->shows = true;
    s->hidden = false;
    if (r && rlk_ballot_compare(&r->ballot, &s->promised) > 0) {
        s->promised = r->ballot;
    }
}

/* The same for as many masters as there are marks. A blank: none. */
static void show_all(const char *marks, const struct rlk_record *r)
{
    unsigned i;

    for (i = 0; marks[i]; i++) {
        if (marks[i] != ' ') {
            show(i, marks[i], r);
        }
    }
}

static void lose_connection(unsigned node)
{
    m.shown[node].tried = true;
    m.shown[node].connected = m.shown[node].readable = false;
}

static void judge(void)
{
    rlk_membership_judge(&m, now_us, &v);
}

/* ---- what the verdict must be ---- */

/* For each master: + votes, - does not, w waits for a time. */
static void votes_must_be(const char *votes)
{
    char is[NODES + 1] = "";
    unsigned i;

    judge();
    for (i = 0; i < m.n; i++) {
        is[i] = v.until_us[i] == 0 ? '+' : v.until_us[i] == RLK_NEVER ? '-' : 'w';
    }
    ck_assert_str_eq(is, votes);
}

static void must_fit(void)
{
    judge();
    ck_assert_int_eq(v.misfit, RLK_MISFIT_NOT);
}

/* Then nobody votes, and nothing is written. */
static void must_misfit(enum rlk_misfit misfit)
{
    unsigned i;

    judge();
    ck_assert_int_eq(v.misfit, misfit);
    ck_assert_int_eq(v.task, RLK_RECORD_NOTHING);
    for (i = 0; i < m.n; i++) {
        ck_assert_uint_eq(v.until_us[i], m.shown[i].readable ? RLK_NEVER : 0);
    }
}

static void task_must_be(enum rlk_record_task task)
{
    judge();
    ck_assert_int_eq(v.task, task);
}

/* The masters in `promised`, letters of their places a, b, c ..., are enough to write, or not. */
static bool may_write(const char *promised)
{
    uint64_t mask = 0;

    for (; *promised; promised++) {
        mask |= rlk_mask_bit((unsigned)(*promised - 'a'));
    }
    judge();
    return rlk_membership_may_write(&m, &v, mask);
}

/* Write what the verdict asks for, under that ballot. */
static const struct rlk_record *write_record(uint64_t number)
{
    const struct rlk_ballot ballot = {number, 1};

    judge();
    ck_assert_int_ne(v.task, RLK_RECORD_NOTHING);
    ck_assert_uint_lt(n_kept, N_ROWS(kept));
    rlk_membership_write(&m, &v, &ballot, &kept[n_kept]);
    ck_assert_uint_eq(kept[n_kept].ballot.number, number);
    return &kept[n_kept++];
}

static void writes(uint64_t number, uint32_t epoch, const char *entries)
{
    const struct rlk_record *r = write_record(number);

    ck_assert_str_eq(records_print(r), entries);
    ck_assert_uint_eq(r->epoch, epoch);
    ck_assert_uint_eq(r->max_ttl_ms, RECORDS_MAX_TTL_MS);
}

/* Three masters that have been on record for long; and five. */
static const struct rlk_record *begin_with_three(void)
{
    const struct rlk_record *r;

    begin("abc");
    r = keep(1, 1, "a1 b1 c1");
    show_all("abc", r);
    judge();
    return r;
}

static const struct rlk_record *begin_with_five(void)
{
    const struct rlk_record *r;

    begin("abcde");
    r = keep(1, 1, "a1 b1 c1 d1 e1");
    show_all("abcde", r);
    judge();
    return r;
}

/* ---- M2: whose votes count ---- */

/* B has masters 3, 4, 5, and 4 and 5 never had a record. A holds 1 and 2. */
TEST(a_master_that_is_not_on_record_does_not_vote)
{
    begin("cde");
    show_all("cde", NULL);
    show(0, 'c', keep(1, 1, "a1 b1 c1"));
    must_misfit(RLK_MISFIT_MASTER);
    ck_assert_ptr_eq(v.record, &kept[0]);
    ck_assert_uint_eq(v.node, 1);
}

/* The same, and master 3 is the last to be connected: B must not have won before. */
TEST(without_a_record_nobody_votes_before_every_master_was_tried)
{
    begin("dec");
    votes_must_be("+++"); /* nobody is connected: the votes are no use yet */
    show_all("de", NULL);
    votes_must_be("--+");
    ck_assert_ptr_null(v.record);
    show(2, 'c', keep(1, 1, "a1 b1 c1"));
    must_misfit(RLK_MISFIT_MASTER);
}

/* A master that cannot be reached must not keep all others from voting. */
TEST(without_a_record_they_vote_when_each_was_tried)
{
    begin("abc");
    show_all("ab", NULL);
    lose_connection(2);
    votes_must_be("+++");
    task_must_be(RLK_RECORD_NOTHING);
}

/* While the first record is written another client may write one of other masters. */
TEST(nobody_votes_while_the_first_record_is_written)
{
    begin("abc");
    show_all("abc", NULL);
    votes_must_be("+++");
    m.writes = true;
    votes_must_be("---");
    task_must_be(RLK_RECORD_FIRST);
    lose_connection(2); /* then it cannot be written */
    votes_must_be("+++");
}

/* It may have promised its vote to who goes by the later one; when that is agreed on, so do we. */
TEST(a_master_that_shows_a_later_record_does_not_vote)
{
    const struct rlk_record *later;

    begin_with_five();
    votes_must_be("+++++");
    later = keep(2, 2, "a1:2! b1 c1 d1 e1 A2@a");
    show(1, 'b', later);
    votes_must_be("+-+++");
    ck_assert_uint_eq(v.pending, 0); /* the others are asked, and are enough */
    show(2, 'c', later);
    votes_must_be("+--++");
    show(0, 'A', later);
    votes_must_be("w++++");
    ck_assert_ptr_eq(v.record, later);
}

/* Any client may write the same once more, at any time. */
TEST(a_master_that_shows_the_same_under_a_later_ballot_votes)
{
    begin_with_three();
    show(1, 'b', keep(2, 1, "a1 b1 c1"));
    votes_must_be("+++");
}

/* It was away, and nobody has told it yet. */
TEST(a_master_that_shows_an_earlier_record_votes)
{
    const struct rlk_record *first = begin_with_three(), *later = keep(2, 2, "a1 b1 c1:2! C2@c");

    show(0, 'a', later);
    show(2, 'C', later);
    votes_must_be("++w");
    show(1, 'b', first);
    votes_must_be("++w");
    show(1, 'b', NULL);
    votes_must_be("++w");
}

/* Before it knows of an agreed record a client goes by the latest: a majority that shows it has
 * agreed on it. */
TEST(before_a_record_is_known_to_be_agreed_only_those_vote_that_show_the_latest)
{
    const struct rlk_record *first, *later;

    begin("abcde");
    first = keep(1, 1, "a1 b1 c1 d1 e1");
    later = keep(2, 1, "a1 b1 c1 d1 e1");
    show(0, 'a', first);
    show(1, 'b', later);
    show(2, 'c', NULL);
    votes_must_be("-+-++");
    ck_assert_ptr_eq(v.record, later);
    ck_assert_ptr_null(m.in_use);
    show(0, 'a', later);
    votes_must_be("++-++");
    show(3, 'd', later); /* agreed */
    votes_must_be("+++++");
    ck_assert_ptr_eq(m.in_use, later);
}

/* Before the change it was agreed on, and a majority shows it still; a stale copy of the data, or
 * masters that nobody could tell. */
TEST(an_earlier_record_is_never_in_use_again)
{
    const struct rlk_record *first = begin_with_five(),
                            *later = keep(2, 2, "a1 b1 c1 d1 e1:2! E2@e");

    show_all("abcdE", later);
    judge();
    ck_assert_ptr_eq(m.in_use, later);
    show_all("abc", first);
    show(3, 'd', NULL);
    show(4, 'E', NULL);
    judge();
    ck_assert_ptr_eq(m.in_use, later);
    ck_assert_ptr_eq(v.base, later);
    task_must_be(RLK_RECORD_AGAIN);
}

TEST(an_agreed_record_stays_in_use_when_masters_are_gone)
{
    const struct rlk_record *r = begin_with_five();
    unsigned i;

    for (i = 1; i < 5; i++) {
        lose_connection(i);
    }
    must_fit();
    ck_assert_ptr_eq(v.record, r);
    ck_assert_ptr_eq(m.in_use, r);
}

/* Of five masters c to e are away. A stale client could write b as if it were there. */
TEST(the_mark_of_a_master_decides_and_not_its_address)
{
    begin_with_three();
    show(1, 'B', NULL);
    votes_must_be("+-+");
    must_fit();
}

/* A master whose mark or record we may not read has no part in it. */
TEST(an_unreadable_master_votes_as_without_a_record)
{
    begin_with_three();
    lose_connection(1);
    votes_must_be("+++");
    begin("xyz");
    show_all("xy", NULL);
    show(0, 'x', keep(1, 1, "a1 b1 c1"));
    lose_connection(2);
    show(1, 'y', NULL);
    votes_must_be("+++");
}

/* An acquire that asked at once would only get votes that do not count. */
TEST(nobody_is_asked_while_votes_may_count_soon)
{
    begin("abc");
    show_all("ab", NULL);
    judge();
    ck_assert_uint_eq(v.pending, 03);
    show(2, 'c', NULL);
    judge();
    ck_assert_uint_eq(v.pending, 0);
    m.writes = true;
    judge();
    ck_assert_uint_eq(v.pending, 07);
    show_all("abc", keep(1, 1, "a1 b1 c1"));
    judge();
    ck_assert_uint_eq(v.pending, 0);
}

/* Whoever sees it writes it on the others. */
TEST(nobody_is_asked_before_the_record_is_on_it)
{
    const struct rlk_record *r;

    begin("abcde");
    r = keep(2, 2, "a1 b1 c1 d1 e1:2! E2@e");
    show_all("abcdE", NULL);
    show(0, 'a', r);
    judge();
    votes_must_be("+----");
    ck_assert_uint_eq(v.pending, 016); /* but for the newcomer, which has to wait for longer */
    show_all("ab", r);
    judge();
    ck_assert_uint_eq(v.pending, 014);
    show_all("abc", r);
    judge();
    ck_assert_ptr_eq(m.in_use, r);
    ck_assert_uint_eq(v.pending, 0);
}

/* These have to wait for longer, and the others may be enough. */
TEST(those_that_are_not_on_record_are_asked)
{
    begin_with_three();
    show(2, 'C', NULL);
    judge();
    ck_assert_uint_eq(v.until_us[2], RLK_NEVER);
    ck_assert_uint_eq(v.pending, 0);
    m.max_ttl_ms++;
    judge();
    ck_assert_uint_eq(v.pending, 0);
}

/* ---- M3: another list ---- */

TEST(another_max_ttl_does_not_fit)
{
    begin_with_three();
    must_fit();
    m.max_ttl_ms--;
    must_misfit(RLK_MISFIT_MAX_TTL);
    m.max_ttl_ms += 2;
    must_misfit(RLK_MISFIT_MAX_TTL);
}

/* Masters 1, 2, 3; in one crontab master 3 was forgotten. */
TEST(another_number_of_masters_does_not_fit)
{
    const struct rlk_record *r;

    begin("ab");
    r = keep(1, 1, "a1 b1 c1");
    show_all("ab", r);
    must_misfit(RLK_MISFIT_NUMBER);

    begin("abcd");
    show_all("abc", keep(1, 1, "a1 b1 c1"));
    must_misfit(RLK_MISFIT_NUMBER);
}

/* Former masters are none. */
TEST(only_masters_are_counted)
{
    begin("abc");
    show_all("abC", keep(4, 3, "a1 b1 x1:2! y1:3 c1:3! C3@c"));
    must_fit();
    ck_assert_uint_eq(rlk_record_size(v.record), 3);
}

/* In the crontab stands master 4 in place of 2. It need not be known which of them is up. */
TEST(a_server_that_is_not_on_record_does_not_fit)
{
    begin("ad");
    show(0, 'a', keep(1, 1, "a1 b1"));
    lose_connection(1);
    must_fit();
    show(1, 'd', NULL);
    must_misfit(RLK_MISFIT_MASTER);
    ck_assert_uint_eq(v.node, 1);
    lose_connection(1); /* it is remembered */
    must_misfit(RLK_MISFIT_MASTER);
}

/* 1, 2, 3 are on record, and B has 3, 4, 5, of which 4 and 5 agreed on a record. */
TEST(a_later_record_of_one_master_must_fit_too)
{
    const struct rlk_record *own, *other;

    begin("cde");
    own = keep(1, 1, "c1 d1 e1");
    other = keep(2, 1, "a1 b1 c1");
    show_all("cde", own);
    must_fit();
    show(0, 'c', other);
    must_misfit(RLK_MISFIT_MASTER);
    ck_assert_ptr_eq(v.record, other);
}

/* A minority kept it from before: those who wrote it had too few masters. */
TEST(a_record_that_was_overruled_need_not_fit)
{
    const struct rlk_record *stray, *r;

    begin("abc");
    stray = keep(1, 1, "c1 d1 e1");
    r = keep(2, 1, "a1 b1 c1");
    show_all("ab", r);
    show(2, 'c', stray);
    must_fit();
    votes_must_be("+++");
    task_must_be(RLK_RECORD_AGAIN);
    ck_assert_ptr_eq(v.base, r);
}

/* A copy of the data of another master brought it there. */
TEST(a_record_on_a_master_that_it_does_not_name_counts_as_none)
{
    begin("abc");
    show_all("bc", NULL);
    show_all("abc", NULL);
    show(0, 'a', keep(5, 1, "x1 y1 z1"));
    must_fit();
    ck_assert_ptr_null(v.record);
    task_must_be(RLK_RECORD_FIRST);
}

/* The data of a are at b, too: it was made a replica, or started from a copy. */
TEST(a_copy_does_not_vote)
{
    const struct rlk_record *r = begin_with_three();

    show(1, 'a', r);
    must_fit();
    votes_must_be("+-+");
    show(1, 'B', NULL); /* its data were deleted */
    task_must_be(RLK_RECORD_REPLACED);
}

/* c was a replica of a, which has lost its data since. */
TEST(a_copy_takes_nobodys_place)
{
    const struct rlk_record *r = begin_with_three();

    show(2, 'a', r);
    show(0, 'X', NULL);
    must_fit();
    votes_must_be("-+-");
    task_must_be(RLK_RECORD_REPLACED);
    writes(9, 2, "a1:2! b1 c1 X2@a");
}

/* Two masters have changed their addresses. */
TEST(masters_at_each_others_addresses_vote)
{
    const struct rlk_record *r = begin_with_three();

    show(0, 'b', r);
    show(1, 'a', r);
    must_fit();
    votes_must_be("+++");
}

/* Which is the copy? Neither is where the record has them. */
TEST(two_servers_with_one_mark_elsewhere_do_not_fit)
{
    const struct rlk_record *r;

    begin("xyc");
    r = keep(1, 1, "a1 b1 c1");
    show(0, 'a', r);
    show(1, 'a', r);
    show(2, 'c', r);
    must_misfit(RLK_MISFIT_COPY);
    ck_assert_uint_eq(v.node, 1);
    lose_connection(0); /* it may have moved */
    judge();
    ck_assert_int_ne(v.misfit, RLK_MISFIT_COPY);
}

TEST(copies_do_not_fit_without_a_record)
{
    begin("abc");
    show_all("xyy", NULL);
    must_misfit(RLK_MISFIT_COPY);
    ck_assert_uint_eq(v.node, 2);
}

/* The address on record is another one: a name was changed, or the network is another. */
TEST(a_master_is_the_same_at_another_address)
{
    begin("xyz");
    show_all("cab", keep(1, 1, "a1 b1 c1"));
    must_fit();
    votes_must_be("+++");
    ck_assert_int_eq(rlk_membership_find(&m, v.record, 0), 2);
    ck_assert_int_eq(rlk_membership_find(&m, v.record, 1), 0);
    task_must_be(RLK_RECORD_NOTHING);
}

/* ---- M4: who writes ---- */

TEST(the_first_record_needs_every_master_and_its_mark)
{
    unsigned i;

    for (i = 0; i < 3; i++) {
        begin("abc");
        show_all("abc", NULL);
        task_must_be(RLK_RECORD_FIRST);
        lose_connection(i);
        task_must_be(RLK_RECORD_NOTHING);
        show(i, 0, NULL);
        task_must_be(RLK_RECORD_NOTHING);
    }
}

/* It is connected, and there was no memory for the record that it has. */
TEST(no_first_record_is_written_while_one_may_be_there)
{
    begin("abc");
    show_all("abc", NULL);
    m.shown[1].tried = false;
    votes_must_be("---");
    task_must_be(RLK_RECORD_NOTHING);
    ck_assert_uint_eq(v.pending, 07);
}

/* Two clients with different lists may have a minority in common. */
TEST(the_first_record_needs_the_promise_of_all)
{
    begin("abc");
    show_all("abc", NULL);
    ck_assert(may_write("abc"));
    ck_assert(!may_write("ab"));
    ck_assert(!may_write("bc"));
    ck_assert(!may_write(""));
    writes(7, 1, "a1 b1 c1");
}

/* It has an address that only its own machine finds, or a mark at another one's address. */
TEST(the_first_record_has_the_marks_and_our_addresses)
{
    begin("xyz");
    show_all("abc", NULL);
    writes(7, 1, "a1@x b1@y c1@z");
}

/* One of three has the record already: the writer crashed. */
TEST(a_record_that_is_seen_is_written_again_and_not_a_first_one)
{
    const struct rlk_record *r;

    begin("abc");
    r = keep(3, 1, "a1 b1 c1");
    show_all("abc", NULL);
    show(1, 'b', r);
    task_must_be(RLK_RECORD_AGAIN);
    ck_assert_ptr_eq(v.base, r);
    ck_assert(may_write("ab"));
    ck_assert(!may_write("b"));
    writes(8, 1, "a1 b1 c1");
}

TEST(a_record_is_written_where_it_is_missing)
{
    const struct rlk_record *r = begin_with_three();

    task_must_be(RLK_RECORD_NOTHING);
    show(2, 'c', NULL);
    task_must_be(RLK_RECORD_AGAIN);
    ck_assert_ptr_eq(v.base, r);
    lose_connection(2); /* nobody can be told now */
    task_must_be(RLK_RECORD_NOTHING);
}

/* Each master has it, but no majority under one ballot: another client could overrule it. */
TEST(a_record_without_a_common_ballot_is_written_again)
{
    begin("abc");
    show(0, 'a', keep(1, 1, "a1 b1 c1"));
    show(1, 'b', keep(2, 1, "a1 b1 c1"));
    show(2, 'c', keep(3, 1, "a1 b1 c1"));
    task_must_be(RLK_RECORD_AGAIN);
    ck_assert_ptr_null(m.in_use);
    writes(9, 1, "a1 b1 c1");
}

/* A change that a minority has is completed, or overruled by who has not seen it. */
TEST(a_change_that_a_minority_shows_is_written_again)
{
    const struct rlk_record *later;

    begin_with_five();
    later = keep(2, 2, "a1 b1 c1 d1 e1:2! E2@e");
    show(0, 'a', later);
    show(4, 'E', NULL);
    task_must_be(RLK_RECORD_AGAIN);
    ck_assert_ptr_eq(v.base, later);
    ck_assert(!may_write("ab"));
    ck_assert(may_write("abe"));
    writes(9, 2, "a1 b1 c1 d1 e1:2! E2@e");
}

TEST(a_ballot_is_above_all_that_were_shown)
{
    begin("abc");
    show_all("abc", NULL);
    ck_assert_uint_eq(rlk_membership_next_number(&m), 1);
    m.shown[2].promised.number = 41;
    ck_assert_uint_eq(rlk_membership_next_number(&m), 42);
    show(0, 'a', keep(77, 1, "a1 b1 c1"));
    m.shown[0].promised.number = 5;
    ck_assert_uint_eq(rlk_membership_next_number(&m), 78);
}

/* ---- M5: a master that lost its data ---- */

/* Under the name of master 3, B finds another server than A, empty. A has inspected 1 and 2 just
 * before, and holds 1 and 3. B must not hold 2 and its own 3. */
TEST(new_data_do_not_vote_before_every_client_knows_them)
{
    const struct rlk_record *later;

    begin_with_three();
    show(2, 'C', NULL);
    votes_must_be("++-");
    task_must_be(RLK_RECORD_REPLACED);
    writes(2, 2, "a1 b1 c1:2! C2@c");
    later = &kept[n_kept - 1];
    now_us += S;
    show_all("abC", later);
    votes_must_be("++w");
    ck_assert_uint_eq(v.until_us[2], NOW + S + WAIT_US);
    task_must_be(RLK_RECORD_NOTHING);
    now_us += WAIT_US;
    votes_must_be("++w"); /* the time has come */
    ck_assert_uint_le(v.until_us[2], now_us);
}

/* The wait begins when the second of three had it, for a client that comes later by the clocks of
 * the masters. */
TEST(a_client_that_comes_later_waits_from_when_it_was_agreed_on)
{
    const struct rlk_record *later;

    begin("abc");
    later = keep(2, 2, "a1 b1 c1:2! C2@c");
    show_all("abC", later);
    m.shown[0].since_us = NOW - 9 * S;
    m.shown[1].since_us = NOW - 7 * S;
    m.shown[2].since_us = NOW - 8 * S;
    votes_must_be("++w");
    ck_assert_uint_eq(v.until_us[2], NOW - 8 * S + WAIT_US);
}

/* The clock of a master may be wrong, or set: ours counts, too. */
TEST(a_client_that_saw_it_waits_no_longer_than_from_then)
{
    const struct rlk_record *later;

    begin_with_three();
    later = keep(2, 2, "a1 b1 c1:2! C2@c");
    show_all("abC", later);
    judge();
    m.shown[0].since_us = m.shown[1].since_us = m.shown[2].since_us = NOW + 500 * S;
    now_us += S;
    votes_must_be("++w");
    ck_assert_uint_eq(v.until_us[2], NOW + WAIT_US);
}

/* Writing the same record again does not restart the wait. */
TEST(the_same_under_another_ballot_goes_on_waiting)
{
    begin_with_three();
    show_all("abC", keep(2, 2, "a1 b1 c1:2! C2@c"));
    judge();
    now_us += 3 * S;
    show_all("abC", keep(3, 2, "a1 b1 c1:2! C2@c"));
    votes_must_be("++w");
    ck_assert_uint_eq(v.until_us[2], NOW + WAIT_US);
}

/* Too few have it yet. */
TEST(new_data_do_not_vote_while_nobody_has_agreed)
{
    const struct rlk_record *later;

    begin("abc");
    later = keep(2, 2, "a1 b1 c1:2! C2@c");
    show(2, 'C', later);
    votes_must_be("++-");
    ck_assert_ptr_null(m.in_use);
}

/* A name was changed before anybody had a record: then it is a server at an address on record. */
TEST(a_master_without_its_data_is_known_by_its_address)
{
    begin("abc");
    show_all("abX", keep(1, 1, "a1 b1 c1"));
    show(2, 'X', NULL);
    must_fit();
    task_must_be(RLK_RECORD_REPLACED);
    writes(2, 2, "a1 b1 c1:2! X2@c");
}

/* Under another address we saw its mark before. */
TEST(a_master_without_its_data_is_known_where_we_saw_them)
{
    begin("xyz");
    show_all("abc", keep(1, 1, "a1 b1 c1"));
    judge();
    show(1, 'B', NULL);
    must_fit();
    votes_must_be("+-+");
    task_must_be(RLK_RECORD_REPLACED);
    writes(2, 2, "a1 b1:2! c1 B2@y");
}

/* It loses them once more before anybody wrote that. */
TEST(a_master_is_known_when_it_loses_its_data_twice)
{
    begin("xyz");
    show_all("abc", keep(1, 1, "a1 b1 c1"));
    judge();
    show(1, 'B', NULL);
    judge();
    show(1, 'D', NULL);
    must_fit();
    writes(2, 2, "a1 b1:2! c1 D2@y");
}

/* An empty server at another address: B's list has a wrong one. */
TEST(an_empty_server_at_an_unknown_address_is_no_master)
{
    begin("abx");
    show_all("ab", keep(1, 1, "a1 b1 c1"));
    show(2, 'X', NULL);
    must_misfit(RLK_MISFIT_MASTER);
    ck_assert_uint_eq(v.node, 2);
}

/* Two servers answer under one name, one of them empty; or an old copy of the data was loaded. */
TEST(data_that_were_replaced_do_not_come_back)
{
    const struct rlk_record *later;

    begin_with_three();
    later = keep(2, 2, "a1 b1 c1:2! C2@c");
    show_all("ab", later);
    show(2, 'c', NULL);
    must_fit();
    votes_must_be("++-");
    ck_assert(!may_write("c"));
    task_must_be(RLK_RECORD_AGAIN); /* who reaches that server alone must see it, too */
    show(2, 'c', later);
    votes_must_be("++-");
    task_must_be(RLK_RECORD_NOTHING);
}

/* Of three, one is down and another is empty: the third and the new data agree. */
TEST(a_change_can_be_agreed_on_while_a_master_is_down)
{
    begin_with_three();
    lose_connection(0);
    show(2, 'C', NULL);
    task_must_be(RLK_RECORD_REPLACED);
    ck_assert(may_write("bc"));
    ck_assert(!may_write("b"));
    ck_assert(!may_write("c"));
}

/* The price, if a former master is back. c was down when d took its place: a, b and d have that
 * record, and the data of b are lost. Who reaches only b and c agrees with these two, while a and d
 * are a majority for the others. So a former master has to stay off. */
TEST(a_former_master_that_comes_back_and_new_data_agree_on_another_record)
{
    const struct rlk_record *r;

    begin("abc");
    lose_connection(0);
    show(1, 'B', NULL);
    show(2, 'c', keep(1, 1, "a1 b1 c1"));
    task_must_be(RLK_RECORD_REPLACED);
    ck_assert(may_write("bc"));
    r = write_record(4);
    show(1, 'B', r);
    show(2, 'c', r);
    votes_must_be("+w+");
    ck_assert_uint_eq(v.until_us[1], now_us + WAIT_US);
    ck_assert_uint_eq(v.voters.size, 3);

    begin("abd");
    lose_connection(1);
    r = keep(3, 3, "a1 b1 c1:2 d2");
    show(0, 'a', r);
    show(2, 'd', r);
    votes_must_be("+++");
    ck_assert_uint_eq(v.voters.size, 3);
}

/* One change replaces both, from the last record that all its masters voted under. */
TEST(a_second_loss_before_the_first_votes_begins_the_epoch_again)
{
    const struct rlk_record *r;

    begin_with_five();
    show(4, 'E', NULL);
    r = write_record(2);
    show_all("abcdE", r);
    votes_must_be("++++w");
    show(3, 'D', NULL);
    votes_must_be("+++-w");
    task_must_be(RLK_RECORD_REPLACED);
    ck_assert(!v.settled);
    writes(3, 3, "a1 b1 c1 d1:3! e1:3! E3@e D3@d");
}

/* The same master again: its data of the time between are no data of a master. */
TEST(new_data_that_are_lost_before_they_vote_are_forgotten)
{
    begin_with_three();
    show(2, 'C', NULL);
    show_all("abC", write_record(2));
    judge();
    show(2, 'X', NULL);
    writes(3, 3, "a1 b1 c1:3! X3@c");
}

/* After the wait the new data are those of a master: it may have granted locks. */
TEST(a_second_loss_after_the_first_votes_is_a_change_of_its_own)
{
    begin_with_three();
    show(2, 'C', NULL);
    show_all("abC", write_record(2));
    judge();
    now_us += WAIT_US;
    show(1, 'B', NULL);
    task_must_be(RLK_RECORD_REPLACED);
    ck_assert(v.settled);
    writes(3, 3, "a1 b1:3! c1:2! C2@c B3@b");
    ck_assert(may_write("ab"));
    ck_assert(may_write("bc"));
    ck_assert(!may_write("a"));
}

/* So nobody can be relied on: as without a record. */
TEST(when_a_majority_lost_its_data_all_vote_as_without_a_record)
{
    begin_with_three();
    show(0, 'A', NULL);
    votes_must_be("-++");
    show(1, 'B', NULL);
    must_fit();
    ck_assert_ptr_null(m.in_use);
    votes_must_be("+++");
    task_must_be(RLK_RECORD_REPLACED);
    writes(2, 2, "a1:2! b1:2! c1 A2@a B2@b");
    ck_assert(may_write("ab"));
    ck_assert(may_write("bc"));
    ck_assert(!may_write("b"));
}

TEST(nobody_waits_after_a_majority_lost_its_data)
{
    begin_with_three();
    show_all("ABc", NULL);
    judge();
    show_all("ABc", write_record(2));
    votes_must_be("+++");
    task_must_be(RLK_RECORD_NOTHING);
    ck_assert(!rlk_record_has_newcomers(v.record));
}

TEST(all_may_lose_their_data)
{
    begin_with_three();
    show_all("ABC", NULL);
    votes_must_be("+++");
    writes(2, 2, "a1:2! b1:2! c1:2! A2@a B2@b C2@c");
    show_all("ABC", &kept[n_kept - 1]);
    votes_must_be("+++");
    ck_assert_ptr_nonnull(m.in_use);
}

/* It may be there again with its data: a lost connection is no loss of data. */
TEST(who_cannot_be_read_has_not_lost_its_data)
{
    begin_with_three();
    show(2, 'C', NULL);
    lose_connection(2);
    task_must_be(RLK_RECORD_NOTHING);
    lose_connection(1);
    must_fit();
    ck_assert_ptr_nonnull(m.in_use);
}

/* Each loss leaves a former master; most of them are forgotten in time, the oldest first. */
TEST(former_masters_are_forgotten)
{
    static const char marks[] = "CDEFGHIJKLMNOPQRSTUVWXYZ";
    unsigned i;

    begin_with_three();
    for (i = 0; marks[i]; i++) {
        show(2, marks[i], NULL);
        n_kept = 4;
        kept[8 + i % 2] = *write_record(2 + i);
        show_all("ab", &kept[8 + i % 2]);
        show(2, marks[i], &kept[8 + i % 2]);
        judge();
        ck_assert_uint_le(v.record->n, 3 + RLK_RECORD_FORMER);
        ck_assert_uint_eq(rlk_record_size(v.record), 3);
        now_us += WAIT_US;
    }
    ck_assert_str_eq(records_print(v.record),
                     "a1 b1 U20:21!@c V21:22!@c W22:23!@c X23:24!@c Y24:25!@c Z25@c");
}

/* ---- another server in the place of a master [M7] ---- */

static void must_move(int node, char to)
{
    judge();
    ck_assert_int_eq(v.misfit, RLK_MISFIT_NOT);
    ck_assert_int_eq(v.moves, node);
    if (node >= 0) {
        ck_assert_int_ge(v.moves_to, 0);
        ck_assert_uint_eq(v.record->master[v.moves_to].mark, to);
    }
}

/* The record has a master that we do not have; 0: it has not. */
static void must_add(char mark)
{
    judge();
    ck_assert_int_eq(v.misfit, RLK_MISFIT_NOT);
    ck_assert_int_eq(v.moves, -1);
    ck_assert_int_eq(v.vacates, -1);
    ck_assert_uint_eq(v.adds < 0 ? 0 : v.adds_of->master[v.adds].mark, (uint64_t)mark);
}

static void add_node(char address)
{
    rlk_membership_add(&m);
    m.shown[m.n - 1].address = records_address(address);
    m.shown[m.n - 1].len = 1;
}

/* What follows from that. */
static void add_guest(char address)
{
    judge();
    ck_assert(v.adds_guest);
    add_node(address);
    m.guests |= rlk_mask_bit(m.n - 1);
}

/* Which masters extend no lock that is held. */
static void nothing_is_extended_by(const char *places)
{
    uint64_t mask = 0;

    for (; *places; places++) {
        mask |= rlk_mask_bit((unsigned)(*places - 'a'));
    }
    judge();
    ck_assert_uint_eq(v.extends_nothing, mask);
}

/* The client of a change: the last of its masters is to take the place of another. */
static void begin_change(const char *addresses, int leaves)
{
    begin(addresses);
    m.joins = (int)m.n - 1;
    m.leaves = leaves;
}

/* The client of a change that adds the last of its masters, or removes one of them. */
static void begin_resize(const char *addresses, int leaves)
{
    begin(addresses);
    m.joins = leaves < 0 ? (int)m.n - 1 : -1;
    m.leaves = leaves;
}

static void stage_must_be(enum rlk_move_stage stage, uint64_t until)
{
    uint64_t until_us;

    judge();
    ck_assert_int_eq(rlk_membership_move_stage(&m, now_us, &until_us), stage);
    ck_assert_uint_eq(until_us, until);
}

/* It connects to the one in whose place another server is, and asks it as soon as that votes. */
TEST(a_client_follows_the_record)
{
    const struct rlk_record *after;

    begin("abc");
    show_all("abc", keep(1, 1, "a1 b1 c1"));
    must_move(-1, 0);
    after = keep(2, 2, "a1 b1 c1:2 d2");
    show_all("ab", after);
    must_move(2, 'd');
    votes_must_be("++-");
    rlk_membership_clear(&m, 2);
    m.shown[2].address = records_address('d');
    show(2, 'd', after);
    must_move(-1, 0);
    votes_must_be("++w");
    ck_assert_uint_eq(v.until_us[2], now_us + WAIT_US);
    now_us += WAIT_US;
    ck_assert_uint_le(v.until_us[2], now_us);
}

/* Also after two changes, by the one master that is left, which alone cannot show that it is agreed
 * on. */
TEST(a_former_list_leads_to_the_present_one)
{
    const struct rlk_record *last;

    begin("abc");
    last = keep(3, 3, "a1 b1:3 c1:2 d2 e3");
    show(0, 'a', last);
    must_add(0); /* the others may show something else */
    show(1, 'b', keep(2, 2, "a1 b1 c1:2 d2"));
    lose_connection(2);
    must_add('d');
    votes_must_be("+-+");
    add_guest('d');
    show(3, 'd', last);
    must_move(1, 'e');
}

/* By its address, where it was never connected. */
TEST(a_former_master_that_is_down_is_known_by_its_address)
{
    begin("abc");
    show_all("ab", keep(2, 2, "a1 b1 c1:2 d2"));
    lose_connection(2);
    must_move(2, 'd');
}

/* Another one may overrule it, and then nobody is where we are. */
TEST(nobody_follows_a_change_that_may_be_overruled)
{
    begin("abc");
    show(0, 'a', keep(2, 2, "a1 b1 c1:2 d2"));
    show(1, 'b', keep(1, 1, "a1 b1 c1"));
    lose_connection(2);
    must_move(-1, 0);
    task_must_be(RLK_RECORD_AGAIN);
}

/* A machine that failed is replaced, and comes back empty. */
TEST(a_former_master_that_lost_its_data_is_known_by_its_address)
{
    begin("abc");
    show_all("ab", keep(2, 2, "a1 b1 c1:2 d2"));
    show(2, 'z', NULL);
    must_move(2, 'd');
    votes_must_be("++-");
}

/* A lost mark is no former master: nobody took its place. */
TEST(nobody_follows_data_that_were_lost)
{
    begin("abc");
    show_all("ab", keep(2, 2, "a1 b1 c1:2! d2@c"));
    show(2, 'c', keep(1, 1, "a1 b1 c1"));
    must_move(-1, 0);
    votes_must_be("++-");
    nothing_is_extended_by("c");
}

/* A holds a, b, c. It follows to d, and b fails: d must not make up for it, because B, which knows
 * of no change, takes b and c. */
TEST(a_newcomer_extends_nothing_while_it_does_not_vote)
{
    const struct rlk_record *after;

    begin("abd");
    after = keep(2, 2, "a1 b1 c1:2 d2");
    show_all("abd", after);
    nothing_is_extended_by("c");
    now_us += WAIT_US;
    nothing_is_extended_by("");
}

/* What took the place of data that are surely gone does: as without a record. */
TEST(new_data_at_the_place_of_lost_ones_extend_locks)
{
    begin("abc");
    show_all("abC", keep(2, 2, "a1 b1 c1:2! C2@c"));
    votes_must_be("++w");
    nothing_is_extended_by("");
}

/* A sees the change on a, and cannot reach b. It must not go on with a and c: when d votes, B takes
 * b and d. */
TEST(a_master_that_shows_another_record_extends_nothing)
{
    begin("abc");
    show_all("abc", keep(1, 1, "a1 b1 c1"));
    nothing_is_extended_by("");
    lose_connection(1);
    show(0, 'a', keep(2, 2, "a1 b1 c1:2 d2"));
    votes_must_be("-++");
    nothing_is_extended_by("a");
}

/* We cannot read its record any more; a moment ago we could. */
static void hide(unsigned node)
{
    m.shown[node].read_us = now_us;
    m.shown[node].readable = false;
    rlk_membership_hide_record(&m, node);
}

/* [M6] Masters a, b, c. B may not read the record on b any more, and c is cut off from all other
 * clients: it has missed that d was added, and then e. A takes a, d and e of the five. So B must
 * not have b and c. */
TEST(a_master_that_hides_its_record_does_not_vote)
{
    begin("abc");
    show_all("abc", keep(1, 1, "a1 b1 c1"));
    judge();
    hide(1);
    votes_must_be("+++");
    nothing_is_extended_by("");
    ck_assert_uint_eq(v.again_us, now_us + 5 * S);
    now_us += 4 * S;
    rlk_membership_hide_record(&m, 1); /* each inspection is denied */
    now_us += 1 * S;
    lose_connection(0);
    show(0, 'a', keep(3, 3, "a1 b1 c1 d2 e3"));
    votes_must_be("--+");
    nothing_is_extended_by("ab");
    show(1, 'b', keep(1, 1, "a1 b1 c1"));
    votes_must_be("-++");
    nothing_is_extended_by("a");
}

/* Nor does one that had none, or another one than the others, at once. */
TEST(a_master_that_hides_that_it_has_no_record_does_not_vote)
{
    begin_with_three();
    show(1, 'b', NULL);
    hide(1);
    votes_must_be("+-+");
    begin("abc");
    show_all("abc", NULL);
    judge();
    hide(0);
    votes_must_be("-++");
    ck_assert_uint_eq(v.pending, 0);
    show(1, 'b', keep(1, 1, "a1 b1 c1"));
    votes_must_be("-+-");
    show(0, 'a', keep(1, 1, "a1 b1 c1"));
    votes_must_be("+++");
}

/* What it has shown before it was hidden counts. */
TEST(a_record_that_is_hidden_is_still_agreed_on)
{
    begin("abc");
    show_all("ab", keep(1, 1, "a1 b1 c1"));
    hide(0);
    show(2, 'c', NULL);
    judge();
    ck_assert_ptr_nonnull(m.in_use);
}

/* A master whose record we could never read votes as one without a record. */
TEST(a_master_that_has_never_shown_a_record_votes)
{
    begin("abc");
    show_all("ab", keep(1, 1, "a1 b1 c1"));
    m.shown[2].tried = m.shown[2].connected = true;
    rlk_membership_hide_record(&m, 2);
    votes_must_be("+++");
    nothing_is_extended_by("");
}

/* All of them show a change, one after the other. Until the last one does nobody knows that it is
 * agreed on, and a vote that is asked for soon after a look at the former record has ended when the
 * newcomer votes. */
TEST(a_master_that_showed_the_record_a_moment_ago_is_still_relied_on)
{
    const struct rlk_record *after;

    begin("abc");
    show_all("abc", keep(1, 1, "a1 b1 c1"));
    judge();
    m.shown[0].read_us = now_us;
    now_us += 2 * S;
    after = keep(2, 2, "a1 b1 c1:2 d2");
    rlk_membership_set_record(&m, 0, after);
    rlk_membership_set_record(&m, 0, after); /* as a promise shows it, too */
    votes_must_be("+++");
    nothing_is_extended_by("");
    ck_assert_uint_eq(v.again_us, now_us + 3 * S);
    now_us += 3 * S;
    votes_must_be("-++");
    nothing_is_extended_by("a");
    ck_assert_uint_eq(v.again_us, RLK_NEVER);
}

/* [S11] The time that passed meanwhile is not in our clock. */
TEST(a_master_is_not_relied_on_by_what_it_showed_before_a_suspension)
{
    begin("abc");
    show_all("abc", keep(1, 1, "a1 b1 c1"));
    judge();
    m.shown[0].read_us = now_us;
    rlk_membership_set_record(&m, 0, keep(2, 2, "a1 b1 c1:2 d2"));
    votes_must_be("+++");
    rlk_membership_suspended(&m);
    votes_must_be("-++");
}

/* It never showed the record in use, or not lately. */
TEST(a_master_is_not_relied_on_by_what_it_has_not_shown)
{
    const struct rlk_record *after;

    begin("abc");
    show_all("ab", keep(1, 1, "a1 b1 c1"));
    judge();
    m.shown[0].read_us = now_us;
    now_us += 5 * S;
    after = keep(2, 2, "a1 b1 c1:2 d2");
    show(2, 'c', NULL);
    m.shown[2].read_us = now_us;
    rlk_membership_set_record(&m, 0, after);
    rlk_membership_set_record(&m, 2, after);
    votes_must_be("-+-");
}

/* a, b, c; c is replaced by d, then a by e. Who holds a and c, and has seen nothing, must have lost
 * that before b, d, e are used: so the second change waits. */
TEST(a_change_waits_for_the_one_before_it)
{
    const struct rlk_record *first;

    begin_change("abde", 0);
    first = keep(2, 2, "a1 b1 c1:2 d2");
    show_all("abd", first);
    show(3, 'e', NULL);
    task_must_be(RLK_RECORD_NOTHING);
    stage_must_be(RLK_MOVE_WAITS, now_us + WAIT_US);
    now_us += WAIT_US;
    task_must_be(RLK_RECORD_SETTLED);
    show_all("abd", keep(3, 3, "a1 b1 c1:2 d2"));
    stage_must_be(RLK_MOVE_WAITS, now_us + RECORDS_MAX_TTL_MS * 500);
    task_must_be(RLK_RECORD_NOTHING);
    now_us += RECORDS_MAX_TTL_MS * 500;
    stage_must_be(RLK_MOVE_WRITES, 0);
    task_must_be(RLK_RECORD_CHANGED);
    writes(9, 4, "a1:4 b1 c1:2 d2 e4");
}

/* Else one server would have two places on record. */
TEST(a_master_that_lost_its_data_does_not_join_once_more)
{
    begin_change("abcd", 0);
    show_all("ab", keep(3, 3, "a1 b1 c1:2 d2"));
    show(3, 'D', NULL);
    task_must_be(RLK_RECORD_NOTHING);
}

/* A majority of the old masters and one of the new ones: here c may be down, but not b as well. */

TEST(a_change_needs_a_majority_of_the_old_and_of_the_new)
{
    begin_change("abcd", 2);
    show_all("abc", keep(1, 1, "a1 b1 c1"));
    show(3, 'd', NULL);
    task_must_be(RLK_RECORD_CHANGED);
    ck_assert(may_write("ab"));
    ck_assert(may_write("abd"));
    ck_assert(may_write("acd"));
    ck_assert(!may_write("ac")); /* c is no master after it */
    ck_assert(!may_write("ad")); /* d was none before it */
    ck_assert(!may_write("cd"));
}

/* What is done is not done twice. */
TEST(a_change_that_is_on_record_only_waits)
{
    const struct rlk_record *after;

    begin_change("abcd", 2);
    after = keep(2, 2, "a1 b1 c1:2 d2");
    show_all("ab", after);
    show(2, 'c', keep(1, 1, "a1 b1 c1"));
    show(3, 'd', after);
    task_must_be(RLK_RECORD_AGAIN); /* so that c shows it, too */
    stage_must_be(RLK_MOVE_SETTLES, now_us + WAIT_US);
    now_us += WAIT_US;
    stage_must_be(RLK_MOVE_SETTLES, 0); /* others write it once more */
    after = keep(3, 3, "a1 b1 c1:2 d2");
    show_all("ab", after);
    show(3, 'd', after);
    stage_must_be(RLK_MOVE_DONE, 0);
}

/* It died when only a had it. Others go on with it before anything else. */
TEST(a_change_that_is_half_done_is_written_again)
{
    begin_change("abce", 1);
    show(0, 'a', keep(2, 2, "a1 b1 c1:2 d2"));
    show(1, 'b', keep(1, 1, "a1 b1 c1"));
    show(2, 'c', keep(1, 1, "a1 b1 c1"));
    show(3, 'e', NULL);
    task_must_be(RLK_RECORD_AGAIN);
    ck_assert_uint_eq(v.base->epoch, 2);
}

/* Data that are lost meanwhile come first, and make the change begin anew. */
TEST(a_loss_during_a_change_becomes_part_of_it)
{
    begin("abd");
    show_all("ab", keep(2, 2, "a1 b1 c1:2 d2"));
    show(2, 'D', NULL);
    task_must_be(RLK_RECORD_REPLACED);
    writes(9, 3, "a1 b1 c1:3 D3@d");
}

static void obstacle_must_be(enum rlk_move_obstacle obstacle)
{
    judge();
    ck_assert_int_eq(rlk_membership_obstacle(&m), obstacle);
}

/* d has the data of b, whose address is another one. */
TEST(a_copy_does_not_become_a_master)
{
    begin_resize("abcd", -1);
    show_all("abcb", keep(1, 1, "a1 b1 c1"));
    stage_must_be(RLK_MOVE_WRITES, 0);
    task_must_be(RLK_RECORD_NOTHING);
    obstacle_must_be(RLK_OBSTACLE_COPY);
    show(3, 'd', NULL);
    obstacle_must_be(RLK_OBSTACLE_NONE);
    task_must_be(RLK_RECORD_CHANGED);
}

TEST(a_former_master_joins_without_its_data_only)
{
    begin_resize("abcd", -1);
    show_all("abc", keep(3, 3, "a1 b1 c1 d1:2"));
    show(3, 'd', NULL);
    obstacle_must_be(RLK_OBSTACLE_FORMER_DATA);
    show(3, 'D', NULL);
    obstacle_must_be(RLK_OBSTACLE_NONE);
}

TEST(a_former_master_cannot_be_replaced)
{
    begin_change("abce", 2);
    show_all("ab", keep(3, 3, "a1 b1 c1:2 d2"));
    show(2, 'c', keep(3, 3, "a1 b1 c1:2 d2"));
    show(3, 'e', NULL);
    obstacle_must_be(RLK_OBSTACLE_NO_MASTER);
    begin_change("abcd", 2); /* it was replaced by this one: that is what is wanted */
    show_all("abcd", keep(3, 3, "a1 b1 c1:2 d2"));
    obstacle_must_be(RLK_OBSTACLE_NONE);
}

TEST(a_master_does_not_take_the_place_of_another)
{
    begin_change("abcd", 2);
    show_all("abcd", keep(1, 1, "a1 b1 c1 d1"));
    obstacle_must_be(RLK_OBSTACLE_BOTH);
}

TEST(the_only_master_cannot_be_removed)
{
    begin_resize("a", 0);
    show(0, 'a', keep(1, 1, "a1"));
    obstacle_must_be(RLK_OBSTACLE_ONLY_MASTER);
    begin_resize("ab", 0);
    show_all("ab", keep(1, 1, "a1 b1"));
    obstacle_must_be(RLK_OBSTACLE_NONE);
}

/* Of a server that already is a master nothing else can take the place. */
TEST(what_is_a_master_cannot_join)
{
    begin_change("abcb", 2);
    show_all("abc", keep(1, 1, "a1 b1 c1"));
    show(3, 'b', NULL);
    must_misfit(RLK_MISFIT_COPY);
}

/* a, b, c; d took the place of c. When it votes, the masters from before do not matter any more:
 * else a client that is started while b is down could not know that a and d have agreed. */
TEST(a_change_that_is_over_is_written_once_more)
{
    const struct rlk_record *over;

    begin("abd");
    show_all("abd", keep(2, 2, "a1 b1 c1:2 d2"));
    task_must_be(RLK_RECORD_NOTHING);
    now_us += WAIT_US;
    task_must_be(RLK_RECORD_SETTLED);
    ck_assert(may_write("ac"));
    writes(9, 3, "a1 b1 c1:2 d2");
    begin("abd");
    over = keep(9, 3, "a1 b1 c1:2 d2");
    show(0, 'a', over);
    show(2, 'd', over);
    lose_connection(1);
    votes_must_be("+++");
    task_must_be(RLK_RECORD_NOTHING);
}

/* ---- more masters, or fewer [M8] ---- */

/* Whose majority decides: the letters of the nodes, and how many masters there are. */
static void voters_must_be(const char *places, unsigned size)
{
    uint64_t mask = 0;

    for (; *places; places++) {
        mask |= rlk_mask_bit((unsigned)(*places - 'a'));
    }
    judge();
    ck_assert_int_eq(v.misfit, RLK_MISFIT_NOT);
    ck_assert_uint_eq(v.voters.set, mask);
    ck_assert_uint_eq(v.voters.size, size);
}

static void must_vacate(int node)
{
    judge();
    ck_assert_int_eq(v.misfit, RLK_MISFIT_NOT);
    ck_assert_int_eq(v.moves, -1);
    ck_assert_int_eq(v.adds, -1);
    ck_assert_int_eq(v.vacates, node);
}

TEST(without_a_record_all_that_are_listed_are_voters)
{
    begin("abc");
    voters_must_be("abc", 3);
    begin_resize("abcd", -1);
    voters_must_be("abc", 3);
    begin_resize("abcd", 1);
    voters_must_be("abcd", 4);
}

/* a, b, c; d joins. A has not seen it, and holds a and b. Those who have seen it must not take c
 * and d with two of three; and with three of four they must not lose what they hold because d has
 * no key yet. */
TEST(the_old_masters_vote_until_a_new_one_does)
{
    const struct rlk_record *after;

    begin("abc");
    after = keep(2, 2, "a1 b1 c1 d2");
    show_all("abc", after);
    must_add('d');
    voters_must_be("abc", 3);
    add_node('d');
    voters_must_be("abc", 3);
    show(3, 'd', after);
    must_add(0);
    voters_must_be("abc", 3);
    votes_must_be("+++w");
    ck_assert_uint_eq(v.until_us[3], now_us + WAIT_US);
    ck_assert_uint_eq(v.again_us, now_us + WAIT_US);
    nothing_is_extended_by(""); /* its key is there when it votes */
    now_us += WAIT_US;
    voters_must_be("abcd", 4);
    ck_assert_uint_eq(v.again_us, RLK_NEVER);
    task_must_be(RLK_RECORD_SETTLED);
    writes(9, 3, "a1 b1 c1 d2");
}

/* a, b, c, d; d is removed. A has not seen it, and holds b, c, d. */
TEST(a_removed_master_votes_until_the_change_is_over)
{
    const struct rlk_record *after;

    begin("abcd");
    after = keep(2, 2, "a1 b1 c1 d1:2");
    show_all("abcd", after);
    votes_must_be("++++");
    voters_must_be("abcd", 4);
    must_vacate(-1);
    now_us += WAIT_US - 1;
    must_vacate(-1);
    now_us++;
    votes_must_be("+++-");
    voters_must_be("abc", 3);
    must_vacate(3);
    rlk_membership_vacate(&m, 3);
    must_vacate(-1);
    voters_must_be("abc", 3);
    task_must_be(RLK_RECORD_SETTLED);
    writes(9, 3, "a1 b1 c1 d1:2");
    ck_assert(may_write("ab"));
}

/* Whatever is down: it does not count as one of fewer. */
TEST(a_removed_master_that_is_down_still_counts_as_one)
{
    begin("abcd");
    show_all("abc", keep(2, 2, "a1 b1 c1 d1:2"));
    lose_connection(3);
    voters_must_be("abcd", 4);
    now_us += WAIT_US;
    voters_must_be("abc", 3);
    must_vacate(3);
}

/* Nobody removes a node because of a record that may be overruled. */
TEST(nobody_leaves_a_master_before_the_change_is_agreed_on)
{
    begin("abcd");
    show_all("abcd", keep(1, 1, "a1 b1 c1 d1"));
    show_all("ab", keep(2, 2, "a1 b1 c1 d1:2"));
    voters_must_be("abcd", 4);
    must_vacate(-1);
    now_us += 2 * WAIT_US;
    voters_must_be("abcd", 4);
    must_vacate(-1);
    task_must_be(RLK_RECORD_AGAIN);
}

/* The number on record counts, also while we have no node for some of them. */
TEST(masters_without_a_node_count)
{
    begin("abc");
    show_all("abc", keep(3, 4, "a1 b1 c1 d2 e4"));
    voters_must_be("abc", 4); /* e does not vote yet */
    must_add('d');
    add_node('d');
    voters_must_be("abcd", 4);
    must_add('e');
    now_us += WAIT_US;
    voters_must_be("abcd", 5);
    add_node('e');
    must_add(0);
    voters_must_be("abcde", 5);
}

/* a alone cannot show that b joined, and b is not connected: without it a client would go by a for
 * ever, which shows another record and does not vote. */
TEST(one_master_becomes_two)
{
    const struct rlk_record *after;

    begin("a");
    show(0, 'a', keep(1, 1, "a1"));
    must_add(0);
    after = keep(2, 2, "a1 b2");
    show(0, 'a', after);
    must_add('b');
    add_guest('b');
    must_add(0);
    voters_must_be("a", 1);
    show(1, 'b', NULL);
    votes_must_be("--");
    voters_must_be("a", 1);
    nothing_is_extended_by("ab");
    show(1, 'b', after);
    votes_must_be("+w");
    voters_must_be("a", 1);
    nothing_is_extended_by("");
    now_us += WAIT_US;
    voters_must_be("ab", 2);
}

/* c is down, so that b and the new one have to show it. */
TEST(three_masters_become_four_while_one_is_down)
{
    const struct rlk_record *after;

    begin("abc");
    show_all("abc", keep(1, 1, "a1 b1 c1"));
    judge();
    lose_connection(2);
    after = keep(2, 2, "a1 b1 c1 d2");
    show_all("ab", after);
    must_add('d');
    add_guest('d');
    show(3, 'd', after);
    votes_must_be("+++w"); /* c is not connected, and nobody asks it */
}

/* It joined with a record that another one has overruled. */
TEST(a_guest_that_did_not_join_is_left)
{
    begin("abc");
    show_all("abc", keep(1, 1, "a1 b1 c1"));
    judge();
    lose_connection(1);
    show(0, 'a', keep(2, 2, "a1 b1 c1 d2"));
    must_add('d');
    add_guest('d');
    show(3, 'd', NULL);
    must_add(0);
    show_all("abc", keep(3, 1, "a1 b1 c1"));
    must_vacate(3);
}

/* It may be broken, or lie: it must not make clients connect to a server of its choice. */
TEST(one_master_alone_leads_nobody_elsewhere)
{
    begin("abc");
    show_all("abc", keep(1, 1, "a1 b1 c1"));
    judge();
    show(0, 'a', keep(2, 2, "a1 b1 c1 x2"));
    must_add(0);
    show(1, 'b', m.shown[0].record);
    must_add('x');
}

/* The record was read at a with the new mark, and we do not know that mark yet. */
TEST(no_server_gets_a_second_node)
{
    begin("a");
    show(0, 'a', keep(6, 6, "a1:6! b3 A6@a"));
    must_add('b');
}

/* Otherwise it would have the masters on record after all, as soon as a loses its data. */
TEST(a_list_that_does_not_fit_gets_no_guests)
{
    begin("a");
    show(0, 'a', keep(1, 1, "a1 b1"));
    must_misfit(RLK_MISFIT_NUMBER);
    show(0, 'a', keep(2, 2, "a1:2! b1 A2@a"));
    must_add(0);
}

/* Two masters, and one is removed that a client never had: it has to show the record, and it votes
 * until the change is over. */
TEST(a_master_that_is_leaving_is_a_guest)
{
    const struct rlk_record *after;

    begin("a");
    after = keep(5, 5, "a1 b3:5");
    show(0, 'a', after);
    must_add('b');
    add_guest('b');
    show(1, 'b', after);
    votes_must_be("++");
    voters_must_be("ab", 2);
    nothing_is_extended_by("");
    must_add(0);
    now_us += WAIT_US;
    voters_must_be("a", 1);
    must_vacate(1);
}

/* b shows a later record, without b: who left it would go by that of a again, and need b. */
TEST(a_guest_is_not_left_before_the_record_is_agreed_on)
{
    const struct rlk_record *last;

    begin("a");
    show(0, 'a', keep(6, 6, "a1 b3:6"));
    must_add('b');
    add_guest('b');
    last = keep(7, 7, "a1 b3:6");
    show(1, 'b', last);
    must_vacate(-1);
    task_must_be(RLK_RECORD_AGAIN);
    show(0, 'a', last);
    must_vacate(1);
}

/* The masters said since when they have had the record; who leaves one, or sees the next record on
 * one, must not begin to wait again: the locks that are held would have to have both votes. */
TEST(a_change_that_is_over_stays_over)
{
    begin("ab");
    show_all("ab", keep(2, 2, "a1 b1:2"));
    m.shown[0].since_us = m.shown[1].since_us = now_us - WAIT_US;
    voters_must_be("a", 1);
    must_vacate(1);
    rlk_membership_vacate(&m, 1);
    voters_must_be("a", 1);
    show(0, 'a', keep(3, 3, "a1 b1:2"));
    voters_must_be("a", 1);
}

/* c is down, and has new data at its address: its node may be that master, so that the one of e,
 * which f replaced, must not move there. */
TEST(no_node_moves_to_a_master_that_another_one_may_be)
{
    begin("abdec");
    show_all("abdec", keep(1, 1, "a1 b1 d1 e1 c1"));
    judge();
    lose_connection(4);
    show_all("abde", keep(3, 4, "a1 b1 d1 e1:4 c1:2! C2@c f4"));
    must_move(3, 'f');
    rlk_membership_clear(&m, 3);
    m.shown[3].address = records_address('f');
    must_move(-1, 0);
    must_add(0);
}

/* a and b are the first ones to be connected, and have the data from before d was removed. */
TEST(a_list_may_be_too_short_for_a_record_until_all_were_tried)
{
    begin("abc");
    show_all("ab", keep(1, 1, "a1 b1 c1 d1"));
    must_fit();
    show(2, 'c', keep(2, 3, "a1 b1 c1 d1:2"));
    show(1, 'b', m.shown[2].record);
    must_fit();
    begin("abc");
    show_all("ab", keep(1, 1, "a1 b1 c1 d1"));
    lose_connection(2);
    must_misfit(RLK_MISFIT_NUMBER);
}

/* b dies. What was acquired by a and b goes on with both, and not with a majority of the four. */
TEST(a_list_that_was_found_too_short_stays_so)
{
    begin("ab");
    show_all("ab", keep(1, 1, "a1 b1 c1 d1"));
    must_misfit(RLK_MISFIT_NUMBER);
    lose_connection(1);
    must_misfit(RLK_MISFIT_NUMBER);
    ck_assert_uint_eq(v.voters.size, 2);
    show(0, 'a', keep(2, 3, "a1 b1 c1:2 d1:2"));
    must_fit();
}

/* a missed that d was removed, and of a majority of the list at least one has not. A master that
 * shows nothing may vote, so it counts. */
TEST(a_list_may_be_too_short_for_what_a_minority_shows)
{
    begin("abc");
    show(0, 'a', keep(1, 1, "a1 b1 c1 d1"));
    lose_connection(1);
    lose_connection(2);
    must_fit();
    show(1, 'b', keep(2, 3, "a1 b1 c1 d1:2"));
    must_fit();
    begin("abc");
    show(0, 'a', keep(1, 1, "a1 b1 c1 d1"));
    lose_connection(1);
    lose_connection(2);
    m.shown[1].connected = true;
    must_misfit(RLK_MISFIT_NUMBER);
}

/* Only one that joined later may be missing from a list. */
static const struct {
    const char *claim, *addresses, *entries;
    uint32_t epoch;
    enum rlk_misfit misfit;
} lists[] = {
    {"it_lacks_one_of_the_first", "ab", "a1 b1 c1", 1, RLK_MISFIT_NUMBER},
    {"it_lacks_one_that_joined", "ab", "a1 b1 c2", 3, RLK_MISFIT_NOT},
    {"it_lacks_two_that_joined", "ab", "a1 b1 c2 d4", 5, RLK_MISFIT_NOT},
    {"it_lacks_one_of_the_first_and_one_that_joined", "ab", "a1 b1 c1 d2", 3, RLK_MISFIT_NUMBER},
    {"it_lacks_one_of_the_first_that_lost_its_data", "ab", "a1 b1 c1:3! C3@c", 4,
     RLK_MISFIT_NUMBER},
    {"it_lacks_one_that_joined_and_lost_its_data", "ab", "a1 b1 c2:3! C3@c", 4, RLK_MISFIT_NOT},
    {"it_lacks_one_that_lost_its_data_was_removed_and_joined", "ab", "a1 b1 c1:2! C2:3@c d5@c", 5,
     RLK_MISFIT_NOT},
    {"it_has_one_that_was_removed", "abc", "a1 b1 c1:2", 3, RLK_MISFIT_NOT},
    {"it_has_one_that_was_removed_and_lacks_one", "abc", "a1 b1 c1:2 d4", 5, RLK_MISFIT_NOT},
    {"it_has_one_that_was_replaced_and_lacks_one", "abc", "a1 b1 c1:2 d2 e4", 5, RLK_MISFIT_NOT},
    {"it_has_one_that_never_was_a_master", "abx", "a1 b1", 1, RLK_MISFIT_MASTER},
};

TEST_ROWS(which_lists_fit, lists)
{
    begin(lists[_i].addresses);
    show_all(lists[_i].addresses, keep(2, lists[_i].epoch, lists[_i].entries));
    judge();
    ck_assert_int_eq(v.misfit, lists[_i].misfit);
}

/* It has left, and may have missed what happened since. */
TEST(the_record_of_a_former_master_is_not_compared)
{
    begin("abd");
    show(0, 'a', keep(3, 3, "a1:2 b1 c1 d2"));
    lose_connection(1);
    lose_connection(2);
    must_fit();
    votes_must_be("-++");
    show(1, 'b', m.shown[0].record);
    must_misfit(RLK_MISFIT_NUMBER);
}

/* Where it is a master that is down, its name says so; else nobody knows which it is. */
TEST(a_list_with_one_too_many_does_not_fit_even_if_that_is_down)
{
    begin("abx");
    show_all("ab", keep(1, 1, "a1 b1"));
    lose_connection(2);
    must_misfit(RLK_MISFIT_NUMBER);
    begin("abx");
    show_all("ab", keep(1, 1, "a1 b1 c1"));
    lose_connection(2);
    must_add(0);
    begin("abx");
    show_all("ab", keep(1, 3, "a1 b1 c1 d2"));
    lose_connection(2);
    must_add('d');
}

/* c was down when it left, and our list has it by the name x. When c shows what it is, it is left;
 * until then it gets no second node, by the name on record. */
TEST(one_that_was_never_reached_may_be_a_master_that_left)
{
    begin("abx");
    show_all("ab", keep(1, 2, "a1 b1 c1:2"));
    lose_connection(2);
    must_add(0);
    show(2, 'c', NULL);
    must_add(0);
    show_all("abc", keep(2, 3, "a1 b1 c1:2"));
    must_fit();
    ck_assert_int_eq(v.vacates, 2);
    show(2, 'x', NULL);
    must_misfit(RLK_MISFIT_MASTER);
}

/* By the names of the list: d left, and b and d are connected last. */
TEST(a_former_list_with_other_names_fits_while_it_is_connected)
{
    const struct rlk_record *r;

    begin("wxyz");
    r = keep(1, 3, "a1 b1 c1 d1:2");
    show(0, 'a', r);
    show(2, 'c', r);
    must_fit();
    ck_assert_ptr_eq(v.record, r);
    show(1, 'b', r);
    show(3, 'd', r);
    must_fit();
    ck_assert_int_eq(v.vacates, 3);
    begin("vwxyz");
    show(0, 'a', r);
    show(2, 'c', r);
    must_misfit(RLK_MISFIT_NUMBER);
}

/* One more, one less, and how many have to agree: majorities of the old and of the new. */
TEST(to_add_a_master_old_and_new_ones_agree)
{
    begin_resize("abcd", -1);
    show_all("abc", keep(1, 1, "a1 b1 c1"));
    stage_must_be(RLK_MOVE_UNKNOWN, 0);
    show(3, 'd', NULL);
    stage_must_be(RLK_MOVE_WRITES, 0);
    task_must_be(RLK_RECORD_CHANGED);
    ck_assert(may_write("abc"));
    ck_assert(may_write("abd"));
    ck_assert(!may_write("ab"));
    ck_assert(!may_write("ad"));
    writes(9, 2, "a1 b1 c1 d2");
}

TEST(one_more_than_four_does_not_make_up_for_two_of_the_four)
{
    begin_resize("abcde", -1);
    show_all("abcd", keep(1, 1, "a1 b1 c1 d1"));
    show(4, 'e', NULL);
    ck_assert(may_write("abc"));
    ck_assert(!may_write("abe"));
}

TEST(to_remove_a_master_old_and_new_ones_agree)
{
    begin_resize("abcd", 3);
    show_all("abcd", keep(1, 1, "a1 b1 c1 d1"));
    stage_must_be(RLK_MOVE_WRITES, 0);
    task_must_be(RLK_RECORD_CHANGED);
    ck_assert(may_write("abc"));
    ck_assert(may_write("abd"));
    ck_assert(!may_write("ab"));
    ck_assert(!may_write("ad"));
    writes(9, 2, "a1 b1 c1 d1:2");
}

TEST(a_master_that_is_down_can_be_removed)
{
    begin_resize("abcde", 3);
    show_all("abc", keep(1, 1, "a1 b1 c1 d1 e1"));
    show(4, 'e', m.shown[0].record);
    lose_connection(3);
    task_must_be(RLK_RECORD_CHANGED);
    writes(9, 2, "a1 b1 c1 d1:2 e1");
}

/* It is not known under this name, and may be any of them. */
TEST(what_is_to_leave_must_be_known)
{
    begin_resize("abx", 2);
    show_all("ab", keep(1, 1, "a1 b1 c1"));
    lose_connection(2);
    task_must_be(RLK_RECORD_NOTHING);
    stage_must_be(RLK_MOVE_UNKNOWN, 0);
}

TEST(the_last_master_stays)
{
    begin_resize("a", 0);
    show_all("a", keep(1, 1, "a1"));
    task_must_be(RLK_RECORD_NOTHING);
}

TEST(a_removal_is_over_when_it_is_written_once_more)
{
    begin_resize("abcd", 3);
    show_all("abcd", keep(2, 2, "a1 b1 c1 d1:2"));
    stage_must_be(RLK_MOVE_SETTLES, now_us + WAIT_US);
    now_us += WAIT_US;
    stage_must_be(RLK_MOVE_SETTLES, 0);
    task_must_be(RLK_RECORD_SETTLED);
    show_all("abc", keep(3, 3, "a1 b1 c1 d1:2"));
    stage_must_be(RLK_MOVE_DONE, 0);
    must_vacate(-1); /* this client is about to end */
}

/* The same wait as where a master is replaced: without it two changes could follow each other while
 * a client still goes by the first list. */
TEST(a_removal_waits_for_the_one_before_it)
{
    begin_resize("abcd", 2);
    show_all("abcd", keep(2, 2, "a1 b1 c1 d1 e1:2"));
    stage_must_be(RLK_MOVE_WAITS, now_us + WAIT_US);
    task_must_be(RLK_RECORD_NOTHING);
    now_us += WAIT_US;
    task_must_be(RLK_RECORD_SETTLED);
}

/* c loses its data while d joins: both are newcomers of one change, and a and b go on. */
TEST(a_loss_while_a_master_joins_becomes_part_of_it)
{
    begin("abcd");
    show_all("ab", keep(2, 2, "a1 b1 c1 d2"));
    show(3, 'd', m.shown[0].record);
    show(2, 'C', NULL);
    task_must_be(RLK_RECORD_REPLACED);
    writes(9, 3, "a1 b1 c1:3! d3 C3@c");
    ck_assert(!may_write("bd")); /* d is not c */
    ck_assert(may_write("bcd"));
    show_all("abCd", keep(9, 3, "a1 b1 c1:3! d3 C3@c"));
    voters_must_be("ab", 3);
    votes_must_be("++ww");
    now_us += WAIT_US;
    voters_must_be("abcd", 4);
}

/* Then no majority of the old ones is left, and the quarantine keeps locks apart. */
TEST(when_most_old_masters_lost_their_data_the_new_number_counts)
{
    begin("abcd");
    show_all("ABcd", keep(9, 3, "a1:3! b1:3! c1 d3 A3@a B3@b"));
    voters_must_be("abcd", 4);
    votes_must_be("++++");
}

/* [M3] Who has other masters acquires nothing; but a lock that is held is not lost by that. */
TEST(the_voters_stay_when_the_masters_do_not_fit)
{
    begin("abc");
    show_all("abc", keep(2, 3, "a1 b1 c1 d2"));
    voters_must_be("abc", 4);
    show(0, 'a', keep(5, 4, "a1 b1 c1 d2"));
    kept[n_kept - 1].max_ttl_ms++;
    must_misfit(RLK_MISFIT_MAX_TTL);
    ck_assert_uint_eq(v.voters.size, 4);
}

/* ---- what only a broken server shows ---- */

TEST(there_is_no_epoch_after_the_last)
{
    begin_resize("abcd", -1);
    show_all("abc", keep(1, UINT32_MAX, "a1 b1 c1"));
    show(3, 'd', NULL);
    now_us += WAIT_US;
    task_must_be(RLK_RECORD_NOTHING);
}

TEST(there_is_no_ballot_after_the_last)
{
    begin_with_three();
    show(2, 'C', NULL);
    task_must_be(RLK_RECORD_REPLACED);
    ck_assert(may_write("abc"));
    m.shown[1].promised.number = RLK_BALLOT_MOST;
    ck_assert(!may_write("abc"));
}
