/* unit/test_talk.c - conversations: what is sent, which line gets which reply, and that each ends
 * once. Linked with a connection of its own (--wrap), which keeps the bytes. */
#include <string.h>

#include "base/list.h"
#include "lib/test.h"
#include "node/link.h"
#include "node/talk.h"
#include "scripts/scripts.h"

SUITE("talk");

__typeof__(rlk_conn_append) __wrap_rlk_conn_append;
__typeof__(rlk_conn_grow) __wrap_rlk_conn_grow;

static struct {
    struct rlk_link link;
    char sent[20000]; /* the commands, without their RESP */
    size_t room;      /* how many more commands fit */
    char heard[400];  /* which functions were called */
    unsigned written; /* by format functions */
    unsigned refs;    /* to the context, which is this */
    unsigned freed;   /* how often that was unused */
    unsigned unsent;  /* reported to the owner of the link */
    bool wants_name;  /* the line NAME is due */
    bool sends_again; /* a script that was forgotten */
} f;

/* Each command is one small word here: its last one. */
void __wrap_rlk_conn_append(struct rlk_conn *c, const char *bytes, size_t len)
{
    size_t end = len - 2, begin = end;

    (void)c;
    while (begin > 0 && bytes[begin - 1] != '\n') {
        begin--;
    }
    strncat(f.sent, bytes + begin, end - begin);
    strcat(f.sent, strstr(bytes, "\r\nEVAL\r\n") ? "(text) " : " ");
    f.room--;
}

bool __wrap_rlk_conn_grow(struct rlk_conn *c, size_t len)
{
    (void)c;
    (void)len;
    return f.room > 0;
}

static void note(const char *what, const struct rlk_heard *h)
{
    strcat(f.heard, what);
    if (h->reply && h->reply->type == RLK_REPLY_ERROR) {
        strcat(f.heard, "!");
    }
    strcat(f.heard, " ");
}

static void take_one(const struct rlk_heard *h)
{
    note("one", h);
}

static void take_name(const struct rlk_heard *h)
{
    note("name", h);
}

static void take_two(const struct rlk_heard *h)
{
    note("two", h);
}

static void on_refused(const struct rlk_heard *h)
{
    note("refused", h);
}

static void on_done(const struct rlk_heard *h)
{
    note("done", h);
}

static void on_broken(const struct rlk_heard *h)
{
    note("broken", h);
}

static bool on_forgotten(const struct rlk_heard *h)
{
    note("again", h);
    return f.sends_again && rlk_talk_text(&f.link, h->exchange, 7, h->now_us);
}

static void on_free(void *context)
{
    ck_assert_ptr_eq(context, &f.refs);
    f.freed++;
}

static bool is_name_due(const struct rlk_say *say)
{
    ck_assert_ptr_eq(say->context, &f.refs);
    return f.wants_name;
}

static bool format_two(struct rlk_command *c, const struct rlk_say *say)
{
    const char *const words[] = {"X", say->form ? "2b" : "2a", NULL};

    f.written++;
    return rlk_command_words(c, words) == 0;
}

static unsigned form_two(const struct rlk_node *n)
{
    return (unsigned)(uintptr_t)n; /* the number of the node */
}

static const struct rlk_talk talk = {
    RLK_LINES({.words = RLK_WORDS("X", "1"), .take = take_one},
              {.words = RLK_WORDS("X", "name"), .when = is_name_due, .take = take_name},
              {.format = format_two, .form = form_two, .take = take_two}),
    .leaves_keys = true, .free = on_free, .done = on_done, .broken = on_broken};

static const struct rlk_talk handshake = {
    RLK_LINES({.words = RLK_WORDS("HELLO"), .take = take_one}), .in_handshake = true,
    .done = on_done};

static const struct rlk_talk picky = {RLK_LINES({.words = RLK_WORDS("X"), .take = take_one}),
                                      .refused = on_refused};

static bool format_script(struct rlk_command *c, const struct rlk_say *say)
{
    const char *const words[] = {say->form ? "EVAL" : "EVALSHA", say->ttl_ms == 7 ? "s7" : "s",
                                 NULL};

    return rlk_command_words(c, words) == 0;
}

static const struct rlk_talk script = {
    RLK_LINES({.script = &rlk_script_keep, .format = format_script, .take = take_one}),
    .free = on_free, .done = on_done, .broken = on_broken, .again = on_forgotten};

static void on_unsent(struct rlk_link *l, bool at_limit)
{
    (void)l;
    ck_assert(!at_limit);
    f.unsent++;
}

static const struct rlk_link_owner owner = {.unsent = on_unsent};

static void begin(void)
{
    memset(&f, 0, sizeof(f));
    f.link.owner = &owner;
    f.link.state = RLK_LINK_UP;
    f.room = 100;
    f.sends_again = true;
}

static void end(void)
{
    rlk_talk_break(&f.link, 0);
    ck_assert_uint_eq(f.refs, 0);
}

FIXTURE(begin, end);

static bool start(const struct rlk_talk *t)
{
    return rlk_talk_begin(&f.link, t, &f.refs, 5);
}

static void reply(enum rlk_reply_type type, const char *text)
{
    const struct rlk_reply said = {.type = type, .str = text, .len = strlen(text)};
    struct rlk_exchange x;

    ck_assert(rlk_inflight_pop(&f.link.inflight, &x));
    rlk_talk_reply(&f.link, &x, &said, 9);
}

static void say_ok(void)
{
    reply(RLK_REPLY_STATUS, "OK");
}

static void say_no_script(void)
{
    reply(RLK_REPLY_ERROR, "NOSCRIPT No matching script.");
}

TEST_LOOP(the_lines_that_are_due_are_sent_in_order, 0, 2)
{
    f.wants_name = _i;
    ck_assert(start(&talk));
    ck_assert_str_eq(f.sent, _i ? "1 name 2a " : "1 2a ");
    ck_assert_str_eq(f.heard, "");
    say_ok();
    say_ok();
    ck_assert_str_eq(f.heard, _i ? "one name " : "one two done ");
}

TEST(a_conversation_ends_once_and_holds_one_reference)
{
    ck_assert(start(&talk));
    ck_assert(start(&talk));
    ck_assert_uint_eq(f.refs, 2);
    say_ok();
    say_ok();
    ck_assert_uint_eq(f.refs, 1);
    ck_assert_uint_eq(f.freed, 0);
    say_ok();
    say_ok();
    ck_assert_uint_eq(f.freed, 1);
    ck_assert_str_eq(f.heard, "one two done one two done ");
}

/* However much of it was answered. */
TEST_LOOP(a_break_ends_each_conversation_once, 0, 4)
{
    static const char *const heard[] = {"broken broken ", "one broken broken ",
                                        "one two done broken ", "one two done one broken "};
    int i;

    ck_assert(start(&talk));
    ck_assert(start(&talk));
    for (i = 0; i < _i; i++) {
        say_ok();
    }
    rlk_talk_break(&f.link, 9);
    ck_assert_str_eq(f.heard, heard[_i]);
    ck_assert_uint_eq(f.refs, 0);
}

/* The replies to the part that was sent belong to nobody, and those behind it to their own. */
TEST_LOOP(what_was_sent_in_part_only_is_not_answered, 0, 2)
{
    int i;

    f.room = (size_t)_i;
    ck_assert(!start(&talk));
    ck_assert_uint_eq(f.refs, 0);
    ck_assert_uint_eq(f.unsent, 1);
    f.room = 100;
    ck_assert(start(&talk));
    for (i = 0; i < _i + 2; i++) {
        say_ok();
    }
    ck_assert_str_eq(f.heard, "one two done ");
}

TEST(an_abandoned_conversation_is_not_heard)
{
    ck_assert(start(&talk));
    ck_assert(rlk_talk_begin(&f.link, &handshake, NULL, 5));
    rlk_talk_abandon(&f.link, &f.refs);
    ck_assert_uint_eq(f.refs, 0);
    ck_assert_uint_eq(f.link.inflight.leaving_keys, 0);
    say_ok();
    say_ok();
    say_ok();
    ck_assert_str_eq(f.heard, "one done ");
}

TEST(before_the_link_is_up_only_greetings_are_sent)
{
    f.link.state = RLK_LINK_HANDSHAKE;
    ck_assert(!start(&talk));
    ck_assert(rlk_talk_begin(&f.link, &handshake, NULL, 5));
    f.link.state = RLK_LINK_DIALING;
    ck_assert(!rlk_talk_begin(&f.link, &handshake, NULL, 5));
    ck_assert_str_eq(f.sent, "HELLO ");
}

TEST(errors_go_to_who_wants_them)
{
    ck_assert(rlk_talk_begin(&f.link, &picky, NULL, 5));
    ck_assert(rlk_talk_begin(&f.link, &picky, NULL, 5));
    ck_assert(start(&talk));
    say_ok();
    reply(RLK_REPLY_ERROR, "ERR");
    reply(RLK_REPLY_ERROR, "ERR");
    ck_assert_str_eq(f.heard, "one refused! one! ");
}

TEST(only_what_may_leave_a_key_lasts)
{
    ck_assert(start(&talk));
    ck_assert(rlk_talk_begin(&f.link, &handshake, NULL, 5));
    ck_assert_uint_eq(f.link.inflight.leaving_keys, 2);
    say_ok();
    ck_assert_uint_eq(f.link.inflight.leaving_keys, 1);
}

/* ---- scripts ---- */

TEST(a_script_is_sent_as_text_until_it_has_run_there)
{
    ck_assert(start(&script));
    ck_assert(start(&script));
    say_ok();
    ck_assert(start(&script));
    ck_assert_str_eq(f.sent, "s(text) s(text) s ");
    say_ok();
    say_ok();
    ck_assert_str_eq(f.heard, "one done one done one done ");
}

/* Each is the same question: it ends once, by the reply to its text. */
TEST(each_script_that_was_forgotten_is_sent_again)
{
    f.link.scripts = rlk_script_keep.bit;
    ck_assert(start(&script));
    ck_assert(start(&script));
    say_no_script();
    say_no_script();
    ck_assert_str_eq(f.sent, "s s s7(text) s7(text) ");
    ck_assert_uint_eq(f.refs, 2);
    say_ok();
    say_ok();
    ck_assert_str_eq(f.heard, "again! again! one done one done ");
}

TEST(a_script_that_nobody_wants_again_has_its_error_as_reply)
{
    f.link.scripts = rlk_script_keep.bit;
    f.sends_again = false;
    ck_assert(start(&script));
    say_no_script();
    ck_assert_str_eq(f.heard, "again! one! done! ");
}

TEST(a_text_is_not_sent_again)
{
    ck_assert(start(&script));
    say_no_script();
    ck_assert_str_eq(f.heard, "one! done! ");
    ck_assert_uint_eq(f.link.inflight.ring.count, 0);
}

/* ---- drafts ---- */

TEST(a_command_is_written_once_in_each_form)
{
    struct rlk_draft d;
    uintptr_t i;

    rlk_draft_init(&d, &f.refs, 0);
    for (i = 0; i < 6; i++) {
        f.link.node = (struct rlk_node *)(i % 2);
        ck_assert(rlk_talk_share(&d, &f.link, &talk, 5));
    }
    rlk_draft_end(&d);
    ck_assert_uint_eq(f.written, 2);
    ck_assert_str_eq(f.sent, "1 2a 1 2b 1 2a 1 2b 1 2a 1 2b ");
}
