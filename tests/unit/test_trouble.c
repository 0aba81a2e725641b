/* unit/test_trouble.c - the sentence about a node's trouble: one for each kind, with the
 * details. */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "lib/runner.h"
#include "node/trouble.h"

static char text[512];

static void write_text(const struct rlk_trouble *t)
{
    rlk_trouble_write(t, text, sizeof(text));
}

static void must_say(const char *expected)
{
    ck_assert_str_eq(text, expected);
}

static const struct {
    struct rlk_trouble trouble;
    const char *text;
} rows[] = {
    {{.kind = RLK_TROUBLE_NONE}, ""},
    {{.kind = RLK_TROUBLE_CONNECTING}, "is still being connected"},
    {{.kind = RLK_TROUBLE_NAME, .fault = RLK_FAULT_SYSTEM, .words = "temporary failure"},
     "its name could not be resolved: temporary failure"},
    {{.kind = RLK_TROUBLE_NAME, .fault = RLK_FAULT_NO_ADDRESS, .words = ""},
     "its name could not be resolved: it has no address; check the host in the URI"},
    {{.kind = RLK_TROUBLE_CONNECT, .fault = RLK_FAULT_MEMORY}, "cannot be reached: out of memory"},
    {{.kind = RLK_TROUBLE_CONNECT_LATE, .number = 2000},
     "could not be reached within 2000 ms (connect_timeout_ms); its machine may be down, or a "
     "firewall may drop our packets"},
    {{.kind = RLK_TROUBLE_GREETING_BROKEN, .fault = RLK_FAULT_TOO_LARGE},
     "the connection broke during our greeting: its answer is too large"},
    {{.kind = RLK_TROUBLE_GREETING_UNANSWERED, .fault = RLK_FAULT_UNANSWERED, .words = "reset"},
     "ended the connection before it answered our greeting (reset); if this port is its tls-port, "
     "write rediss://"},
    {{.kind = RLK_TROUBLE_TLS, .fault = RLK_FAULT_TLS, .words = "has an old certificate"},
     "has an old certificate"},
    {{.kind = RLK_TROUBLE_TLS, .fault = RLK_FAULT_IS_TLS, .words = ""},
     "speaks TLS at this port; write rediss:// for it"},
    {{.kind = RLK_TROUBLE_TLS_BROKEN, .fault = RLK_FAULT_HANDSHAKE, .words = "reset"},
     "the connection broke during the TLS handshake: reset; check that this port is its tls-port"},
    {{.kind = RLK_TROUBLE_BROKEN, .fault = RLK_FAULT_CLOSED, .words = ""},
     "the connection broke: the server closed it"},
    {{.kind = RLK_TROUBLE_LOGIN, .words = "WRONGPASS"},
     "refused our user and password: WRONGPASS; give those that it accepts"},
    {{.kind = RLK_TROUBLE_LOGIN_FILE, .other = "/run/pw", .words = "WRONGPASS"},
     "refused our user and password: WRONGPASS; write the password that it accepts to /run/pw, "
     "which we read anew before each try"},
    {{.kind = RLK_TROUBLE_LOGIN_UNREAD, .other = "/run/pw", .words = "Permission denied"},
     "refused our user and password, and a new one could not be read from /run/pw: Permission "
     "denied"},
    {{.kind = RLK_TROUBLE_DATABASE, .number = 99, .words = "ERR DB index is out of range"},
     "refused database 99: ERR DB index is out of range"},
    {{.kind = RLK_TROUBLE_DUPLICATE, .other = "redis://b:6379/0", .words = "0123abcd"},
     "is the same server as redis://b:6379/0 (run_id 0123abcd...); list each master once"},
    {{.kind = RLK_TROUBLE_SILENT, .number = 501},
     "has not answered for 501 ms; check the server, or the network to it"},
    {{.kind = RLK_TROUBLE_QUARANTINE, .reason = RLK_QUARANTINED_RESTARTED, .number = 299},
     "does not vote for another 299 s (quarantine; see max_ttl): it restarted, or does not say "
     "whether it did"},
    {{.kind = RLK_TROUBLE_QUARANTINE, .reason = RLK_QUARANTINED_EVICTS, .number = 299},
     "does not vote for another 299 s (quarantine; see max_ttl): it may have evicted keys until "
     "just now"},
    {{.kind = RLK_TROUBLE_QUARANTINE, .reason = RLK_QUARANTINED_EVICTS, .number = RLK_NEVER},
     "does not vote: it may evict keys when memory is short; set its maxmemory-policy to "
     "noeviction"},
};

START_TEST(a_trouble_has_a_sentence_with_its_details)
{
    write_text(&rows[_i].trouble);
    must_say(rows[_i].text);
}
END_TEST

START_TEST(every_kind_has_a_sentence_of_its_own_but_two_that_differ_in_their_words)
{
    static char all[RLK_TROUBLES][512];
    unsigned same = 0;
    int a, b;

    for (a = 0; a < RLK_TROUBLES; a++) {
        struct rlk_trouble t = {.kind = (enum rlk_trouble_kind)a, .unfit = RLK_UNFIT_ROLE};

        t.fault = a == RLK_TROUBLE_TLS ? RLK_FAULT_NOT_TLS : RLK_FAULT_NONE;

        rlk_trouble_write(&t, all[a], sizeof(all[a]));
        ck_assert_int_eq(all[a][0] == '\0', a == RLK_TROUBLE_NONE);
        for (b = 0; b < a; b++) {
            same += strcmp(all[a], all[b]) == 0;
        }
    }
    ck_assert_uint_eq(same, 2); /* of a greeting, and of a database, that is refused */
}
END_TEST

START_TEST(every_reason_has_its_words)
{
    struct rlk_trouble t = {.kind = RLK_TROUBLE_QUARANTINE, .number = RLK_NEVER};
    char before[512] = "";
    int i;

    for (i = RLK_QUARANTINED_NOT + 1; i < RLK_QUARANTINE_REASONS; i++) {
        t.reason = (enum rlk_quarantine_reason)i;
        write_text(&t);
        ck_assert_str_ne(text, "does not vote: ");
        ck_assert_str_ne(text, before);
        strcpy(before, text);
    }
    for (i = RLK_UNFIT_REPLICA; i <= RLK_UNFIT_ROLE; i++) {
        write_text(&(struct rlk_trouble){.kind = RLK_TROUBLE_UNFIT, .unfit = (enum rlk_unfit)i});
        ck_assert_str_ne(text, "");
        ck_assert_str_ne(text, before);
        strcpy(before, text);
    }
    for (i = RLK_FAULT_SYSTEM; i <= RLK_FAULT_IS_TLS; i++) {
        if (i >= RLK_FAULT_TLS && i <= RLK_FAULT_UNANSWERED) {
            continue; /* they have the words of the fault */
        }
        write_text(&(struct rlk_trouble){
            .kind = RLK_TROUBLE_BROKEN, .fault = (enum rlk_fault_kind)i, .words = "Broken pipe"});
        ck_assert_str_ne(text, "the connection broke: ");
        ck_assert_str_ne(text, before);
        strcpy(before, text);
    }
}
END_TEST

/* The words come from the network. What looks like a placeholder in them is text. */
START_TEST(words_are_printable_taken_as_they_are_and_cut)
{
    char words[1000], room[40];

    write_text(&(struct rlk_trouble){.kind = RLK_TROUBLE_SET_REFUSED,
                                     .words = "ERR\x1b[2J\n $ # @ \xc3\xa9 %s"});
    must_say("refused to set the key: ERR?[2J? $ # @ ?? %s");
    memset(words, 'w', sizeof(words) - 1);
    words[sizeof(words) - 1] = '\0';
    memset(room, 'x', sizeof(room));
    rlk_trouble_write(&(struct rlk_trouble){.kind = RLK_TROUBLE_SET_REFUSED, .words = words}, room,
                      sizeof(room) - 1);
    ck_assert_uint_eq(strlen(room), sizeof(room) - 2);
    ck_assert_int_eq(room[sizeof(room) - 1], 'x');
    rlk_trouble_write(&(struct rlk_trouble){.kind = RLK_TROUBLE_SET_REFUSED, .words = words}, room,
                      1);
    ck_assert_str_eq(room, "");
}
END_TEST

static Suite *trouble_suite(void)
{
    Suite *suite = suite_create("trouble");
    TCase *tcase = tcase_create("trouble");

    tcase_add_loop_test(tcase, a_trouble_has_a_sentence_with_its_details, 0,
                        sizeof(rows) / sizeof(rows[0]));
    tcase_add_test(tcase, every_kind_has_a_sentence_of_its_own_but_two_that_differ_in_their_words);
    tcase_add_test(tcase, every_reason_has_its_words);
    tcase_add_test(tcase, words_are_printable_taken_as_they_are_and_cut);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(int argc, char **argv)
{
    Suite *(*const suites[])(void) = {trouble_suite, NULL};

    return rlk_test_main(argc, argv, suites);
}
