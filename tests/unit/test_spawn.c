/* unit/test_spawn.c - a program that is no child of ours, memory that it can map, and a socket
 * whose end says that we are dead. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>
#include <redlock/error.h>

#include "base/alloc.h"
#include "lib/loop.h"
#include "lib/test.h"
#include "net/fork.h"
#include "net/life.h"
#include "net/own_files.h"
#include "net/shared.h"
#include "net/spawn.h"

SUITE("spawn");

static volatile sig_atomic_t children_ended;

static void on_child(int signo)
{
    (void)signo;
    children_ended++;
}

/* Run /bin/sh -c SCRIPT with a pipe as its file 3, and return what it writes there. */
static const char *run(const char *script)
{
    static char text[512];
    char shell[] = "sh", option[] = "-c", copy[256];
    char *argv[] = {shell, option, copy, NULL};
    size_t len = 0;
    ssize_t n;
    int fds[2];

    snprintf(copy, sizeof(copy), "%s", script);
    ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
    ck_assert_int_eq(rlk_spawn("/bin/sh", argv, &fds[1], 1), 0);
    close(fds[1]);
    while ((n = read(fds[0], text + len, sizeof(text) - 1 - len)) > 0) {
        len += (size_t)n;
    }
    close(fds[0]);
    text[len] = '\0';
    return text;
}

/* ---- a program ---- */

/* The runner is a subreaper, so that it can end what a test leaves behind; then the program would
 * be its child. */
TEST(a_program_is_no_child_of_ours)
{
    struct sigaction action = {.sa_handler = on_child}, before;

    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
    ck_assert_int_eq(sigaction(SIGCHLD, &action, &before), 0);
    ck_assert_str_eq(run("echo hello >&3"), "hello\n");
    ck_assert_int_ne(atoi(run("echo $PPID >&3")), getpid());
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG | __WALL), -1);
    ck_assert_int_eq(errno, ECHILD);
    ck_assert_int_eq(children_ended, 0);
    sigaction(SIGCHLD, &before, NULL);
}

TEST(it_has_no_stdin_and_prints_nothing)
{
    ck_assert_str_eq(run("cat; at=/proc/$$/fd; a=$(readlink $at/0 $at/1 $at/2); echo \"$a\" >&3"),
                     "/dev/null\n/dev/null\n/dev/null\n");
}

TEST(all_signals_are_blocked_in_it)
{
    ck_assert_str_eq(run("kill -TERM $$; kill -INT $$; kill -HUP $$; echo alive >&3"), "alive\n");
}

TEST(our_signals_are_as_before)
{
    sigset_t before, after;
    int signo;

    sigprocmask(SIG_SETMASK, NULL, &before);
    run(":");
    sigprocmask(SIG_SETMASK, NULL, &after);
    for (signo = 1; signo < SIGRTMAX; signo++) {
        ck_assert_int_eq(sigismember(&after, signo), sigismember(&before, signo));
    }
}

/* Their numbers may be those that the program gets. */
TEST(files_may_have_any_numbers)
{
    char shell[] = "sh", option[] = "-c", script[] = "read a <&3; read b <&4; echo $b$a >&5";
    char *argv[] = {shell, option, script, NULL};
    int one[2], two[2], out[2], fds[3];
    char text[8] = "";

    ck_assert_int_eq(pipe(one), 0);
    ck_assert_int_eq(pipe(two), 0);
    ck_assert_int_eq(pipe(out), 0);
    ck_assert_int_eq(write(one[1], "1\n", 2), 2);
    ck_assert_int_eq(write(two[1], "2\n", 2), 2);
    fds[0] = one[0];
    fds[1] = two[0];
    fds[2] = out[1];
    ck_assert_int_eq(rlk_spawn("/bin/sh", argv, fds, 3), 0);
    ck_assert_int_eq(read(out[0], text, sizeof(text)), 3);
    ck_assert_str_eq(text, "21\n");
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

TEST(what_cannot_be_run_says_why)
{
    char name[] = "x", *argv[] = {name, NULL};
    unsigned before = count_files();

    ck_assert_int_eq(rlk_spawn("/no/such/program", argv, NULL, 0), ENOENT);
    ck_assert_int_eq(rlk_spawn("/etc/passwd", argv, NULL, 0), EACCES);
    ck_assert_int_eq(rlk_spawn("/bin/true", argv, &(int){-1}, 1), EBADF);
    ck_assert_uint_eq(count_files(), before);
}

TEST(without_free_numbers_nothing_is_started)
{
    char name[] = "x", *argv[] = {name, NULL};
    struct rlimit few = {8, 8};
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    ck_assert_int_ne(rlk_spawn("/bin/true", argv, &fd, 1), 0);
}

TEST(a_program_is_found_as_a_shell_finds_it)
{
    char path[64];

    ck_assert_int_eq(setenv("PATH", "/nowhere::/etc:/bin", 1), 0);
    ck_assert(rlk_spawn_find("sh", path, sizeof(path)));
    ck_assert_str_eq(path, "/bin/sh");
    ck_assert(rlk_spawn_find("/bin/sh", path, sizeof(path)));
    ck_assert(!rlk_spawn_find("/bin", path, sizeof(path)));
    ck_assert(!rlk_spawn_find("passwd-", path, sizeof(path)));
    ck_assert(!rlk_spawn_find("no-such-program", path, sizeof(path)));
    ck_assert(!rlk_spawn_find("sh", path, strlen("/bin/sh")));
    ck_assert_int_eq(setenv("PATH", "", 1), 0);
    ck_assert(!rlk_spawn_find("sh", path, sizeof(path)));
}

/* ---- memory ---- */

TEST(shared_memory_grows_and_keeps_what_is_in_it)
{
    struct rlk_shared s;

    ck_assert_int_eq(rlk_shared_open(&s, "test", 4096), 0);
    ck_assert_int_eq(s.memory[4095], 0);
    memset(s.memory, 'x', 4096);
    ck_assert(rlk_shared_grow(&s, 1 << 20));
    ck_assert_int_eq(s.memory[4095], 'x');
    ck_assert_int_eq(s.memory[4096], 0);
    ck_assert_int_eq(s.memory[(1 << 20) - 1], 0);
    ck_assert_int_eq(lseek(s.fd, 0, SEEK_END), 1 << 20);
    rlk_shared_end(&s);
    ck_assert_int_eq(s.fd, -1);
}

static int refuse_all(size_t size)
{
    (void)size;
    return 0;
}

TEST(shared_memory_that_cannot_grow_stays_as_it_is)
{
    struct rlk_shared s;

    ck_assert_int_eq(rlk_shared_open(&s, "test", 4096), 0);
    rlk_alloc_hook(refuse_all);
    ck_assert(!rlk_shared_grow(&s, 8192));
    rlk_alloc_hook(NULL);
    ck_assert_uint_eq(s.size, 4096);
    s.memory[4095] = 'x';
    rlk_shared_end(&s);
}

TEST(without_memory_nothing_is_left_open)
{
    unsigned before = count_files();
    struct rlk_shared s;

    rlk_alloc_hook(refuse_all);
    ck_assert_int_eq(rlk_shared_open(&s, "test", 4096), REDLOCK_ENOMEM);
    rlk_alloc_hook(NULL);
    ck_assert_uint_eq(count_files(), before);
}

/* Also after it has grown, which may have moved it. */
TEST(a_forked_child_does_not_have_it)
{
    struct rlk_shared s;
    int status;
    pid_t child;

    ck_assert_int_eq(rlk_shared_open(&s, "test", 4096), 0);
    ck_assert(rlk_shared_grow(&s, 1 << 20));
    child = fork();
    if (child == 0) {
        _exit(msync(s.memory, 4096, MS_ASYNC) == 0 ? 1 : errno == ENOMEM ? 0 : 2);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    rlk_shared_end(&s);
}

/* ---- the socket ---- */

static char heard[RLK_LIFE_TEXT];
static int ended;

static void on_heard(struct rlk_life *life, const char *text)
{
    (void)life;
    snprintf(heard, sizeof(heard), "%s", text ? text : "");
    ended = text == NULL;
}

static bool has_heard(void *arg)
{
    (void)arg;
    return heard[0] || ended;
}

TEST(what_the_other_process_says_is_heard_and_its_end)
{
    struct event_base *base = event_base_new();
    struct rlk_life life;
    struct rlk_fork forks;
    int other;

    rlk_fork_init(&forks);
    ck_assert_int_eq(rlk_life_begin(&life, base, &forks, on_heard, &other), 0);
    ck_assert_int_eq(write(other, "ready", 5), 5);
    loop_must_true(base, has_heard, NULL);
    ck_assert_str_eq(heard, "ready");
    heard[0] = '\0';
    close(other);
    loop_must(base, &ended);
    rlk_life_end(&life);
    rlk_life_end(&life);
    rlk_fork_end(&forks);
    event_base_free(base);
}

TEST(a_forked_child_keeps_the_socket_but_a_close_is_heard)
{
    struct event_base *base = event_base_new();
    struct rlk_life life;
    struct rlk_fork forks;
    char byte = 0;
    pid_t child;
    int other;

    rlk_fork_init(&forks);
    ck_assert_int_eq(rlk_life_begin(&life, base, &forks, on_heard, &other), 0);
    child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    rlk_life_end(&life);
    ck_assert_int_eq(read(other, &byte, 1), 1);
    ck_assert_int_eq(fcntl(other, F_SETFL, O_NONBLOCK), 0);
    ck_assert_int_eq(read(other, &byte, 1), -1); /* not the end: the child has the socket */
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    ck_assert_int_eq(read(other, &byte, 1), 0);
    rlk_fork_end(&forks);
    event_base_free(base);
}

/* ---- names ---- */

static const struct {
    const char *claim, *name;
    bool own;
    int number;
} names[] = {
    {"a file of everybody", "/etc/redlock/password", false, -1},
    {"a relative name", "fd/3", false, -1},
    {"an open file", "/proc/self/fd/12", true, 12},
    {"an open file by its short name", "/dev/fd/0", true, 0},
    {"an open file without a number", "/dev/fd/", true, -1},
    {"an open file with more than a number", "/proc/self/fd/1x", true, -1},
    {"an open file with a number that is too large", "/proc/self/fd/99999999999", true, -1},
    {"a file in our root", "/proc/self/root/etc/passwd", true, -1},
    {"a file of a thread", "/proc/thread-self/fd/1", true, -1},
    {"the standard input", "/dev/stdin", true, -1},
};

TEST_ROWS(names_that_mean_another_file_in_another_process, names)
{
    ck_assert_int_eq(rlk_own_file_is(names[_i].name), names[_i].own);
    ck_assert_int_eq(rlk_own_file_number(names[_i].name), names[_i].number);
}

TEST(a_working_directory_that_was_removed_has_no_name)
{
    char folder[] = "/tmp/redlock-test-XXXXXX", name[256];

    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    rlk_own_folder(name, sizeof(name));
    ck_assert_str_eq(name, folder);
    ck_assert_int_eq(rmdir(folder), 0);
    rlk_own_folder(name, sizeof(name));
    ck_assert_str_eq(name, "");
    ck_assert_int_eq(chdir("/"), 0);
}
