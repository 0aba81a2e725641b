/* unit/test_trouble.c - what is said about a node's trouble, and what the doctor finds: for each
 * kind, with the details. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "doctor/diagnosis.h"
#include "lib/test.h"
#include "node/refusal.h"
#include "node/trouble.h"

SUITE("trouble");

static char text[512];

static void write_text(const struct rlk_trouble *t)
{
    rlk_trouble_write(t, text, sizeof(text));
}

static void must_say(const char *expected)
{
    ck_assert_str_eq(text, expected);
}

/* What a row does not name is 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#define FOUND(k, s, words) REDLOCK_FOUND_##k, REDLOCK_##s, words

/* What is said, and what the doctor finds when the trouble keeps a master from answering. */
static const struct {
    struct rlk_trouble trouble;
    const char *text;
    enum redlock_finding_kind found; /* 0: REDLOCK_FOUND_DOWN, which is unusable */
    enum redlock_severity severity;
    const char *fix; /* words of it */
} rows[] = {
    {{.kind = RLK_TROUBLE_NONE}, ""},
    {{.kind = RLK_TROUBLE_CONNECTING}, "is still being connected"},
    {{.kind = RLK_TROUBLE_NAME, .fault = RLK_FAULT_SYSTEM, .words = "temporary failure"},
     "its name could not be resolved: temporary failure"},
    {{.kind = RLK_TROUBLE_NAME, .fault = RLK_FAULT_NO_ADDRESS, .words = ""},
     "its name could not be resolved: it has no address; check the host in the URI"},
    {{.kind = RLK_TROUBLE_CONNECT, .fault = RLK_FAULT_MEMORY}, "cannot be reached: out of memory"},
    {{.kind = RLK_TROUBLE_CONNECT_LATE, .number = 2000},
     "could not be reached within 2000 ms; its machine may be down, or a "
     "firewall may drop our packets"},
    {{.kind = RLK_TROUBLE_HANDSHAKE_BROKEN, .fault = RLK_FAULT_TOO_LARGE},
     "the connection broke during the handshake: its reply is too large; check that a Redis server "
     "listens there, and what is in between (a proxy, TLS)"},
    {{.kind = RLK_TROUBLE_HANDSHAKE_UNANSWERED, .fault = RLK_FAULT_UNANSWERED, .words = "reset"},
     "closed the connection during the handshake (reset); if this port is its tls-port, "
     "write rediss://; otherwise check what listens there, perhaps a proxy"},
    {{.kind = RLK_TROUBLE_SCAN_REFUSED, .words = "LOADING Redis is loading"},
     "refused to name its keys: it is loading its data (LOADING); wait until it has finished"},
    {{.kind = RLK_TROUBLE_SCAN_DENIED, .words = "NOPERM no permissions to run the 'scan' command"},
     "refused to name its keys: NOPERM no permissions to run the 'scan' command; allow our user "
     "SCAN (ACL SETUSER: +scan)"},
    {{.kind = RLK_TROUBLE_SCAN_TOO_LONG},
     "has too many keys with long names in one place to name them"},
    {{.kind = RLK_TROUBLE_SCAN_UNFINISHED}, "has not named all its keys in time"},
    {{.kind = RLK_TROUBLE_TLS, .fault = RLK_FAULT_TLS, .words = "has an old certificate"},
     "has an old certificate",
     FOUND(TLS, UNUSABLE, "s_client")},
    {{.kind = RLK_TROUBLE_TLS, .fault = RLK_FAULT_IS_TLS, .words = ""},
     "speaks TLS at this port; write rediss:// for it",
     FOUND(TLS, UNUSABLE, "s_client")},
    {{.kind = RLK_TROUBLE_TLS_BROKEN, .fault = RLK_FAULT_HANDSHAKE, .words = "reset"},
     "the connection broke during the TLS handshake: reset; check that this port is its tls-port",
     FOUND(TLS, UNUSABLE, "s_client")},
    {{.kind = RLK_TROUBLE_SET_REFUSED, .words = " "},
     "refused to set the key: it does not say why"},
    {{.kind = RLK_TROUBLE_BROKEN, .fault = RLK_FAULT_CLOSED, .words = ""},
     "the connection broke: the server closed it"},
    {{.kind = RLK_TROUBLE_LOGIN, .words = "WRONGPASS"},
     "rejected our user or password (user default): WRONGPASS; give those that it accepts",
     FOUND(LOGIN, UNUSABLE, "ACL LIST")},
    {{.kind = RLK_TROUBLE_LOGIN_FILE, .other = "/run/pw", .user = "app", .words = "WRONGPASS"},
     "rejected our user or password (user app): WRONGPASS; write the password that it accepts to "
     "/run/pw, "
     "which we read again before each try",
     FOUND(LOGIN, UNUSABLE, "ACL LIST")},
    {{.kind = RLK_TROUBLE_LOGIN_UNREAD, .other = "/run/pw", .words = "Permission denied"},
     "rejected our user or password (user default), and a new one could not be read from /run/pw: "
     "Permission "
     "denied",
     FOUND(LOGIN, UNUSABLE, "ACL LIST")},
    {{.kind = RLK_TROUBLE_DATABASE, .number = 99, .words = "ERR DB index is out of range"},
     "refused database 99: ERR DB index is out of range; use a database that it has (CONFIG GET "
     "databases shows how many)",
     FOUND(DATABASE, UNUSABLE, "CONFIG GET databases")},
    {{.kind = RLK_TROUBLE_UNFIT, .unfit = RLK_UNFIT_SENTINEL},
     "is a sentinel, which has no keys; list the masters themselves",
     FOUND(ROLE, UNUSABLE, "List the masters")},
    {{.kind = RLK_TROUBLE_DUPLICATE, .other = "redis://b:6379/0", .words = "0123abcd"},
     "is the same server as redis://b:6379/0 (run_id 0123abcd...); list each master once",
     FOUND(DUPLICATE, UNUSABLE, "List each master once.")},
    {{.kind = RLK_TROUBLE_UNRESPONSIVE, .number = 501},
     "has not replied for 501 ms; check whether it is stopped, swapping or busy with a long "
     "command "
     "(SLOWLOG GET), and the network to it"},
    {{.kind = RLK_TROUBLE_SET_REFUSED,
      .words = "OOM command not allowed when used memory > 'maxmemory'."},
     "refused to set the key: its memory is full (OOM); raise its maxmemory, or move other data "
     "away"},
    {{.kind = RLK_TROUBLE_HANDSHAKE_REFUSED, .words = "ERR max number of clients reached"},
     "refused the handshake: it has as many connections as it allows (maxclients); raise its "
     "maxclients, or close other connections"},
    {{.kind = RLK_TROUBLE_RELEASE_REFUSED, .words = "ERR unknown command 'EVAL'"},
     "refused to release the key: ERR unknown command 'EVAL'; remove its rename-command; if it is "
     "a "
     "proxy, list the masters behind it"},
    {{.kind = RLK_TROUBLE_RESTORE_REFUSED, .words = "ERR Unknown Redis command called from script"},
     "refused to restore the key: ERR Unknown Redis command called from script; remove its "
     "rename-command; if it is a proxy, list the masters behind it"},
    {{.kind = RLK_TROUBLE_EXTEND_REFUSED,
      .words =
          "ERR Error running script (call to f_0): @user_script:5: @user_script: 5: -MISCONF x"},
     "refused to extend the lock: it cannot write its data to the disk (MISCONF); check its log, "
     "and whether its disk is full or read-only"},
    {{.kind = RLK_TROUBLE_QUARANTINE, .reason = RLK_QUARANTINED_UNREAD},
     "does not vote: it cannot show yet that it still has its data"},
    {{.kind = RLK_TROUBLE_QUARANTINE,
      .reason = RLK_QUARANTINED_UNREAD,
      .words = "NOREPLICAS Not enough good replicas to write."},
     "does not vote: it has fewer replicas than it needs for a write (NOREPLICAS); set its "
     "min-replicas-to-write to 0"},
    {{.kind = RLK_TROUBLE_QUARANTINE_PASSES, .reason = RLK_QUARANTINED_RESTARTED, .number = 299},
     "does not vote for another 299 s (quarantine; see max-ttl): it restarted, or does not say "
     "whether it did"},
    {{.kind = RLK_TROUBLE_QUARANTINE_PASSES, .reason = RLK_QUARANTINED_EVICTS, .number = 299},
     "does not vote for another 299 s (quarantine; see max-ttl): it may have evicted keys until "
     "just now"},
    {{.kind = RLK_TROUBLE_QUARANTINE, .reason = RLK_QUARANTINED_UNLOGGED},
     "does not vote: a restart could load an old log until the rewrite of its append-only file has "
     "ended"},
    {{.kind = RLK_TROUBLE_QUARANTINE, .reason = RLK_QUARANTINED_EVICTS},
     "does not vote: it may evict keys when memory is short; set its maxmemory-policy to "
     "noeviction"},
    {{.kind = RLK_TROUBLE_TLS_PENDING},
     "has not finished the TLS handshake yet; check that this port is its tls-port",
     FOUND(TLS, UNUSABLE, "s_client")},
    {{.kind = RLK_TROUBLE_TLS_LATE, .number = 500},
     "did not finish the TLS handshake within 500 ms; check that this port is its tls-port",
     FOUND(TLS, UNUSABLE, "s_client")},
    {{.kind = RLK_TROUBLE_HANDSHAKE_LATE, .number = 500},
     "did not finish the handshake within 500 ms; check whether it is stopped, swapping or "
     "busy with a long command (SLOWLOG GET), and the network to it",
     FOUND(UNRESPONSIVE, UNUSABLE, "SLOWLOG")},
    {{.kind = RLK_TROUBLE_HANDSHAKE, .number = 500},
     "is connected, but has not finished the handshake for 500 ms; check whether it is "
     "stopped, swapping or busy with a long command (SLOWLOG GET), and the network to it",
     FOUND(UNRESPONSIVE, UNUSABLE, "SLOWLOG")},
    {{.kind = RLK_TROUBLE_PROTECTED},
     "accepts connections from its own machine only (protected mode); set a password on it "
     "(requirepass, or ACL), and give it to its clients",
     FOUND(LOGIN, UNUSABLE, "Set a password")},
    {{.kind = RLK_TROUBLE_PASSWORD_MISSING},
     "requires a password, and none was given for it (in its URI, or for all masters)",
     FOUND(LOGIN, UNUSABLE, "ACL LIST")},
    {{.kind = RLK_TROUBLE_DATABASE_DENIED, .number = 3, .words = "NOPERM no"},
     "refused database 3: NOPERM no; allow our user this database (ACL SETUSER: +select, "
     "and db=... on Valkey 9.1 or newer), or use another one",
     FOUND(DATABASE, UNUSABLE, "+select")},
    {{.kind = RLK_TROUBLE_LOADING},
     "is loading its data; retrying until it has finished",
     FOUND(LOADING, NO_VOTE, "Wait until it has loaded its data.")},
    {{.kind = RLK_TROUBLE_BUSY, .words = "ERR not now"},
     "refuses all commands for now: ERR not now",
     FOUND(REFUSES, UNUSABLE, "cause of this error")},
    {{.kind = RLK_TROUBLE_REFUSES, .words = "ERR no"},
     "refuses our commands: ERR no",
     FOUND(REFUSES, UNUSABLE, "cause of this error")},
    {{.kind = RLK_TROUBLE_UPKEEP_DENIED, .words = "EVAL"},
     "does not vote, because it denies our user EVAL, without which no lock can be renewed "
     "or released there; allow it (redlock doctor prints the ACL SETUSER for that)",
     FOUND(RIGHTS, UNUSABLE, "ACL SETUSER")},
    {{.kind = RLK_TROUBLE_UPKEEP_UNKNOWN, .words = "EVAL"},
     "does not vote, because it does not know EVAL, without which no lock can be renewed or "
     "released there; remove its rename-command; if it is a proxy, list the masters behind it",
     FOUND(RIGHTS, UNUSABLE, "rename-command")},
    {{.kind = RLK_TROUBLE_UPKEEP_IN_SCRIPTS, .words = "PTTL"},
     "does not vote, because it denies PTTL to scripts, without which no lock can be "
     "renewed or released there; allow it (redlock doctor prints the ACL SETUSER for "
     "that), or remove its rename-command",
     FOUND(RIGHTS, UNUSABLE, "ACL SETUSER")},
    {{.kind = RLK_TROUBLE_UPKEEP_REFUSED, .words = "ERR no Lua"},
     "does not vote, because it runs no scripts, without which no lock can be renewed or "
     "released there: ERR no Lua",
     FOUND(RIGHTS, UNUSABLE, "Lua")},
    {{.kind = RLK_TROUBLE_RECORD_DENIED},
     "does not vote, because it no longer shows us the record of the masters; allow us GET and SET "
     "on redlock:masters",
     FOUND(RIGHTS, UNUSABLE, "GET and SET")},
    {{.kind = RLK_TROUBLE_MARK_DENIED, .words = "NOPERM no"},
     "does not vote, because it no longer lets us see whether it lost its data: NOPERM no; allow "
     "us "
     "EVAL with GET, SET and TIME on redlock:incarnation",
     FOUND(RIGHTS, UNUSABLE, "EVAL with GET")},
    {{.kind = RLK_TROUBLE_NAME_LATE, .number = 500},
     "its name could not be resolved within 500 ms; check the name servers in /etc/resolv.conf"},
    {{.kind = RLK_TROUBLE_TLS_FILES, .words = "the key is another one"},
     "is connected with the former certificates, because the key is another one"},
    {{.kind = RLK_TROUBLE_SEVERAL, .words = "10.0.0.1, 10.0.0.2"},
     "its name has several addresses (10.0.0.1, 10.0.0.2), which may be several servers; give each "
     "server a name of its own, or list this one by one address"},
    {{.kind = RLK_TROUBLE_UNASKED, .words = "+PONG"}, "sent an unexpected reply: +PONG"},
    {{.kind = RLK_TROUBLE_NOT_REDIS},
     "does not reply like a Redis server; check that a Redis server listens there, and what is in "
     "between (a proxy, TLS)"},
    {{.kind = RLK_TROUBLE_WAS_REPLICA},
     "was a replica for a while, so its data were replaced; we connect to it again"},
    {{.kind = RLK_TROUBLE_DATA_REPLACED},
     "its data were deleted or replaced; we connect to it again"},
    {{.kind = RLK_TROUBLE_NAMED}, "tells us its run_id now; we connect to it again"},
    {{.kind = RLK_TROUBLE_LEFT},
     "is no master any more, says the record of the masters; we connect to the server that took "
     "its place"},
    {{.kind = RLK_TROUBLE_MOVED, .words = "redis://d:6379/0"},
     "is no master any more; the server that took its place (redis://d:6379/0) cannot be used from "
     "here"},
    {{.kind = RLK_TROUBLE_VOTED_TWICE},
     "is a server that has already voted at another address; list each master once"},
    {{.kind = RLK_TROUBLE_FENCE_REFUSED, .words = "ERR no"},
     "refused to raise the fencing token: ERR no"},
    {{.kind = RLK_TROUBLE_RESTORE_REFUSED, .words = "ERR no"},
     "refused to restore the key: ERR no"},
    {{.kind = RLK_TROUBLE_WAIT_REFUSED, .words = "NOPERM no"}, "refused to queue us: NOPERM no"},
    {{.kind = RLK_TROUBLE_AUDIT_REFUSED, .words = "ERR no"},
     "adds nothing to the audit stream: ERR no"},
    {{.kind = RLK_TROUBLE_AUDIT_DENIED, .words = "NOPERM no"},
     "adds nothing to the audit stream: NOPERM no; allow our user XADD (ACL SETUSER: +xadd)"},
    {{.kind = RLK_TROUBLE_NONSENSE},
     "sent a reply that no Redis server sends; if it is a proxy, list the masters behind it"},
    {{.kind = RLK_TROUBLE_SUBSCRIBER_BROKEN, .words = "reset"},
     "the subscriber connection broke: reset"},
    {{.kind = RLK_TROUBLE_SUBSCRIBER_REFUSED, .words = "ERR no"},
     "refused the subscriber connection, so waiting polls: ERR no"},
    {{.kind = RLK_TROUBLE_SUBSCRIBER_LATE, .number = 500},
     "did not finish the handshake of the subscriber connection within 500 ms"},
    {{.kind = RLK_TROUBLE_SUBSCRIBER_UNASKED, .words = "+PONG"},
     "sent an unexpected message over the subscriber connection: +PONG"},
    {{.kind = RLK_TROUBLE_UNANSWERED}, "did not reply in time"},
    {{.kind = RLK_TROUBLE_UNANSWERED_YET}, "has not replied yet"},
    {{.kind = RLK_TROUBLE_ANSWER_BROKEN}, "the connection broke before it replied"},
    {{.kind = RLK_TROUBLE_NOT_ASKED},
     "was not asked: it was not connected when the round was decided"},
    {{.kind = RLK_TROUBLE_NONE_ASKED}, "was not asked: too few masters are up for a majority"},
    {{.kind = RLK_TROUBLE_DID_NOT_COUNT},
     "granted the lock while in quarantine, so its vote did not count"},
    {{.kind = RLK_TROUBLE_UNCONFIRMED}, "granted the lock, but did not confirm the fencing token"},
    {{.kind = RLK_TROUBLE_ERROR}, "replied with an error"},
    {{.kind = RLK_TROUBLE_NOT_ASKED_AGAIN}, "was not asked again before our key expired there"},
    {{.kind = RLK_TROUBLE_QUERY_REFUSED, .words = "ERR no"}, "refused the query: ERR no"},
    {{.kind = RLK_TROUBLE_HISTORY_REFUSED, .words = "ERR no"},
     "refused to read its audit stream: ERR no"},
    {{.kind = RLK_TROUBLE_HISTORY_DENIED},
     "does not let our user read its audit stream; allow our user XREVRANGE, EVAL and EVALSHA (ACL "
     "SETUSER: +xrevrange)"},
    {{.kind = RLK_TROUBLE_HISTORY_UNFINISHED}, "has not read its audit stream in time"},
    {{.kind = RLK_TROUBLE_DELETE_REFUSED, .words = "ERR no"},
     "refused to delete the record: ERR no"},
    {{.kind = RLK_TROUBLE_ANSWER_LOST}, "its reply was dropped: out of memory"},
    {{.kind = RLK_TROUBLE_TOO_MANY}, "too many requests are pending for it"},
    {{.kind = RLK_TROUBLE_NO_MEMORY}, "out of memory: a request to it was not sent"},
    {{.kind = RLK_TROUBLE_NO_MEMORY_FOR_HANDSHAKE}, "out of memory: the handshake was not sent"},
    {{.kind = RLK_TROUBLE_NO_MEMORY_TO_INSPECT}, "out of memory: it could not be inspected"},
    {{.kind = RLK_TROUBLE_NO_MEMORY_TO_SUBSCRIBE},
     "out of memory for the subscriber connection, so waiting polls"},
    {{.kind = RLK_TROUBLE_NOT_EXAMINED},
     "could not be asked: too many requests are pending for it, or out of memory"},
    {{.kind = RLK_TROUBLE_RELEASES_MANY},
     "too many releases are pending for it; the oldest were dropped, and their keys expire with "
     "their ttl"},
    {{.kind = RLK_TROUBLE_RELEASES_NO_MEMORY},
     "out of memory for its pending releases; the oldest were dropped, and their keys expire with "
     "their ttl"},
    {{.kind = RLK_TROUBLE_UNCONFIRMED_RECORD},
     "does not vote: too few masters reply to confirm the record of the masters"},
    {{.kind = RLK_TROUBLE_BLIND_TO_RESTART},
     "has restarts that we cannot see, so it votes without quarantine; allow us INFO"},
    {{.kind = RLK_TROUBLE_BLIND_TO_ROLE},
     "has restarts and a role that we cannot see, so it votes without quarantine, even as a "
     "writable replica; allow us INFO; if it is a proxy, list the masters behind it"},
    {{.kind = RLK_TROUBLE_BLIND_TO_DATA},
     "can lose its data without our seeing it, so it votes without quarantine; allow us EVAL with "
     "GET, SET and TIME on redlock:incarnation"},
    {{.kind = RLK_TROUBLE_MARK_SPOILT},
     "can lose its data without our seeing it, because its key redlock:incarnation is not a "
     "string; so it votes without quarantine; delete that key"},
};

TEST_LOOP(each_kind_has_a_row, 0, RLK_TROUBLES)
{
    size_t i;

    for (i = 0; i < N_ROWS(rows) && rows[i].trouble.kind != (enum rlk_trouble_kind)_i; i++) {
    }
    ck_assert_uint_lt(i, N_ROWS(rows));
}

TEST_LOOP(a_trouble_has_a_sentence_with_its_details, 0, N_ROWS(rows))
{
    write_text(&rows[_i].trouble);
    must_say(rows[_i].text);
}

/* This finding, and no other, in the words of the trouble. */
static void must_be_found(const struct rlk_trouble *t, enum redlock_finding_kind found,
                          enum redlock_severity severity, const char *fix)
{
    static const struct rlk_diagnosis_context context = {.key_prefix = ""};
    static const struct redlock_examined x = {.state = REDLOCK_NODE_DOWN};
    static struct rlk_notes notes;

    rlk_diagnose_node(&x, t, 3, &context, &notes);
    rlk_trouble_write_finding(t, text, sizeof(text));
    ck_assert_uint_eq(notes.n, 1);
    ck_assert_int_eq(notes.finding[0].node, 3);
    ck_assert_int_eq(notes.finding[0].kind, found);
    ck_assert_str_eq(notes.finding[0].code, rlk_finding_row(found)->code);
    ck_assert_int_eq(notes.worst, severity);
    ck_assert_ptr_nonnull(strstr(notes.finding[0].text, text));
    ck_assert_ptr_nonnull(strstr(notes.finding[0].fix, fix));
}

TEST_LOOP(the_kind_of_trouble_decides_the_finding, 0, RLK_TROUBLES)
{
    struct rlk_trouble t = {.kind = (enum rlk_trouble_kind)_i, .number = 500};
    char advice[RLK_TROUBLE_TEXT];
    size_t i, found = 0;

    for (i = 0; i < N_ROWS(rows); i++) {
        if (rows[i].trouble.kind == t.kind && rows[i].found) {
            must_be_found(&rows[i].trouble, rows[i].found, rows[i].severity, rows[i].fix);
            found++;
        }
    }
    if (found == 0) {
        rlk_trouble_write_advice(&t, advice, sizeof(advice));
        must_be_found(&t, REDLOCK_FOUND_DOWN, REDLOCK_UNUSABLE, advice[0] ? advice : "bind, port");
    }
}

TEST(every_kind_has_a_sentence_of_its_own)
{
    static char all[RLK_TROUBLES][512];
    int a, b;

    for (a = 0; a < RLK_TROUBLES; a++) {
        struct rlk_trouble t = {.kind = (enum rlk_trouble_kind)a, .unfit = RLK_UNFIT_ROLE};

        t.fault = a == RLK_TROUBLE_TLS ? RLK_FAULT_NOT_TLS : RLK_FAULT_NONE;

        rlk_trouble_write(&t, all[a], sizeof(all[a]));
        ck_assert_int_eq(all[a][0] == '\0', a == RLK_TROUBLE_NONE);
        for (b = 0; b < a; b++) {
            ck_assert_str_ne(all[a], all[b]);
        }
    }
}

TEST_LOOP(a_sentence_is_its_finding_and_its_advice, 0, RLK_TROUBLES)
{
    struct rlk_trouble t = {
        .kind = (enum rlk_trouble_kind)_i, .unfit = RLK_UNFIT_ROLE, .words = "a word"};
    char finding[512], advice[512], both[1024];

    rlk_trouble_write_finding(&t, finding, sizeof(finding));
    rlk_trouble_write_advice(&t, advice, sizeof(advice));
    write_text(&t);
    ck_assert_int_eq(finding[0] == '\0', _i == RLK_TROUBLE_NONE);
    if (advice[0]) {
        ck_assert_int_eq(advice[strlen(advice) - 1], '.');
        advice[0] = (char)(advice[0] - 'A' + 'a');
        snprintf(both, sizeof(both), "%s; %.*s", finding, (int)strlen(advice) - 1, advice);
        must_say(both);
    } else {
        must_say(finding);
    }
}

/* Each row of the table except those for an unknown command, which have no code; and words that
 * only look like a row. */
static const struct {
    const char *error, *code;
} errors[] = {
    {"MISCONF Errors writing to the AOF file: No space left on device", "MISCONF"},
    {"OOM command not allowed when used memory > 'maxmemory'.", "OOM"},
    {"NOREPLICAS Not enough good replicas to write.", "NOREPLICAS"},
    {"BUSY Redis is busy running a script.", "BUSY"},
    {"LOADING Redis is loading the dataset in memory", "LOADING"},
    {"READONLY You can't write against a read only replica.", "READONLY"},
    {"MASTERDOWN Link with MASTER is down", "MASTERDOWN"},
    {"ERR max number of clients reached", "maxclients"},
    {"CLUSTERDOWN Hash slot not served", "CLUSTERDOWN"},
    {"MOVED 11958 127.0.0.1:7000", "MOVED"},
    {"ASK 11958 127.0.0.1:7000", "ASK"},
    {"TRYAGAIN Multiple keys request during rehashing of slot", "TRYAGAIN"},
    {"CROSSSLOT Keys in request don't hash to the same slot", "CROSSSLOT"},
    {"ERR Error running script (call to f_0): @user_script:5: @user_script: 5: -OOM no", "OOM"},
    {"OOM", "OOM"},
    {"OOMPH", NULL},
    {"ERR max number", NULL},
    {"ERR", NULL},
    {"", NULL},
};

TEST_LOOP(an_error_is_explained_by_its_first_words, 0, N_ROWS(errors))
{
    const struct rlk_refusal *refusal = rlk_refusal_of(errors[_i].error);

    char code[32];

    ck_assert_int_eq(refusal != NULL, errors[_i].code != NULL);
    if (refusal) {
        snprintf(code, sizeof(code), " (%s)", errors[_i].code);
        ck_assert_str_eq(refusal->means + strlen(refusal->means) - strlen(code), code);
        ck_assert(refusal->advice[0]);
    }
}

TEST(every_reason_has_its_words)
{
    struct rlk_trouble t = {.kind = RLK_TROUBLE_QUARANTINE};
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

/* The words come from the network. What looks like a placeholder in them is text. */
TEST(words_are_printable_taken_as_they_are_and_cut)
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
