/* password_command.c - a shell with a pipe, and a time limit for both. */
#include "cli/session/password.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/say/say.h"
#include "cli/system/exec.h"
#include "net/secret.h"

/* More is no password. */
#define MAX_PASSWORD 4096

/* A command may close its stdout before it ends: how often we check whether it has ended. */
#define LOOK_MS 10

static long now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* In the child. It may ask on /dev/tty, so it stays in our process group. */
static void become(const char *command, int out)
{
    char shell[] = "/bin/sh", option[] = "-c";
    char *text = strdup(command);
    char *const argv[] = {shell, option, text, NULL};
    int null = open("/dev/null", O_RDONLY);

    if (text && dup2(null, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0) {
        cli_exec_become(argv);
    }
    _exit(127);
}

static pid_t start_password_command(const char *command, int *ret_fd)
{
    int fds[2];
    pid_t pid;

    if (pipe2(fds, O_CLOEXEC) != 0) {
        return -1;
    }
    pid = fork();
    if (pid == 0) {
        become(command, fds[1]);
    }
    close(fds[1]);
    *ret_fd = fds[0];
    if (pid < 0) {
        close(fds[0]);
    }
    return pid;
}

/* Read to the end of the pipe, or as much as a password may have. False: the time is up. */
static bool read_all(int fd, char *text, long end_ms)
{
    size_t used = 0;
    ssize_t n = 1;

    while (n != 0 && used <= MAX_PASSWORD) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        long left_ms = end_ms - now_ms();

        if (left_ms <= 0) {
            return false;
        }
        if (poll(&wait, 1, (int)left_ms) > 0) {
            n = read(fd, text + used, MAX_PASSWORD + 1 - used);
            used += n > 0 ? (size_t)n : 0;
        }
    }
    return true;
}

/* Wait for the end of the command. False: the time is up. A status that somebody else has collected
 * counts as 0. */
static bool wait_for_password(pid_t pid, long end_ms, int *ret_status)
{
    pid_t got;

    *ret_status = 0;
    while ((got = waitpid(pid, ret_status, WNOHANG)) == 0 && now_ms() < end_ms) {
        poll(NULL, 0, LOOK_MS);
    }
    return got != 0;
}

static void end_password_command(pid_t pid)
{
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

/* NULL, or why there is no password. */
static const char *judge(int status, char *text)
{
    static char why[64];
    size_t len = strlen(text);

    if (status != 0) {
        snprintf(why, sizeof(why), "it ended with status %d", cli_exec_code(status));
        return why;
    }
    text[strcspn(text, "\r\n")] = '\0';
    return len > MAX_PASSWORD ? "it printed too much"
           : text[0]          ? NULL
                              : "it printed nothing, or an empty first line";
}

int cli_password_command_run(const char *command, char **ret_password)
{
    long end_ms = now_ms() + CLI_PASSWORD_COMMAND_SECONDS * 1000L;
    char *text = rlk_secret_alloc_text(MAX_PASSWORD + 2);
    const char *why = NULL;
    char late[40];
    int fd = -1, status;
    pid_t pid = text ? start_password_command(command, &fd) : -1;

    if (pid < 0) {
        why = strerror(errno);
    } else if (!read_all(fd, text, end_ms) || !wait_for_password(pid, end_ms, &status)) {
        end_password_command(pid);
        snprintf(late, sizeof(late), "it took longer than %d s", CLI_PASSWORD_COMMAND_SECONDS);
        why = late;
    } else {
        why = judge(status, text);
    }
    if (fd >= 0) {
        close(fd);
    }
    if (why) {
        cli_say("the password command gave no password: %s", why);
        rlk_secret_free(text);
        return -1;
    }
    *ret_password = text;
    return 0;
}
