/* live/test_companion.c - a companion releases the locks of a program that was killed, and nothing
 * else.
 *
 * The program is a process that the test forks. It makes a manager of its own, does one thing, and
 * says over a pipe that it is done. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "lib/test.h"
#include "live/site.h"
#include "lock/companion.h"

SUITE("companion");
FIXTURE(NULL, site_end_all);

static struct site s;

/* ---- the program ---- */

/* Nothing that a program of this test holds ends by itself. */
#define TTL_MS 250000u

static struct event_base *base;
static struct redlock *rl;
static int say_fd, go_fd;
static enum redlock_companion_state told;
static char told_why[256];

/* A test is in another process. */
static void must(bool good, int line)
{
    if (!good) {
        fprintf(stderr, "# the program fails at line %d: %s\n", line, redlock_error_text(rl));
        _exit(1);
    }
}

#define MUST(condition) must(condition, __LINE__)

static void say(char letter)
{
    MUST(write(say_fd, &letter, 1) == 1);
}

static void on_state(struct redlock *of, enum redlock_companion_state state, const char *why,
                     void *arg)
{
    (void)arg;
    MUST(of == rl);
    told = state;
    snprintf(told_why, sizeof(told_why), "%s", why);
}

static bool is_told(void *state)
{
    return told == *(enum redlock_companion_state *)state;
}

static void wait_for_told(enum redlock_companion_state state)
{
    MUST(loop_until_true(base, is_told, &state, LOOP_BOUND_MS));
    MUST(redlock_companion_state(rl) == state);
}

static int open_with(const char *command)
{
    struct redlock_companion_options options;

    redlock_companion_options_init(&options);
    options.command = command;
    options.cb = on_state;
    return redlock_companion_open(rl, &options);
}

static int open_companion(void)
{
    return open_with(REDLOCK_COMMAND);
}

static void open_manager(void)
{
    base = event_base_new();
    MUST(redlock_new(base, &s.options, &rl) == 0);
}

static void begin(void)
{
    open_manager();
    MUST(open_companion() == 0);
    MUST(redlock_companion_state(rl) == REDLOCK_COMPANION_STARTING);
}

static struct redlock_lock *lock_request(const struct redlock_request *request)
{
    struct outcome got = outcome_of_acquire(base, rl, s.n, request);

    MUST(got.status == REDLOCK_OK);
    return got.lock;
}

static struct redlock_lock *lock_key(const char *key)
{
    struct redlock_request request = outcome_request(key);

    request.ttl_ms = TTL_MS;
    return lock_request(&request);
}

static void on_elected(struct redlock_election *election, uint64_t term, void *arg)
{
    int *led = arg;

    (void)election;
    (void)term;
    *led = 1;
}

static void on_demoted(struct redlock_election *election, const struct redlock_demotion *demotion,
                       void *arg)
{
    (void)election;
    (void)demotion;
    (void)arg;
}

static void lead(const char *name)
{
    struct redlock_election_options options;
    struct redlock_election *election;
    static int led;

    redlock_election_options_init(&options);
    options.name = name;
    options.id = "one";
    options.ttl_ms = TTL_MS;
    options.elected_cb = on_elected;
    options.demoted_cb = on_demoted;
    options.arg = &led;
    MUST(redlock_election_new(rl, &options, &election) == 0);
    MUST(redlock_election_campaign(election) == 0);
    MUST(loop_until(base, &led, LOOP_BOUND_MS));
}

/* ---- the test ---- */

struct program {
    pid_t pid;
    int hear_fd, go_fd;
};

static struct program start(void (*run)(void))
{
    struct program p;
    int says[2], goes[2];

    ck_assert_int_eq(pipe2(says, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe2(goes, O_CLOEXEC), 0);
    p.hear_fd = says[0];
    p.go_fd = goes[1];
    p.pid = fork();
    if (p.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(says[0]);
        close(goes[1]);
        say_fd = says[1];
        go_fd = goes[0];
        run();
        for (;;) {
            pause();
        }
    }
    close(says[1]);
    close(goes[0]);
    return p;
}

static void hear(const struct program *p, char letter)
{
    char heard = '?';

    ck_assert_int_eq(read(p->hear_fd, &heard, 1), 1);
    ck_assert_int_eq(heard, letter);
}

static int end_of(const struct program *p)
{
    int status = -1;

    ck_assert_int_eq(waitpid(p->pid, &status, 0), p->pid);
    close(p->hear_fd);
    return status;
}

static void kill_program(const struct program *p)
{
    ck_assert_int_eq(kill(p->pid, SIGKILL), 0);
    end_of(p);
}

static bool is_free(const char *key)
{
    size_t i;

    for (i = 0; i < s.n; i++) {
        if (strcmp(master_ask(s.masters[i], "EXISTS %s", key), "0") != 0) {
            return false;
        }
    }
    return true;
}

static bool is_free_now(void *key)
{
    return is_free(*(const char **)key);
}

static void wait_until_free(const char *key)
{
    loop_must_true(s.base, is_free_now, &key);
}

static bool is_held(const char *key)
{
    size_t i, held = 0;

    for (i = 0; i < s.n; i++) {
        held += strcmp(master_ask(s.masters[i], "EXISTS %s", key), "1") == 0;
    }
    return held > s.n / 2;
}

/* The companion of a program by its arguments; 0: none. */
static pid_t find_companion(pid_t program)
{
    DIR *proc = opendir("/proc");
    const struct dirent *entry;
    char wanted[64], path[64], line[64];
    pid_t found = 0;
    size_t len = (size_t)snprintf(wanted, sizeof(wanted), "redlock%ccompanion%c%d", 0, 0, program);

    while (found == 0 && (entry = readdir(proc)) != NULL) {
        FILE *file;

        snprintf(path, sizeof(path), "/proc/%.20s/cmdline", entry->d_name);
        file = fopen(path, "re");
        if (file) {
            memset(line, 0, sizeof(line));
            if (fread(line, 1, sizeof(line) - 1, file) == len + 1 &&
                memcmp(line, wanted, len) == 0) {
                found = atoi(entry->d_name);
            }
            fclose(file);
        }
    }
    closedir(proc);
    return found;
}

static bool has_no_companion(void *pid)
{
    return find_companion(*(pid_t *)pid) == 0;
}

static void wait_for_no_companion(pid_t program)
{
    loop_must_true(s.base, has_no_companion, &program);
}

/* The program is killed, and its lock released; and nothing is left of it. */
static void kill_and_wait(const struct program *p, const char *key)
{
    kill_program(p);
    wait_until_free(key);
    wait_for_no_companion(p->pid);
}

/* ---- what is released ---- */

CASE("released");

static void hold_all_kinds(void)
{
    struct redlock_request several = outcome_request("b"), fenced = outcome_fenced_request("d");
    const char *keys[] = {"b", "c"};

    begin();
    lock_key("a");
    several.key = NULL;
    several.keys = keys;
    several.n_keys = 2;
    several.ttl_ms = fenced.ttl_ms = TTL_MS;
    lock_request(&several);
    lock_request(&fenced);
    lead("e");
    say('h');
}

TEST(all_locks_of_a_killed_program_are_released)
{
    struct program p;
    struct outcome other;

    site_start_open(&s, 3);
    other = site_must_acquire(&s, "other");
    p = start(hold_all_kinds);
    hear(&p, 'h');
    kill_program(&p);
    wait_until_free("a");
    wait_until_free("b");
    wait_until_free("c");
    wait_until_free("d");
    wait_until_free("e");
    wait_for_no_companion(p.pid);
    ck_assert_uint_gt(redlock_lock_validity_ms(other.lock), 0);
    ck_assert(is_held("other"));
}

static void hold_one(void)
{
    begin();
    lock_key("k");
    say('h');
}

/* The companion of one that dies later has done all its work: one of a program that is already dead
 * would have, too. */
static void let_a_companion_work(void)
{
    struct program p;

    p = start(hold_one);
    hear(&p, 'h');
    kill_and_wait(&p, "k");
}

/* Unlike other children of a test, this one does not end with its parent, but with the test. */
static void outlive_the_program(void)
{
    prctl(PR_SET_PDEATHSIG, 0);
    dup2(go_fd, STDIN_FILENO);
    say('c');
}

static void fork_a_child(void)
{
    char end;

    begin();
    lock_key("a");
    wait_for_told(REDLOCK_COMPANION_READY);
    if (fork() == 0) {
        outlive_the_program();
        _exit(read(STDIN_FILENO, &end, 1) < 0);
    }
}

TEST(a_forked_child_that_lives_keeps_the_locks)
{
    struct program p;

    site_start_open(&s, 3);
    p = start(fork_a_child);
    hear(&p, 'c');
    kill_program(&p);
    let_a_companion_work();
    ck_assert(is_held("a"));
    ck_assert_int_ne(find_companion(p.pid), 0);
    close(p.go_fd);
    wait_until_free("a");
    wait_for_no_companion(p.pid);
}

static void use_it_in_a_child(void)
{
    struct redlock_lock *lock;
    pid_t child;
    int status;

    begin();
    lock = lock_key("a");
    child = fork();
    if (child == 0) {
        MUST(redlock_companion_open(rl, NULL) == REDLOCK_EFORK);
        MUST(redlock_release(lock, NULL, NULL) == REDLOCK_EFORK);
        MUST(redlock_lock_detach(lock) == REDLOCK_EFORK);
        MUST(redlock_close(rl, NULL, NULL) == REDLOCK_EFORK);
        _exit(0);
    }
    MUST(waitpid(child, &status, 0) == child && status == 0);
    say('h');
}

TEST(a_forked_child_changes_nothing)
{
    struct program p;

    site_start_open(&s, 3);
    p = start(use_it_in_a_child);
    hear(&p, 'h');
    let_a_companion_work();
    ck_assert(is_held("a"));
    kill_and_wait(&p, "a");
}

static void replace_itself(void)
{
    hold_one();
    execl("/bin/sleep", "sleep", "1000", NULL);
    MUST(false);
}

TEST(a_program_that_replaces_itself_is_dead)
{
    struct program p;

    site_start_open(&s, 3);
    p = start(replace_itself);
    hear(&p, 'h');
    wait_until_free("k");
    wait_for_no_companion(p.pid);
    ck_assert_int_eq(waitpid(p.pid, NULL, WNOHANG), 0);
    kill_program(&p);
}

static void start_another_program(void)
{
    hold_one();
    if (fork() == 0) {
        outlive_the_program();
        dup2(say_fd, STDOUT_FILENO);
        execl("/bin/sh", "sh", "-c", "echo d; read end", NULL);
        _exit(1);
    }
}

TEST(another_program_that_it_started_does_not_keep_the_locks)
{
    struct program p;
    char more;

    site_start_open(&s, 3);
    p = start(start_another_program);
    hear(&p, 'h');
    hear(&p, 'c');
    hear(&p, 'd');
    hear(&p, '\n');
    ck_assert_int_eq(kill(p.pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(p.pid, NULL, 0), p.pid);
    wait_until_free("k");
    wait_for_no_companion(p.pid);
    ck_assert_int_eq(fcntl(p.hear_fd, F_SETFL, O_NONBLOCK), 0);
    ck_assert_int_eq(read(p.hear_fd, &more, 1), -1); /* it still has its end */
    ck_assert_int_eq(errno, EAGAIN);
    close(p.go_fd);
}

static void exit_without_close(void)
{
    begin();
    lock_key("k");
    exit(0);
}

TEST(a_program_that_exits_without_a_close_is_dead)
{
    struct program p;

    site_start_open(&s, 3);
    p = start(exit_without_close);
    ck_assert_int_eq(end_of(&p), 0);
    wait_until_free("k");
    wait_for_no_companion(p.pid);
}

/* ---- what is not ---- */

CASE("kept");

static void detach_one(void)
{
    struct redlock_lock *lock;

    begin();
    lock = lock_key("detached");
    lock_key("k");
    MUST(redlock_lock_detach(lock) == 0);
    say('h');
}

TEST(a_detached_lock_stays)
{
    struct program p;

    site_start_open(&s, 3);
    p = start(detach_one);
    hear(&p, 'h');
    kill_and_wait(&p, "k");
    ck_assert(is_held("detached"));
}

static char token[256];

static void adopt_one(void)
{
    struct redlock_request request = outcome_request("a");
    struct outcome got = {.n = 3};

    request.ttl_ms = TTL_MS;
    begin();
    MUST(redlock_adopt(rl, &request, token, outcome_on_acquired, &got, NULL) == 0);
    MUST(loop_until(base, &got.calls, LOOP_BOUND_MS));
    MUST(got.status == REDLOCK_OK);
    say('h');
}

TEST(an_adopted_lock_is_released)
{
    struct program p;
    struct outcome got;

    site_start_open(&s, 3);
    got = site_must_acquire(&s, "a");
    strcpy(token, got.token);
    p = start(adopt_one);
    hear(&p, 'h');
    kill_and_wait(&p, "a");
}

static void adopt_in_vain(void)
{
    struct redlock_request request = outcome_request("a");
    struct outcome got = {.n = 3};

    request.ttl_ms = TTL_MS;
    begin();
    lock_key("k");
    MUST(redlock_adopt(rl, &request, token, outcome_on_acquired, &got, NULL) == 0);
    say('h'); /* the masters have not been asked yet */
}

TEST(a_lock_that_is_being_adopted_stays)
{
    struct program p;
    struct outcome got;

    site_start_open(&s, 3);
    got = site_must_acquire(&s, "a");
    strcpy(token, got.token);
    p = start(adopt_in_vain);
    hear(&p, 'h');
    kill_and_wait(&p, "k");
    ck_assert(is_held("a"));
}

/* ---- before a lock is held, and while it is released ---- */

CASE("between");

static void wait_for_go(void)
{
    char go;

    MUST(read(go_fd, &go, 1) == 1);
}

static void let_go(const struct program *p)
{
    ck_assert_int_eq(write(p->go_fd, "g", 1), 1);
}

static void wait_until_connected(void)
{
    size_t i;

    for (i = 0; i < s.n; i++) {
        watch_for_state(base, rl, i, REDLOCK_NODE_UP);
    }
}

static void stop_masters(void)
{
    size_t i;

    for (i = 0; i < s.n; i++) {
        master_stop(s.masters[i]);
    }
}

static void continue_masters(void)
{
    size_t i;

    for (i = 0; i < s.n; i++) {
        master_continue(s.masters[i]);
    }
}

static void begin_to_acquire(void)
{
    struct redlock_request request = outcome_request("a");
    static struct outcome got = {.n = 3};

    request.ttl_ms = TTL_MS;
    begin();
    wait_until_connected();
    say('1');
    wait_for_go();
    MUST(redlock_acquire(rl, &request, outcome_on_acquired, &got, NULL) == 0);
    loop_settle(base);
    say('2');
}

/* The masters are stopped: they set the key when the program is dead. */
TEST(a_program_may_be_killed_while_it_acquires)
{
    struct program p;

    site_start_open(&s, 3);
    p = start(begin_to_acquire);
    hear(&p, '1');
    stop_masters();
    let_go(&p);
    hear(&p, '2');
    kill_program(&p);
    continue_masters();
    wait_for_no_companion(p.pid);
    ck_assert(is_free("a"));
}

static void detach_while_one_is_stopped(void)
{
    begin();
    wait_until_connected();
    say('1');
    wait_for_go();
    MUST(redlock_lock_detach(lock_key("a")) == 0);
    say('2');
}

/* Then a command for the lock still waits for its reply. */
TEST(a_detached_lock_stays_also_when_a_master_does_not_reply)
{
    struct program p;

    site_start_open(&s, 3);
    p = start(detach_while_one_is_stopped);
    hear(&p, '1');
    master_stop(s.masters[2]);
    let_go(&p);
    hear(&p, '2');
    kill_program(&p);
    master_continue(s.masters[2]);
    wait_for_no_companion(p.pid);
    ck_assert(is_held("a"));
}

static unsigned count_entries(void)
{
    static struct rlk_ledger_copy copy;
    const struct rlk_shared *shared = &rl->companion->entries.shared;
    uint32_t number = 0;
    unsigned n = 0;

    while (rlk_ledger_read(shared->memory, shared->size, &number, &copy)) {
        n++;
    }
    return n;
}

static bool has_no_entry(void *arg)
{
    (void)arg;
    return count_entries() == 0;
}

/* The test stops the masters, and lets them go on. */
static void release_slowly(void)
{
    struct outcome_released released = {0};
    struct redlock_lock *lock;

    begin();
    MUST(count_entries() == 0);
    lock = lock_key("a");
    MUST(count_entries() == 1);
    say('l');
    wait_for_go();
    MUST(redlock_release(lock, outcome_on_released, &released) == 0);
    loop_settle(base);
    MUST(count_entries() == 1);
    say('w');
    MUST(loop_until(base, &released.calls, LOOP_BOUND_MS));
    MUST(loop_until_true(base, has_no_entry, NULL, LOOP_BOUND_MS));
    say('r');
}

TEST(a_lock_is_entered_until_its_release_is_answered)
{
    struct program p;

    site_start_open(&s, 3);
    p = start(release_slowly);
    hear(&p, 'l');
    stop_masters();
    let_go(&p);
    hear(&p, 'w');
    continue_masters();
    hear(&p, 'r');
    kill_program(&p);
    wait_for_no_companion(p.pid);
}

/* ---- how it starts and ends ---- */

CASE("lives");

static void lose_the_companion(void)
{
    begin();
    wait_for_told(REDLOCK_COMPANION_READY);
    say('1');
    wait_for_told(REDLOCK_COMPANION_GONE);
    MUST(told_why[0] == '\0');
    lock_key("a");
    say('2');
    MUST(open_companion() == 0);
    MUST(open_companion() == REDLOCK_ESTATE);
    wait_for_told(REDLOCK_COMPANION_READY);
    say('3');
}

TEST(the_end_of_the_companion_is_reported_and_another_one_knows_the_locks)
{
    struct program p;

    site_start_open(&s, 3);
    p = start(lose_the_companion);
    hear(&p, '1');
    ck_assert_int_eq(kill(find_companion(p.pid), SIGKILL), 0);
    hear(&p, '2');
    hear(&p, '3');
    ck_assert(is_held("a"));
    kill_and_wait(&p, "a");
}

static void outlive_the_companion(void)
{
    begin();
    wait_for_told(REDLOCK_COMPANION_READY);
    lock_key("a");
    say('1');
    wait_for_told(REDLOCK_COMPANION_GONE);
    say('2');
}

TEST(without_its_companion_a_program_leaves_its_locks_to_their_ttls)
{
    struct program p;

    site_start_open(&s, 3);
    p = start(outlive_the_companion);
    hear(&p, '1');
    ck_assert_int_eq(kill(find_companion(p.pid), SIGKILL), 0);
    hear(&p, '2');
    kill_program(&p);
    let_a_companion_work();
    ck_assert(is_held("a"));
}

TEST(signals_do_not_end_the_companion)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGALRM, SIGPIPE, SIGUSR1};
    struct program p;
    size_t i;

    site_start_open(&s, 3);
    p = start(hold_one);
    hear(&p, 'h');
    for (i = 0; i < N_ROWS(signals); i++) {
        ck_assert_int_eq(kill(find_companion(p.pid), signals[i]), 0);
    }
    kill_and_wait(&p, "k");
}

static unsigned count_files(void)
{
    unsigned n = 0;
    int fd;

    for (fd = 0; fd < 1024; fd++) {
        n += fcntl(fd, F_GETFD) >= 0;
    }
    return n;
}

static void close_in_time(void)
{
    unsigned before;
    pid_t child;

    base = event_base_new();
    before = count_files();
    MUST(redlock_new(base, &s.options, &rl) == 0);
    MUST(open_companion() == 0);
    lock_key("a");
    wait_for_told(REDLOCK_COMPANION_READY);
    child = fork();
    if (child == 0) {
        for (;;) {
            pause();
        }
    }
    watch_close(base, rl);
    MUST(count_files() == before);
    MUST(told == REDLOCK_COMPANION_READY);
    MUST(write(say_fd, &child, sizeof(child)) == sizeof(child));
}

TEST(a_close_ends_the_companion_and_leaves_nothing)
{
    struct program p;
    pid_t child;

    site_start_open(&s, 3);
    p = start(close_in_time);
    ck_assert_int_eq(read(p.hear_fd, &child, sizeof(child)), sizeof(child));
    wait_until_free("a");
    wait_for_no_companion(p.pid);
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    kill_program(&p);
}

static void be_refused(void)
{
    struct redlock_companion_options options;
    unsigned before;

    open_manager();
    before = count_files();
    MUST(redlock_companion_state(rl) == REDLOCK_COMPANION_NONE);
    MUST(redlock_companion_state(NULL) == REDLOCK_COMPANION_NONE);
    MUST(redlock_companion_open(NULL, NULL) == REDLOCK_EINVAL);
    memset(&options, 0, sizeof(options));
    MUST(redlock_companion_open(rl, &options) == REDLOCK_EINVAL);
    MUST(setenv("PATH", "/nowhere", 1) == 0);
    MUST(redlock_companion_open(rl, NULL) == REDLOCK_ESYSTEM);
    MUST(strstr(redlock_error_text(rl), "the command redlock was not found in PATH") != NULL);
    MUST(open_with("/nowhere/redlock") == REDLOCK_ESYSTEM);
    MUST(strstr(redlock_error_text(rl), "/nowhere/redlock was not found;") != NULL);
    MUST(redlock_companion_state(rl) == REDLOCK_COMPANION_NONE);
    MUST(count_files() == before);
    lock_key("a");
    MUST(open_companion() == REDLOCK_ESTATE);
    MUST(redlock_companion_state(rl) == REDLOCK_COMPANION_NONE);
    say('h');
}

TEST(what_cannot_be_started_is_refused)
{
    struct program p;

    site_start_open(&s, 3);
    p = start(be_refused);
    hear(&p, 'h');
    kill_program(&p);
    ck_assert(is_held("a"));
}

static int allowed;

static int allow_some(size_t size)
{
    (void)size;
    return allowed-- > 0;
}

static void run_out_of_memory(void)
{
    unsigned before;
    int most, status;

    open_manager();
    before = count_files();
    for (most = 0;; most++) {
        allowed = most;
        rlk_alloc_hook(allow_some);
        status = open_companion();
        rlk_alloc_hook(NULL);
        if (status == 0) {
            break;
        }
        MUST(status == REDLOCK_ENOMEM);
        MUST(redlock_companion_state(rl) == REDLOCK_COMPANION_NONE);
        MUST(count_files() == before);
    }
    MUST(most > 2);
    lock_key("a");
    say('h');
}

TEST(without_memory_nothing_is_started)
{
    struct program p;

    site_start_open(&s, 3);
    p = start(run_out_of_memory);
    hear(&p, 'h');
    kill_and_wait(&p, "a");
}

static void use_another_command(void)
{
    open_manager();
    MUST(open_with("/bin/true") == 0);
    wait_for_told(REDLOCK_COMPANION_GONE);
    say('h');
}

TEST(a_command_that_is_no_companion_is_gone_at_once)
{
    struct program p;

    site_start_open(&s, 3);
    p = start(use_another_command);
    hear(&p, 'h');
    kill_program(&p);
}

/* ---- many ---- */

CASE("many");

#define MANY 10000

static int answered;

static void on_one_of_many(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)arg;
    answered += status == REDLOCK_OK;
}

static bool all_answered(void *arg)
{
    (void)arg;
    return answered == MANY;
}

/* The memory that we share with the companion would grow to 64 KiB. */
static int deny_growth(size_t size)
{
    return size != 65536;
}

static char key[32];

static void hold_many(void)
{
    struct redlock_request request = outcome_request("k");
    int i;

    request.ttl_ms = TTL_MS;
    begin();
    for (i = 0; i < MANY; i++) {
        snprintf(key, sizeof(key), "%d", i);
        request.key = key;
        MUST(redlock_acquire(rl, &request, on_one_of_many, NULL, NULL) == 0);
    }
    MUST(loop_until_true(base, all_answered, NULL, 4 * LOOP_BOUND_MS));
    MUST(count_entries() >= MANY);
    say('h');
}

/* Room for 511 locks is there from the beginning. */
static void hold_more_than_find_memory(void)
{
    int i;

    begin();
    lock_key("first");
    rlk_alloc_hook(deny_growth);
    for (i = 0; i < 599; i++) {
        snprintf(key, sizeof(key), "%d", i);
        lock_key(key); /* one after the other: the connections need no more memory */
    }
    rlk_alloc_hook(NULL);
    MUST(count_entries() == 511);
    say('h');
}

TEST(locks_that_find_no_memory_are_left_to_their_ttls)
{
    struct program p;

    site_start_open(&s, 3);
    p = start(hold_more_than_find_memory);
    hear(&p, 'h');
    kill_program(&p);
    wait_for_no_companion(p.pid);
    ck_assert_str_eq(master_ask(s.masters[0], "DBSIZE"), "89");
}

TEST(ten_thousand_locks_are_released)
{
    struct program p;

    site_start_open(&s, 3);
    p = start(hold_many);
    hear(&p, 'h');
    site_wait_answer(&s, 0, "10000", "DBSIZE");
    kill_program(&p);
    site_wait_clean(&s);
    wait_for_no_companion(p.pid);
}

/* ---- settings ---- */

CASE("settings");

TEST(masters_with_a_password)
{
    struct master_options options = {.where = MASTER_TCP4, .password = "p&ss?w%rd:/@ #"};
    struct program p;

    site_start(&s, 3, &options);
    site_open(&s);
    p = start(hold_one);
    hear(&p, 'h');
    kill_and_wait(&p, "k");
}

static void name_the_password(void)
{
    static char name[64];
    int fd = memfd_create("password", MFD_CLOEXEC);

    MUST(write(fd, "sesame\n", 7) == 7);
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    s.options.password = NULL;
    s.options.password_file = name;
    hold_one();
}

TEST(a_password_in_an_open_file)
{
    struct master_options options = {.password = "sesame"};
    struct program p;

    site_start(&s, 3, &options);
    site_open(&s);
    p = start(name_the_password);
    hear(&p, 'h');
    kill_and_wait(&p, "k");
}

static void name_the_password_by_a_relative_name(void)
{
    char folder[256];
    FILE *file;

    snprintf(folder, sizeof(folder), "%s", rlk_test_folder());
    MUST(chdir(folder) == 0);
    file = fopen("password", "w");
    MUST(file != NULL && fputs("sesame\n", file) >= 0 && fclose(file) == 0);
    s.options.password = NULL;
    s.options.password_file = "password";
    open_manager();
    MUST(open_companion() == 0);
    lock_key("k");
    say('h');
}

TEST(a_password_in_a_file_with_a_relative_name)
{
    struct master_options options = {.password = "sesame"};
    struct program p;

    site_start(&s, 3, &options);
    site_open(&s);
    p = start(name_the_password_by_a_relative_name);
    hear(&p, 'h');
    kill_and_wait(&p, "k");
}

static void name_a_file_of_this_process(void)
{
    s.options.password = NULL;
    s.options.password_file = "/proc/self/root/proc/version";
    open_manager();
    MUST(open_companion() == REDLOCK_EINVAL);
    MUST(strstr(redlock_error_text(rl), "/proc/self/root/proc/version") != NULL);
    say('h');
}

TEST(a_file_that_means_another_one_elsewhere_is_refused)
{
    struct program p;

    site_start_open(&s, 3);
    p = start(name_a_file_of_this_process);
    hear(&p, 'h');
    kill_program(&p);
}

static void use_a_prefix(void)
{
    s.options.key_prefix = "p:";
    hold_one();
}

TEST(keys_with_a_prefix)
{
    struct program p;

    site_start_open(&s, 3);
    p = start(use_a_prefix);
    hear(&p, 'h');
    ck_assert(is_held("p:k"));
    kill_and_wait(&p, "p:k");
}
