/* cli/warden.c - both sides of the warden; see warden.h. */
#include "cli/warden.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/clock.h"
#include "cli/detach.h"
#include "cli/exit.h"
#include "cli/say.h"

/* ---- the warden's own side ---- */

static void kill_group(struct cli_board *board)
{
    pid_t group = atomic_load(&board->group);

    if (group > 0) {
        kill(-group, SIGKILL);
    }
}

/* Take the deadline if it has passed. One that is moved at this moment is looked at anew. */
static void mind(struct cli_board *board)
{
    uint64_t at_us = atomic_load(&board->kill_us);

    if (at_us > 0 && at_us != CLI_BOARD_OVER && cli_clock_us() >= at_us &&
        atomic_compare_exchange_strong(&board->kill_us, &at_us, CLI_BOARD_OVER)) {
        kill_group(board);
    }
}

/* Until redlock is gone. */
static void watch(struct cli_board *board, int life_fd, int alarm_fd)
{
    struct pollfd fds[] = {{.fd = life_fd, .events = POLLIN}, {.fd = alarm_fd, .events = POLLIN}};
    char pokes[64];

    do {
        uint64_t at_us = atomic_load(&board->kill_us);

        cli_clock_set(alarm_fd, at_us == CLI_BOARD_OVER ? 0 : at_us);
        poll(fds, 2, -1);
        mind(board);
    } while (!fds[0].revents || read(life_fd, pokes, sizeof(pokes)) != 0);
    kill_group(board);
}

static void serve(struct cli_board *board, int life_fd, int alarm_fd)
{
    cli_detach(&life_fd, &alarm_fd);
    prctl(PR_SET_NAME, "redlock-warden");
    watch(board, life_fd, alarm_fd);
    _exit(0);
}

/* ---- redlock's side ---- */

static struct cli_board *make_board(void)
{
    void *memory = mmap(NULL, sizeof(struct cli_board), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

static void close_if_open(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

static pid_t fork_warden(struct cli_board *board, const int life[2], int alarm_fd)
{
    pid_t pid = fork();

    if (pid == 0) {
        close(life[1]);
        serve(board, life[0], alarm_fd);
    }
    return pid;
}

int cli_warden_start(struct cli_warden *ret_warden)
{
    struct cli_board *board = make_board();
    int alarm_fd = cli_clock_alarm();
    int life[2] = {-1, -1};
    pid_t pid = -1;

    if (board && alarm_fd >= 0 && pipe2(life, O_CLOEXEC | O_NONBLOCK) == 0) {
        pid = fork_warden(board, life, alarm_fd);
    }
    if (pid < 0) {
        cli_say("cannot start the process that watches over the command: %s", strerror(errno));
        close_if_open(life[1]);
        if (board) {
            munmap(board, sizeof(*board));
        }
    } else {
        *ret_warden = (struct cli_warden){.pid = pid, .life_fd = life[1], .board = board};
    }
    close_if_open(life[0]);
    close_if_open(alarm_fd);
    return pid < 0 ? CLI_INTERNAL : CLI_OK;
}

/* A warden that sleeps until later is woken. When the pipe is full it is about to be. */
static void poke(const struct cli_warden *warden)
{
    while (write(warden->life_fd, "", 1) < 0 && errno == EINTR) {
    }
}

int cli_warden_move(const struct cli_warden *warden, uint64_t kill_us)
{
    uint64_t before_us = atomic_load(&warden->board->kill_us);

    if (before_us == CLI_BOARD_OVER ||
        !atomic_compare_exchange_strong(&warden->board->kill_us, &before_us, kill_us)) {
        return -1;
    }
    if (before_us == 0 || kill_us < before_us) {
        poke(warden);
    }
    return 0;
}

void cli_warden_dismiss(const struct cli_warden *warden)
{
    atomic_store(&warden->board->group, 0);
}

void cli_warden_look(struct cli_warden *warden)
{
    if (warden->pid > 0 && waitpid(warden->pid, NULL, WNOHANG) == warden->pid) {
        warden->pid = 0;
        cli_say("the process that watches over redlock was killed: should redlock be stopped now, "
                "the command may outlive the lock");
    }
}

void cli_warden_end(struct cli_warden *warden)
{
    cli_warden_dismiss(warden);
    close(warden->life_fd);
    while (warden->pid > 0 && waitpid(warden->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    munmap(warden->board, sizeof(*warden->board));
}

/* ---- the command's side ---- */

/* First the one, then the other, and the warden the other way round: whoever comes second sees
 * what the first has done. */
int cli_board_enter(struct cli_board *board)
{
    atomic_store(&board->group, getpid());
    return atomic_load(&board->kill_us) == CLI_BOARD_OVER ? -1 : 0;
}
