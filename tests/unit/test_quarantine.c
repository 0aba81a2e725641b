/* test_quarantine.c - whether a server's votes count, and when they count again [S11].
 *
 * The first half are schedules in which two clients would hold one lock if a vote counted too
 * early. In them "the lock" is one that another client took just before, with a vote of this
 * server, and that lives for the longest ttl. */
#include <inttypes.h>
#include <string.h>

#include "base/time.h"
#include "core/quarantine.h"
#include "lib/story.h"
#include "lib/test.h"

SUITE("quarantine");

#define S UINT64_C(1000000)
#define TTL (10 * S)
#define QUARANTINE_US (TTL + 100000 + 2000) /* with 1 % and 2 ms */
#define NOW (1000 * S)
#define OLD (86400 * S)
#define SERVER_US UINT64_C(1700000000000000)

#define STRICT RLK_QUARANTINE_STRICT
#define LENIENT RLK_QUARANTINE_LENIENT
#define OFF RLK_QUARANTINE_OFF
#define EITHER (-1) /* the story is played with STRICT and with LENIENT */

#define YOUNG RLK_QUARANTINED_YOUNG
#define RESTARTED RLK_QUARANTINED_RESTARTED
#define ANONYMOUS RLK_QUARANTINED_ANONYMOUS
#define LOST_DATA RLK_QUARANTINED_LOST_DATA
#define CLOCK RLK_QUARANTINED_CLOCK
#define EVICTS RLK_QUARANTINED_EVICTS
#define UNREAD RLK_QUARANTINED_UNREAD

/* A master that has been up for a day. */
static struct rlk_facts a_master(void)
{
    return (struct rlk_facts){.run = "run-a", .birth.mark = 77, .age_us = OLD};
}

static struct rlk_quarantine one_known(enum rlk_quarantine_policy policy)
{
    struct rlk_facts facts = a_master();
    struct rlk_quarantine s;

    rlk_quarantine_init(&s, policy, TTL, 10000);
    rlk_quarantine_take_handshake(&s, &facts, NOW);
    return s;
}

/* ---- the steps of a story ---- */

struct world {
    struct rlk_quarantine s;
    bool lenient; /* what EITHER means */
    unsigned step;
};

struct step {
    void (*take)(struct world *w, const struct step *s);
    uint64_t at_us;
    struct rlk_facts facts;
    uint64_t us, number; /* a time or an age; a mark or a promotion */
    bool yes;            /* what must be returned, or an argument */
    enum rlk_quarantine_reason why;
    int policy;
};

struct story {
    const char *claim;
    struct step steps[20];
};

static void expect_returned(const struct world *w, const struct step *s, bool got)
{
    ck_assert_msg(got == s->yes, "step %u: %s is returned", w->step, got ? "true" : "false");
}

static void begin(struct world *w, const struct step *s)
{
    enum rlk_quarantine_policy either = w->lenient ? LENIENT : STRICT;

    rlk_quarantine_init(&w->s, s->policy == EITHER ? either : (enum rlk_quarantine_policy)s->policy,
                        TTL, 10000);
}

static void greet(struct world *w, const struct step *s)
{
    expect_returned(w, s, rlk_quarantine_take_handshake(&w->s, &s->facts, s->at_us));
}

static void meet(struct world *w, const struct step *s)
{
    begin(w, s);
    greet(w, s);
}

static void check_mark(struct world *w, const struct step *s)
{
    expect_returned(w, s, rlk_quarantine_check_mark(&w->s, s->number, s->at_us));
}

static void leave_unread(struct world *w, const struct step *s)
{
    rlk_quarantine_set_unread(&w->s, s->yes, s->at_us);
}

static void find_master(struct world *w, const struct step *s)
{
    expect_returned(w, s, rlk_quarantine_check_role(&w->s, true, s->number, s->at_us));
}

static void find_replica(struct world *w, const struct step *s)
{
    expect_returned(w, s, rlk_quarantine_check_role(&w->s, false, 0, s->at_us));
}

static void evict(struct world *w, const struct step *s)
{
    rlk_quarantine_set_evicts(&w->s, s->yes, s->at_us);
}

static void read_birth(struct world *w, const struct step *s)
{
    rlk_quarantine_check_birth(&w->s, &s->facts.birth, s->at_us);
}

/* From a second after the server was met. */
static void read_birth_each_second(struct world *w, const struct step *s)
{
    struct rlk_birth birth = {.mark = 77, .born_us = SERVER_US - OLD, .server_us = SERVER_US};
    uint64_t now_us;

    for (now_us = NOW + S; now_us <= s->at_us; now_us += S) {
        rlk_quarantine_check_birth(&w->s, &birth, now_us);
    }
}

static void move_clock(struct world *w, const struct step *s)
{
    rlk_quarantine_clock_moved(&w->s, s->us, s->at_us);
}

static void keep_time(struct world *w, const struct step *s)
{
    rlk_quarantine_clock_steady(&w->s, s->at_us);
}

static void excuse_clock(struct world *w, const struct step *s)
{
    (void)s;
    rlk_quarantine_clock_excused(&w->s);
}

static void expect_reason(const struct world *w, uint64_t now_us, enum rlk_quarantine_reason why,
                          uint64_t until_us)
{
    uint64_t until = 1;
    enum rlk_quarantine_reason got = rlk_quarantine_reason(&w->s, now_us, &until);

    ck_assert_msg(got == why && until == until_us,
                  "step %u: reason %d until %" PRIu64 ", not %d until %" PRIu64, w->step, got,
                  until, why, until_us);
    ck_assert_int_eq(rlk_quarantine_reason(&w->s, now_us, NULL), why);
    ck_assert_int_eq(rlk_quarantine_is_over(&w->s, now_us), why == RLK_QUARANTINED_NOT);
}

/* In quarantine for this reason until just before this time, and not at it. */
static void expect_until(struct world *w, const struct step *s)
{
    expect_reason(w, s->at_us - 1, s->why, s->at_us);
    expect_reason(w, s->at_us, RLK_QUARANTINED_NOT, 0);
}

static void expect_no_end(struct world *w, const struct step *s)
{
    expect_reason(w, s->at_us, s->why, RLK_NEVER);
}

static void expect_clock_suspect(struct world *w, const struct step *s)
{
    ck_assert_msg(rlk_quarantine_is_clock_suspect(&w->s, s->at_us) == s->yes,
                  "step %u: it is%s clock_suspect", w->step, s->yes ? " not" : "");
}

static void expect_counted(struct world *w, const struct step *s)
{
    expect_reason(w, s->at_us, RLK_QUARANTINED_NOT, 0);
    expect_clock_suspect(w, s);
}

static void expect_to_record(struct world *w, const struct step *s)
{
    uint64_t step_us = rlk_quarantine_step_to_record(&w->s, s->at_us);

    ck_assert_msg(step_us == s->us, "step %u: %" PRIu64 " is to be recorded", w->step, step_us);
}

static void expect_data_replaced(struct world *w, const struct step *s)
{
    expect_returned(w, s, rlk_quarantine_take_data_replaced(&w->s));
}

static void expect_known(struct world *w, const struct step *s)
{
    bool known = w->s.met && strncmp(w->s.run, s->facts.run, RLK_RUN_MAX) == 0;

    expect_returned(w, s, known);
}

/* All times are counted from NOW. A server says the same as a_master(), apart from the fields that
 * are given. */
#pragma GCC diagnostic ignored "-Woverride-init"
#define AT(time, ...) STEP(.at_us = NOW + (time), __VA_ARGS__)
#define SAYS(...) .facts = {.run = "run-a", .birth = {.mark = 77}, .age_us = OLD, __VA_ARGS__}
#define TELLS_NOTHING .run = "", .birth = {.mark = 0}, .age_us = RLK_NEVER
#define BORN_AGO(time)                                                                             \
    {                                                                                              \
        .mark = 77, .born_us = SERVER_US - (time), .server_us = SERVER_US                          \
    }

#define NEW(p) STEP(.take = begin, .policy = (p))
#define MET(p) AT(0, .take = meet, .policy = (p), SAYS(.durable = false))
#define GREET(time, ...) AT(time, .take = greet, SAYS(__VA_ARGS__))
#define AGAIN(time) GREET(time, .durable = false)
#define RESTART(time, ...) AT(time, .take = greet, SAYS(__VA_ARGS__), .yes = true)
#define MARK_IS(time, mark) AT(time, .take = check_mark, .number = (mark))
#define MARK_IS_NEW(time, mark) AT(time, .take = check_mark, .number = (mark), .yes = true)
#define CANNOT_READ STEP(.take = leave_unread, .yes = true) /* the mark, for the moment */
#define MAY_NOT_READ STEP(.take = leave_unread)             /* the mark, ever */
#define MASTER(time, promotion) AT(time, .take = find_master, .number = (promotion))
#define PROMOTED(time, promotion) AT(time, .take = find_master, .number = (promotion), .yes = true)
#define REPLICA(time) AT(time, .take = find_replica, .yes = true)
#define EVICT(time, does) AT(time, .take = evict, .yes = (does))
#define BORN(time, ago) AT(time, .take = read_birth, .facts.birth = BORN_AGO(ago))
#define BORN_OF(time, m) AT(time, .take = read_birth, .facts.birth = {m, SERVER_US, SERVER_US})
#define BORN_EACH_SECOND(time) AT(time, .take = read_birth_each_second)
#define CLOCK_MOVED(time, shows) AT(time, .take = move_clock, .us = (shows))
#define KEPT_TIME(time) AT(time, .take = keep_time)
#define EXCUSED STEP(.take = excuse_clock)

#define QUARANTINED(reason, since)                                                                 \
    AT((since) + QUARANTINE_US, .take = expect_until, .why = (reason))
#define QUARANTINED_UNTIL(reason, time) AT(time, .take = expect_until, .why = (reason))
#define NO_END(reason, time) AT(time, .take = expect_no_end, .why = (reason))
#define COUNTED(time) AT(time, .take = expect_counted)
#define CLOCK_SUSPECT(time) AT(time, .take = expect_clock_suspect, .yes = true)
#define CLOCK_TRUSTED(time) AT(time, .take = expect_clock_suspect)
#define TO_RECORD(time, step) AT(time, .take = expect_to_record, .us = (step))
#define DATA_REPLACED STEP(.take = expect_data_replaced, .yes = true)
#define DATA_KEPT STEP(.take = expect_data_replaced)
#define KNOWN(name) STEP(.take = expect_known, .facts.run = (name), .yes = true)
#define UNKNOWN(name) STEP(.take = expect_known, .facts.run = (name))

static void play(const struct story *story, bool lenient)
{
    struct world w = {.lenient = lenient};

    STORY_PLAY(&w, story->steps);
}

/* ---- schedules that would break exclusion ---- */

static const struct story schedules[] = {
    /* The server granted the lock, restarted at once and forgot the lock; then we meet it for the
     * first time. Nothing but its age can show that. It may have been up for a second less than it
     * says. */
    {"a_young_server_that_we_never_met_is_quarantined_until_it_is_old_enough",
     {NEW(STRICT), GREET(0, .age_us = 3 * S), QUARANTINED_UNTIL(YOUNG, QUARANTINE_US - 3 * S + S),
      NEW(STRICT), GREET(0, .age_us = QUARANTINE_US + S - 1), QUARANTINED_UNTIL(YOUNG, 1),
      NEW(STRICT), GREET(0, .age_us = QUARANTINE_US), QUARANTINED_UNTIL(YOUNG, S), NEW(STRICT),
      GREET(0, .age_us = QUARANTINE_US + S), COUNTED(0)}},

    /* The server restarts while we are not connected. We see that late, and cannot know how late,
     * so the quarantine begins when we see it. */
    {"a_quarantine_begins_when_the_restart_is_seen",
     {MET(STRICT),
      RESTART(60 * S, .run = "run-b", .birth = {.mark = 78}, .age_us = QUARANTINE_US - 5 * S),
      QUARANTINED(RESTARTED, 60 * S)}},

    /* While the server is in quarantine it votes for a client that does not know of the first
     * restart, and restarts again. So the second restart begins a whole quarantine, too. */
    {"a_second_restart_begins_another_quarantine",
     {MET(STRICT), RESTART(S, .run = "run-b"), QUARANTINED(RESTARTED, S),
      RESTART(9 * S, .run = "run-c"), QUARANTINED(RESTARTED, 9 * S),
      RESTART(10 * S, .run = "run-b"), QUARANTINED(RESTARTED, 10 * S)}},

    /* The server starts with its clock an hour slow and grants the lock; then its clock is set, and
     * its uptime is an hour. The quarantine of a client that saw the restart goes on; and a client
     * that met the server young, and greets it again, keeps to the first age. */
    {"a_false_uptime_ends_no_quarantine",
     {MET(STRICT), RESTART(S, .run = "run-b", .age_us = 2 * S),
      GREET(3 * S, .run = "run-b", .age_us = 3603 * S), QUARANTINED(RESTARTED, S), NEW(STRICT),
      GREET(0, .age_us = 2 * S), GREET(S, .age_us = 3603 * S),
      QUARANTINED_UNTIL(YOUNG, QUARANTINE_US - 2 * S + S)}},

    /* INFO is rejected for a while after the restart (an ACL that is loaded late). A run that can
     * no longer be read may be another run, and so may the next one that is read. At 2 s the server
     * may have restarted once more. */
    {"a_run_that_cannot_be_read_hides_no_restart",
     {MET(LENIENT), RESTART(S, TELLS_NOTHING), QUARANTINED(RESTARTED, S),
      RESTART(2 * S, TELLS_NOTHING), QUARANTINED(RESTARTED, 2 * S), RESTART(3 * S, .run = "run-b"),
      QUARANTINED(RESTARTED, 3 * S)}},

    /* INFO is denied. The server grants a lock, restarts empty and grants it again, and says the
     * same of itself each time. The first run that is read is another one than that of the vote. */
    {"a_server_that_never_tells_its_run_has_no_vote",
     {NEW(STRICT), GREET(0, TELLS_NOTHING), NO_END(ANONYMOUS, 1000 * QUARANTINE_US),
      GREET(S, TELLS_NOTHING), NO_END(ANONYMOUS, 1000 * QUARANTINE_US),
      RESTART(2 * S, .run = "run-b"), QUARANTINED(RESTARTED, 2 * S), RESTART(3 * S, TELLS_NOTHING),
      NO_END(ANONYMOUS, 1000 * QUARANTINE_US), NEW(LENIENT), GREET(0, TELLS_NOTHING), COUNTED(0)}},

    /* The same, but the mark is read: another mark is as good as another run. */
    {"a_run_that_cannot_be_read_hides_no_other_mark",
     {MET(LENIENT), RESTART(S, TELLS_NOTHING, .birth = {.mark = 78}), QUARANTINED(RESTARTED, S),
      MARK_IS_NEW(2 * S, 79), QUARANTINED(LOST_DATA, 2 * S)}},

    /* The run cannot be read at first, the server restarts, and then it can be read. Nothing shows
     * the restart, and the age is by a clock that may have been set. From there on the run is
     * known. */
    {"the_first_run_that_can_be_read_is_another_one",
     {NEW(LENIENT), GREET(0, TELLS_NOTHING), COUNTED(0), GREET(0, TELLS_NOTHING), COUNTED(0),
      RESTART(S, .birth = {.mark = 0}), QUARANTINED(RESTARTED, S),
      GREET(3 * S, .birth = {.mark = 0}), QUARANTINED(RESTARTED, S)}},

    /* The server is out of memory when it is greeted, and cannot write its mark. Later it has
     * memory again, FLUSHALL deletes the lock, and the first mark is read. */
    {"the_first_mark_that_can_be_read_is_another_one",
     {NEW(EITHER), GREET(0, .birth = {.mark = 0}, .unread = true),
      NO_END(UNREAD, 1000 * QUARANTINE_US), MARK_IS_NEW(S, 78), QUARANTINED(LOST_DATA, S),
      MARK_IS(2 * S, 78), QUARANTINED(LOST_DATA, S)}},

    /* A client that read the mark before compares the next one with it. At the end the mark can
     * never be read again, so the server votes without it. */
    {"a_mark_that_could_not_be_read_for_a_while_is_compared",
     {MET(STRICT), CANNOT_READ, NO_END(UNREAD, S), MARK_IS(2 * S, 77), COUNTED(2 * S), CANNOT_READ,
      MARK_IS_NEW(3 * S, 78), QUARANTINED(LOST_DATA, 3 * S), CANNOT_READ, MAY_NOT_READ,
      QUARANTINED(LOST_DATA, 3 * S)}},

    /* REPLICAOF deletes the lock and copies the data of another master; a replica that is writable
     * goes on granting. The quarantine lasts until it is greeted as a master, and for the longest
     * ttl after that. No mark can be read, so nothing else shows it. */
    {"a_replica_is_quarantined_until_long_after_it_is_a_master_again",
     {MET(EITHER), MASTER(0, 0), COUNTED(0), REPLICA(S), QUARANTINED(LOST_DATA, S),
      GREET(50 * S, .promotion = 9, .birth = {.mark = 0}), QUARANTINED(LOST_DATA, 50 * S),
      GREET(51 * S, .promotion = 9, .birth = {.mark = 0}), QUARANTINED(LOST_DATA, 50 * S),
      MASTER(52 * S, 9), QUARANTINED(LOST_DATA, 50 * S)}},

    {"a_replica_that_shows_no_promotion_is_quarantined_likewise",
     {MET(EITHER), REPLICA(S), GREET(50 * S, .birth = {.mark = 0}), QUARANTINED(LOST_DATA, 50 * S),
      GREET(51 * S, .birth = {.mark = 0}), QUARANTINED(LOST_DATA, 50 * S), MASTER(52 * S, 0),
      QUARANTINED(LOST_DATA, 50 * S)}},

    /* The server was a replica for a while, and a master again before the next inspection or the
     * next connection; then once more. Or that was long before we met it. */
    {"a_promotion_that_nobody_saw_begins_a_quarantine",
     {MET(LENIENT), PROMOTED(S, 9), QUARANTINED(LOST_DATA, S), MET(LENIENT),
      GREET(2 * S, .promotion = 9), QUARANTINED(LOST_DATA, 2 * S), MASTER(3 * S, 9),
      PROMOTED(4 * S, 10), QUARANTINED(LOST_DATA, 4 * S), NEW(LENIENT), GREET(0, .promotion = 9),
      COUNTED(0)}},

    {"an_inspection_finds_other_data",
     {MET(STRICT), MARK_IS(S, 77), DATA_KEPT, MARK_IS_NEW(2 * S, 78), DATA_REPLACED,
      MARK_IS(3 * S, 0), DATA_REPLACED, MARK_IS(4 * S, 0), DATA_REPLACED, MARK_IS_NEW(5 * S, 78),
      DATA_REPLACED}},

    /* FLUSHALL deletes the lock, and the next vote finds no mark. */
    {"a_missing_mark_begins_a_quarantine",
     {MET(LENIENT), MARK_IS(S, 77), COUNTED(S), MARK_IS(2 * S, 0),
      NO_END(LOST_DATA, 1000 * QUARANTINE_US)}},

    /* FLUSHALL deletes the lock, and another client writes a new mark before our next inspection.
     * Then the first mark is back, as after a copy was restored. */
    {"a_new_mark_by_another_client_begins_a_quarantine",
     {MET(STRICT), MARK_IS_NEW(2 * S, 78), QUARANTINED(LOST_DATA, 2 * S), MARK_IS(3 * S, 78),
      QUARANTINED(LOST_DATA, 2 * S), MARK_IS_NEW(4 * S, 77), QUARANTINED(LOST_DATA, 4 * S)}},

    /* FLUSHALL; a vote finds no mark. A new client takes the lock, FLUSHALL again: without a mark
     * nothing shows that. So the quarantine has no end before a mark is found, and begins then. A
     * greeting may find the new mark as well; a greeting that cannot read it changes nothing. */
    {"without_a_mark_data_can_be_lost_again",
     {MET(STRICT), MARK_IS(S, 0), NO_END(LOST_DATA, 8 * S), MARK_IS(9 * S, 0),
      NO_END(LOST_DATA, 9 * S), MARK_IS_NEW(10 * S, 79), QUARANTINED(LOST_DATA, 10 * S),
      MARK_IS(11 * S, 79), QUARANTINED(LOST_DATA, 10 * S), MARK_IS(20 * S, 0),
      GREET(21 * S, .birth = {.mark = 0}, .unread = true), NO_END(LOST_DATA, 21 * S),
      GREET(22 * S, .birth = {.mark = 80}), QUARANTINED(LOST_DATA, 22 * S)}},

    /* A look that is refused does not hide that the mark was missing; nor does a vote that finds
     * none make up for the look. */
    {"an_unread_mark_and_a_missing_one_both_have_to_be_read",
     {MET(STRICT), CANNOT_READ, MARK_IS(S, 0), CANNOT_READ, NO_END(LOST_DATA, S),
      MARK_IS_NEW(2 * S, 78), QUARANTINED(LOST_DATA, 2 * S), NEW(STRICT),
      GREET(0, .birth = {.mark = 0}, .unread = true), MARK_IS(S, 0), NO_END(UNREAD, S)}},

    /* From the moment on when that is certain the quarantine lasts as any other. */
    {"a_missing_mark_that_can_never_be_read_is_forgotten_after_the_longest_ttl",
     {MET(STRICT), MARK_IS(S, 0), CANNOT_READ, AT(3 * S, .take = leave_unread),
      QUARANTINED(LOST_DATA, 3 * S), MARK_IS(4 * S, 0), GREET(5 * S, .birth = {.mark = 0}),
      QUARANTINED(LOST_DATA, 5 * S)}},

    /* The restart is seen, then comes a FLUSHALL, and then only the mark is read. The quarantine
     * for the restart is too short for what was forgotten after the restart. */
    {"a_mark_that_could_not_be_read_at_a_restart_is_still_compared",
     {MET(STRICT), RESTART(S, .run = "run-b", .birth = {.mark = 0}), MARK_IS_NEW(5 * S, 78),
      QUARANTINED(LOST_DATA, 5 * S)}},

    /* Every write is on disk before the reply, and the mark is the same: nothing was lost, and the
     * clock is the same one. The new run is remembered all the same. */
    {"a_durable_server_that_kept_its_mark_restarts_freely",
     {NEW(STRICT), GREET(0, .durable = true), COUNTED(0), GREET(S, .run = "run-b", .durable = true),
      COUNTED(S), RESTART(2 * S, .run = "run-c"), QUARANTINED(RESTARTED, 2 * S)}},

    /* The log has every write, but the server could not replay all of it: the mark is the same, and
     * locks may be gone. The next run replays all that is left. */
    {"a_durable_server_that_could_not_replay_its_log_is_quarantined",
     {NEW(STRICT), GREET(0, .durable = true),
      RESTART(S, .run = "run-b", .durable = true, .replay_failed = true), QUARANTINED(RESTARTED, S),
      NEW(STRICT), GREET(0, .durable = true, .replay_failed = true),
      GREET(S, .run = "run-b", .durable = true), COUNTED(S)}},

    /* The disk was replaced, or somebody removed the file: the server is durable, and empty. The
     * greeting finds that, or the next inspection does. */
    {"a_durable_server_that_lost_its_mark_is_quarantined",
     {NEW(STRICT), GREET(0, .durable = true),
      GREET(S, .run = "run-b", .durable = true, .birth = {.mark = 78}), QUARANTINED(LOST_DATA, S),
      NEW(STRICT), GREET(0, .durable = true),
      GREET(S, .run = "run-b", .durable = true, .birth = {.mark = 0}, .unread = true),
      MARK_IS(2 * S, 0), NO_END(LOST_DATA, 2 * S)}},

    /* The disk was replaced, and the mark can never be read: durable alone proves nothing. */
    {"a_durable_server_that_shows_no_mark_counts_by_its_run",
     {NEW(STRICT), GREET(0, TELLS_NOTHING, .run = "run-a", .durable = true, .age_us = 3 * S),
      QUARANTINED_UNTIL(YOUNG, QUARANTINE_US - 3 * S + S),
      RESTART(60 * S, TELLS_NOTHING, .run = "run-b", .durable = true, .age_us = 3 * S),
      QUARANTINED(RESTARTED, 60 * S)}},

    /* The operator makes the server durable by a restart. That restart may lose the last second of
     * writes: the lock, and not the mark. */
    {"a_restart_that_makes_a_server_durable_may_lose_data",
     {MET(STRICT), RESTART(S, .run = "run-b", .durable = true), QUARANTINED(RESTARTED, S),
      GREET(2 * S, .run = "run-c", .durable = true), QUARANTINED(RESTARTED, S)}},

    /* The server evicts the lock to make room. Only its own word says that it no longer evicts, so
     * the quarantine has no end by itself. When the server says so, another quarantine follows: a
     * vote may have been counted before it was configured to evict, and evicted before it was
     * configured not to. */
    {"a_server_is_quarantined_until_long_after_it_evicts",
     {MET(STRICT), GREET(S, .evicts = true), NO_END(EVICTS, 1000 * QUARANTINE_US),
      NO_END(EVICTS, RLK_NEVER - NOW), MARK_IS(2 * S, 77), NO_END(EVICTS, 2 * S), AGAIN(3 * S),
      QUARANTINED(EVICTS, 3 * S), AGAIN(4 * S), QUARANTINED(EVICTS, 3 * S)}},

    /* That a server no longer evicts ends no other quarantine. */
    {"a_server_that_stops_evicting_by_a_restart_is_still_quarantined",
     {MET(STRICT), GREET(S, .evicts = true), RESTART(2 * S, .run = "run-b"),
      RESTART(3 * S, .run = "run-c"), QUARANTINED(RESTARTED, 3 * S)}},

    /* Between two greetings, too. */
    {"eviction_between_greetings_is_seen_by_inspections",
     {MET(STRICT), EVICT(0, false), COUNTED(0), EVICT(S, true),
      NO_END(EVICTS, 1000 * QUARANTINE_US), EVICT(2 * S, false), EVICT(3 * S, false),
      QUARANTINED(EVICTS, 2 * S), MET(LENIENT), EVICT(S, true), COUNTED(S)}},

    /* The server's clock is set forward, so the lock expires early. This is the only reason for
     * which its answers about our own key do not count either. */
    {"neither_votes_nor_confirmations_count_after_a_clock_moved",
     {MET(LENIENT), CLOCK_MOVED(S, 0), QUARANTINED(CLOCK, S), CLOCK_SUSPECT(S),
      CLOCK_SUSPECT(S + QUARANTINE_US - 1), CLOCK_TRUSTED(S + QUARANTINE_US), CLOCK_MOVED(5 * S, 0),
      QUARANTINED(CLOCK, 5 * S)}},

    /* The clock is set forward once. The server's votes do not count for as long as the locks that
     * expired early could have lived. Its answers about our own key count again when the clock has
     * kept time for a second. One inspection right after the step is not enough: a clock that runs
     * too fast would pass that as well. */
    {"confirmations_count_again_before_votes_do",
     {MET(LENIENT), CLOCK_MOVED(0, 0), KEPT_TIME(S - 1), CLOCK_SUSPECT(S), CLOCK_MOVED(S, 0),
      KEPT_TIME(2 * S - 1), CLOCK_SUSPECT(2 * S), KEPT_TIME(2 * S), CLOCK_TRUSTED(2 * S),
      QUARANTINED(CLOCK, S), CLOCK_MOVED(3 * S, 0), CLOCK_SUSPECT(3 * S)}},

    /* Every write is on disk, and so is the FLUSHALL: the data are younger than the lock. */
    {"a_durable_server_is_as_old_as_its_data",
     {NEW(STRICT), GREET(0, .durable = true, .age_us = 3 * S),
      QUARANTINED_UNTIL(YOUNG, QUARANTINE_US - 3 * S + S), NEW(STRICT),
      GREET(0, .durable = true, .age_us = QUARANTINE_US + S), COUNTED(0)}},
};

CASE("schedules");

TEST_ROWS(schedule, schedules)
{
    play(&schedules[_i], false);
    play(&schedules[_i], true);
}

/* [S7] Whether a key that the server has now may not have been there all the time. _i: */
TEST_LOOP(data_are_replaced_or_kept, 0, 9)
{
    static const struct {
        bool replica; /* it was found to be a replica */
        const char *run;
        uint64_t promotion, mark;
        bool data_replaced;
    } greetings[] = {
        {false, "run-a", 0, 77, false}, /* the same */
        {false, "run-b", 0, 77, false}, /* it restarted */
        {false, "run-b", 0, 78, true},  /* it restarted empty */
        {false, "run-a", 0, 78, true},  /* it was emptied */
        {false, "run-a", 9, 77, true},  /* it was a replica for a while */
        {false, "run-b", 9, 77, false}, /* its own replica was promoted */
        {false, "run-b", 9, 78, true},  /* the replica of another master was promoted */
        {true, "run-a", 9, 77, true},   {true, "run-b", 9, 78, true},
    };
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    struct rlk_facts facts = a_master();

    ck_assert(!rlk_quarantine_take_data_replaced(&s));
    ck_assert_int_eq(rlk_quarantine_check_role(&s, !greetings[_i].replica, 0, NOW + S),
                     greetings[_i].replica);
    facts.run = greetings[_i].run;
    facts.promotion = greetings[_i].promotion;
    facts.birth.mark = greetings[_i].mark;
    rlk_quarantine_take_handshake(&s, &facts, NOW + 2 * S);
    ck_assert_int_eq(rlk_quarantine_take_data_replaced(&s), greetings[_i].data_replaced);
    ck_assert(!rlk_quarantine_take_data_replaced(&s)); /* once */
}

/* ---- the record of clock steps ---- */

#define RESUMED (QUARANTINE_US + 3600 * S)

static const struct story records[] = {
    /* A step is to be recorded until it is on record, and no longer than it matters. At 2 s the
     * record could not be written. At 3 s the reply that shows the record also shows another
     * step. */
    {"a_step_is_recorded_once",
     {MET(STRICT), TO_RECORD(0, 0), BORN(S, OLD), CLOCK_MOVED(S, SERVER_US),
      TO_RECORD(S, SERVER_US), TO_RECORD(S + QUARANTINE_US - 1, SERVER_US),
      TO_RECORD(S + QUARANTINE_US, 0), BORN(2 * S, OLD), TO_RECORD(2 * S, SERVER_US),
      BORN(3 * S, 0), TO_RECORD(3 * S, 0), QUARANTINED(CLOCK, S), CLOCK_MOVED(3 * S, SERVER_US + S),
      TO_RECORD(4 * S, SERVER_US + S), EXCUSED, TO_RECORD(4 * S, 0)}},

    /* Another client recorded an earlier step, and stopped before it could record this one. Its
     * record is as old as our inspection before, or older. */
    {"the_record_of_an_earlier_step_is_not_enough",
     {MET(STRICT), BORN(S, OLD), BORN(2 * S, S), CLOCK_MOVED(2 * S, SERVER_US), TO_RECORD(2 * S, 0),
      MET(STRICT), BORN(S, OLD), BORN(2 * S, S + 1), CLOCK_MOVED(2 * S, SERVER_US),
      TO_RECORD(2 * S, SERVER_US)}},

    /* The clock is set right before the step is on record. The record says what the clock shows
     * then. It is our own record, and is not written again by each inspection. */
    {"a_record_is_no_later_than_the_clock",
     {MET(STRICT), BORN(S, OLD), CLOCK_MOVED(S, SERVER_US),
      AT(2 * S, .take = read_birth, .facts.birth = {77, SERVER_US - 60 * S, SERVER_US - 60 * S}),
      TO_RECORD(2 * S, 0), QUARANTINED(CLOCK, S), CLOCK_MOVED(3 * S, SERVER_US),
      TO_RECORD(3 * S, SERVER_US)}},

    {"nothing_is_recorded_with_the_quarantine_off",
     {MET(OFF), CLOCK_MOVED(S, SERVER_US), TO_RECORD(S, 0)}},

    /* Another client recorded the step first. If each client recorded it again, new clients would
     * wait for ever. A step of the run before does not matter for the next run. */
    {"a_step_that_another_client_recorded_is_not_recorded_again",
     {MET(STRICT), BORN(S, OLD), BORN(2 * S, 500), CLOCK_MOVED(2 * S, SERVER_US),
      TO_RECORD(2 * S, 0), QUARANTINED(CLOCK, 2 * S), BORN(3 * S, 500),
      CLOCK_MOVED(3 * S, SERVER_US), TO_RECORD(3 * S, SERVER_US),
      RESTART(4 * S, .run = "run-b", .birth = BORN_AGO(0)), TO_RECORD(4 * S, 0)}},

    /* Another client saw a step just before we met the server, and recorded it after our greeting;
     * or the record is older, and we had not inspected the server. A client that has watched the
     * clock for longer than a lock lives has seen every step that matters. */
    {"a_record_matters_to_a_client_that_is_new_to_the_clock",
     {MET(EITHER), BORN(S, OLD), COUNTED(S), BORN(3 * S, 2 * S), QUARANTINED(YOUNG, S),
      BORN(5 * S, 2 * S), QUARANTINED(YOUNG, S), CLOCK_TRUSTED(5 * S), MET(STRICT), BORN(S, OLD),
      BORN(3 * S, 7 * S), QUARANTINED(YOUNG, 3 * S + S - 7 * S), MET(STRICT),
      BORN_EACH_SECOND(QUARANTINE_US), BORN(QUARANTINE_US + S, 0), COUNTED(QUARANTINE_US + S)}},

    /* We were suspended or cut off, so the step is hidden by the drift that is allowed for so long
     * a time. The same holds for a step that is recorded after the first inspection that
     * follows. */
    {"a_record_matters_to_a_client_that_has_not_inspected_for_long",
     {MET(STRICT), BORN_EACH_SECOND(QUARANTINE_US), BORN(RESUMED + S, S / 2),
      QUARANTINED(YOUNG, RESUMED + S + S / 2), MET(STRICT), BORN_EACH_SECOND(QUARANTINE_US),
      BORN(RESUMED, OLD), BORN(RESUMED + S, S / 2), QUARANTINED(YOUNG, RESUMED + S)}},

    /* An older birth than before: the clock was set back. Or the birth of other data, which are in
     * quarantine for another reason; or of data without a mark. */
    {"only_a_later_birth_of_the_same_data_is_a_record",
     {MET(STRICT), BORN(S, 5 * S), BORN(S, 9 * S), BORN(S, 9 * S), BORN_OF(S, 78), BORN_OF(S, 0),
      COUNTED(S)}},

    /* A replica took the place of a durable master, and lacks the lock. Another client saw that,
     * and recorded that the data are that old. The server restarts with these data, and no longer
     * shows the promotion. At first its key may not be readable. */
    {"a_record_of_an_unknown_run_begins_a_quarantine",
     {NEW(STRICT), GREET(0, .durable = true, .birth = BORN_AGO(OLD)),
      GREET(S, .run = "run-c", .durable = true, .birth = BORN_AGO(3 * S)),
      QUARANTINED(YOUNG, S + S - 3 * S), NEW(STRICT),
      GREET(0, .durable = true, .birth = BORN_AGO(OLD)),
      GREET(S, .run = "run-c", .durable = true, .birth = {.mark = 0}, .unread = true),
      GREET(S, .run = "run-c", .durable = true, .birth = BORN_AGO(3 * S)),
      QUARANTINED(YOUNG, S + S - 3 * S)}},

    /* The quarantine for the restart is enough; and that record is not one of the step that is seen
     * then. */
    {"a_record_adds_nothing_to_the_quarantine_of_a_restart",
     {NEW(STRICT), GREET(0, .birth = BORN_AGO(OLD)),
      RESTART(S, .run = "run-c", .birth = BORN_AGO(0)), QUARANTINED(RESTARTED, S),
      CLOCK_MOVED(S, SERVER_US), TO_RECORD(S, SERVER_US)}},
};

TEST_ROWS(record, records)
{
    play(&records[_i], false);
    play(&records[_i], true);
}

/* ---- the other rules ---- */

#define FORTY "0123456789012345678901234567890123456789"

/* The same without a NUL. */
#define TEN '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'
static const char only_forty[RLK_RUN_MAX] = {TEN, TEN, TEN, TEN};

static const struct story rules[] = {
    {"an_excused_clock_ends_its_quarantine",
     {MET(STRICT), MARK_IS_NEW(0, 78), CLOCK_MOVED(S, 0), EXCUSED, QUARANTINED(LOST_DATA, 0),
      CLOCK_TRUSTED(S)}},

    {"only_a_clock_makes_a_server_clock_suspect",
     {MET(STRICT), RESTART(S, .run = "run-b", .evicts = true), MARK_IS(S, 0), CLOCK_TRUSTED(S)}},

    /* Its clock was set back. */
    {"a_greeting_without_a_change_begins_no_quarantine",
     {MET(STRICT), COUNTED(0), GREET(S, .age_us = S), MARK_IS(2 * S, 77), COUNTED(2 * S)}},

    {"a_mark_that_is_read_late_is_remembered",
     {NEW(STRICT), GREET(0, .birth = {.mark = 0}), MARK_IS(S, 0), COUNTED(S), MARK_IS_NEW(2 * S, 5),
      QUARANTINED(LOST_DATA, 2 * S), MARK_IS_NEW(3 * S, 6), QUARANTINED(LOST_DATA, 3 * S)}},

    {"the_mark_of_another_run_is_remembered",
     {MET(STRICT), MARK_IS(S, 0), RESTART(2 * S, .run = "run-b", .birth = {.mark = 78}),
      MARK_IS(3 * S, 78), QUARANTINED(RESTARTED, 2 * S)}},

    {"under_lenient_only_what_we_saw_counts",
     {NEW(LENIENT), GREET(0, .age_us = 0, .evicts = true), COUNTED(0),
      RESTART(S, .run = "run-b", .age_us = 0, .evicts = true), QUARANTINED(RESTARTED, S)}},

    {"under_off_nothing_counts_but_all_is_remembered",
     {MET(OFF), RESTART(S, .run = "run-b", .birth = {.mark = 78}, .age_us = 0, .evicts = true),
      KNOWN("run-b"), MARK_IS(S, 78), MARK_IS_NEW(S, 79), MARK_IS(S, 79), MARK_IS(S, 0),
      CLOCK_MOVED(S, 0), COUNTED(S)}},

    {"a_server_of_unknown_age_is_not_young",
     {NEW(STRICT), GREET(0, .age_us = RLK_NEVER), COUNTED(0)}},

    /* When that reason is over, the next one shows. */
    {"the_reason_is_the_one_that_lasts_longest",
     {MET(STRICT), CLOCK_MOVED(3 * S, 0), RESTART(2 * S, .run = "run-b"), MARK_IS_NEW(S, 78),
      QUARANTINED(CLOCK, 3 * S), EXCUSED, QUARANTINED(RESTARTED, 2 * S)}},

    /* The time may seem to go back between two turns of the event loop. */
    {"no_quarantine_gets_shorter",
     {MET(STRICT), RESTART(2 * S, .run = "run-b"), RESTART(S, .run = "run-c"),
      QUARANTINED(RESTARTED, 2 * S), GREET(3 * S, .run = "run-c", .durable = true),
      QUARANTINED(RESTARTED, 2 * S)}},

    /* A quarantine whose end cannot be represented does not end. */
    {"a_quarantine_beyond_the_end_of_time_does_not_end",
     {MET(STRICT), CLOCK_MOVED(RLK_NEVER - QUARANTINE_US + 1 - NOW, 0),
      NO_END(CLOCK, RLK_NEVER - NOW), CLOCK_SUSPECT(RLK_NEVER - NOW), EXCUSED,
      CLOCK_MOVED(RLK_NEVER - QUARANTINE_US - 1 - NOW, 0),
      QUARANTINED_UNTIL(CLOCK, RLK_NEVER - 1 - NOW)}},

    {"the_quarantine_of_a_young_server_at_the_end_of_time_does_not_end",
     {NEW(STRICT), GREET(RLK_NEVER - QUARANTINE_US - S + 1 - NOW, .age_us = 0),
      NO_END(YOUNG, RLK_NEVER - 1 - NOW)}},

    {"the_run_that_was_greeted_last_is_known_and_no_other",
     {NEW(STRICT), UNKNOWN("run-a"), UNKNOWN(""), AGAIN(0), KNOWN("run-a"), UNKNOWN("run-b"),
      RESTART(0, .run = "run-b"), KNOWN("run-b"), UNKNOWN("run-a")}},

    /* Forty characters are compared, whatever follows them, and no byte after them is read. A
     * shorter run is another run. */
    {"forty_characters_of_a_run_count",
     {NEW(STRICT), GREET(0, TELLS_NOTHING, .run = FORTY " and more"), KNOWN(FORTY),
      GREET(0, TELLS_NOTHING, .run = only_forty), COUNTED(0),
      RESTART(0, TELLS_NOTHING, .run = "012345678901234567890123456789012345678x"),
      QUARANTINED(RESTARTED, 0), RESTART(S, TELLS_NOTHING, .run = "0123456789"),
      QUARANTINED(RESTARTED, S), KNOWN("0123456789")}},
};

CASE("rules");

/* A rewrite of the log ends, also behind a restart. Only an operator ends the rest. */
TEST_LOOP(only_a_rewrite_ends_without_a_known_end, 0, 7)
{
    static const struct {
        struct rlk_facts facts;
        bool ends;
    } rows[] = {
        {{.run = "run-a", .birth.mark = 77, .age_us = OLD}, false},
        {{.run = "run-b", .birth.mark = 77, .age_us = OLD}, true},
        {{.run = "run-a", .birth.mark = 77, .age_us = OLD, .lacks_log = true}, true},
        {{.run = "run-b", .birth.mark = 77, .age_us = OLD, .lacks_log = true}, true},
        {{.run = "run-a", .birth.mark = 77, .age_us = OLD, .evicts = true}, false},
        {{.run = "run-a", .birth.mark = 77, .age_us = OLD, .evicts = true, .lacks_log = true},
         false},
        {{.run = "", .birth.mark = 77, .age_us = OLD, .lacks_log = true}, false},
    };
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);

    rlk_quarantine_take_handshake(&s, &rows[_i].facts, NOW + S);
    ck_assert_int_eq(rlk_quarantine_ends(&s, NOW + S), rows[_i].ends);
}

TEST_ROWS(rule, rules)
{
    play(&rules[_i], false);
    play(&rules[_i], true);
}

/* [S15] Data that were lost are not on record either. */
TEST(a_cause_is_named_rather_than_the_record)
{
    struct rlk_facts restarted = {.run = "run-b", .birth.mark = 77, .age_us = OLD};
    struct rlk_quarantine s = one_known(STRICT);
    uint64_t until_us;

    rlk_quarantine_set_unlisted(&s, RLK_NEVER, false);
    ck_assert_int_eq(rlk_quarantine_reason(&s, NOW, &until_us), RLK_QUARANTINED_UNLISTED);
    ck_assert_uint_eq(until_us, RLK_NEVER);
    ck_assert(rlk_quarantine_ends(&s, NOW) && !rlk_quarantine_is_over(&s, NOW));
    rlk_quarantine_take_handshake(&s, &restarted, NOW);
    ck_assert_int_eq(rlk_quarantine_reason(&s, NOW, &until_us), RESTARTED);
    ck_assert_uint_eq(until_us, RLK_NEVER);

    rlk_quarantine_set_unlisted(&s, NOW + 2 * QUARANTINE_US, false);
    ck_assert_int_eq(rlk_quarantine_reason(&s, NOW, &until_us), RESTARTED);
    ck_assert_uint_eq(until_us, NOW + 2 * QUARANTINE_US);
    ck_assert_int_eq(rlk_quarantine_reason(&s, NOW + QUARANTINE_US, &until_us),
                     RLK_QUARANTINED_UNLISTED);
    ck_assert_uint_eq(until_us, NOW + 2 * QUARANTINE_US);
    ck_assert_int_eq(rlk_quarantine_reason(&s, NOW + 2 * QUARANTINE_US, &until_us),
                     RLK_QUARANTINED_NOT);
    ck_assert_uint_eq(until_us, 0);
    ck_assert(rlk_quarantine_is_over(&s, NOW + 2 * QUARANTINE_US));
}

/* Other policies than off have a record; without quarantine nothing counts less. */
TEST(the_record_keeps_no_vote_back_without_quarantine)
{
    struct rlk_quarantine s = one_known(OFF);

    rlk_quarantine_set_unlisted(&s, RLK_NEVER, false);
    ck_assert(rlk_quarantine_is_over(&s, NOW));
}

TEST(the_quarantine_is_the_longest_ttl_with_the_drift_against_us)
{
    struct rlk_quarantine s;

    rlk_quarantine_init(&s, STRICT, TTL, 10000);
    ck_assert_uint_eq(s.quarantine_us, QUARANTINE_US);
    rlk_quarantine_init(&s, STRICT, 86400 * S, 0);
    ck_assert_uint_eq(s.quarantine_us, 86400 * S + 2000);
    ck_assert_int_eq(rlk_quarantine_reason(&s, 0, NULL), RLK_QUARANTINED_NOT);
}
