/* command.c - sends signals to a command under a lock, when the lock ends.
 *
 * After each turn of the loop the deadline is computed again, so a renewal moves it. Whatever wakes
 * redlock, it checks the clock first.
 */
#include "cli/lock/command.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <redlock/redlock.h>

#include "cli/lock/command_say.h"
#include "cli/lock/terms.h"
#include "cli/say/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/system/clock.h"
#include "cli/take/trouble.h"

/* The first and the longest pause between two checks whether all processes have ended; each pause
 * is twice as long as the one before. */
#define CHECK_FIRST_US 5000
#define CHECK_MAX_US 200000

/* Compute the deadline, and pass it to the supervisor, which acts on it while redlock does not run.
 */
static void update_deadline(struct cli_command *command)
{
    struct cli_deadline *deadline = &command->deadline;
    uint64_t now_us = cli_clock_us();
    enum cli_deadline_change change =
        cli_deadline_update(deadline, now_us, redlock_lock_validity_ms(command->lock),
                            command->stage == CLI_COMMAND_ENDING);

    if (change == CLI_DEADLINE_RENEWED) {
        cli_command_say_renewed(command->terms, command->lock, command->trouble);
        command->trouble = 0;
    }
    if (change == CLI_DEADLINE_SAME || change == CLI_DEADLINE_DENIED) {
        return;
    }
    if (cli_supervisor_move(&command->supervisor, deadline->kill_us) != 0) {
        deadline->kill_us = 0; /* the supervisor has begun to kill */
    }
}

/* ---- the end of the command ---- */

static void say_why(const struct cli_command *command)
{
    cli_command_say_why(command->terms, command->trouble,
                        command->deadline.latest_us == command->deadline.end_us);
}

/* A stopped process receives SIGTERM only after SIGCONT. */
static void send_term(struct cli_command *command, uint64_t now_us)
{
    char left[CLI_DURATION_TEXT];

    command->stage = CLI_COMMAND_ENDING;
    cli_supervisor_signal_all(&command->supervisor, SIGTERM);
    cli_supervisor_signal_all(&command->supervisor, SIGCONT);
    cli_say("the lock '%s' ends in %s, and its command still runs: sent it SIGTERM",
            command->terms->key,
            cli_duration_print(cli_deadline_before(command->deadline.end_us, now_us) / 1000, left));
    say_why(command);
}

static void kill_command(struct cli_command *command, uint64_t now_us)
{
    bool was_asked = command->stage == CLI_COMMAND_ENDING;
    int refused;

    command->stage = CLI_COMMAND_KILLED;
    command->next_check_us = 0;
    command->check_pause_us = CHECK_FIRST_US;
    cli_supervisor_kill(&command->supervisor, &refused);
    cli_command_say_killed(command->terms, command->rl, command->lock,
                           now_us >= command->deadline.end_us ? CLI_COMMAND_DID_NOT_RUN
                                                              : command->lost);
    if (!was_asked && !command->terms->renew) {
        say_why(command);
    }
}

/* Done when no process is left that we may kill. */
static void kill_remaining(struct cli_command *command)
{
    int refused;

    command->done = !cli_supervisor_kill(&command->supervisor, &refused);
    if (command->done && refused) {
        cli_command_say_left(command->terms, refused);
    }
}

/* The kernel has killed CMD with the supervisor; only redlock can kill CMD's descendants now. */
static void on_supervisor_killed(struct cli_command *command)
{
    cli_say("the supervisor of the command was killed: killed the command");
    command->supervisor_died = true;
    command->stage = CLI_COMMAND_KILLED;
    kill_remaining(command);
}

/* A command has ended by itself if it ended before the deadline and the lock was not lost. */
void cli_command_take_reports(struct cli_command *command)
{
    if (command->supervisor_died) {
        return;
    }
    if (cli_supervisor_read(&command->supervisor) != 0) {
        on_supervisor_killed(command);
    } else if (command->supervisor.ended && !command->supervisor.late &&
               command->stage == CLI_COMMAND_RUNNING && command->deadline.kill_us > 0) {
        cli_supervisor_dismiss(&command->supervisor);
        command->done = true;
    }
}

/* ---- the clock, and notices from the library ---- */

void cli_command_check_clock(struct cli_command *command)
{
    uint64_t now = cli_clock_us();

    if (command->done || command->stage == CLI_COMMAND_KILLED) {
        return;
    }
    if (now < command->deadline.kill_us) {
        update_deadline(command);
    }
    if (now >= command->deadline.term_us || now >= command->deadline.kill_us) {
        cli_command_take_reports(command);
    }
    if (command->done || command->stage == CLI_COMMAND_KILLED) {
        return;
    }
    if (now >= command->deadline.kill_us) {
        kill_command(command, now);
        return;
    }
    if (command->stage == CLI_COMMAND_RUNNING && now >= command->deadline.term_us) {
        send_term(command, now);
    }
    cli_clock_set(command->alarm_fd, command->stage == CLI_COMMAND_RUNNING
                                         ? command->deadline.term_us
                                         : command->deadline.kill_us);
}

/* After SIGTERM all processes have the rest of the grace to end. */
void cli_command_check_remaining(struct cli_command *command)
{
    uint64_t now = cli_clock_us();

    if (command->done || command->stage == CLI_COMMAND_RUNNING ||
        (command->stage == CLI_COMMAND_ENDING && !command->supervisor.ended)) {
        return;
    }
    if (now >= command->next_check_us) {
        if (command->stage == CLI_COMMAND_KILLED) {
            kill_remaining(command);
        } else {
            command->done = !cli_supervisor_has_any(&command->supervisor);
        }
        command->next_check_us = now + command->check_pause_us;
        command->check_pause_us *= command->check_pause_us < CHECK_MAX_US ? 2 : 1;
    }
    cli_clock_set(command->alarm_fd, command->stage == CLI_COMMAND_ENDING &&
                                             command->deadline.kill_us < command->next_check_us
                                         ? command->deadline.kill_us
                                         : command->next_check_us);
}

void cli_command_take_notice(struct cli_command *command, const struct redlock_notice *notice)
{
    char left[CLI_DURATION_TEXT];

    command->lost = notice->kind == REDLOCK_NOTICE_LOST ? notice->reason : 0;
    cli_command_check_clock(command);
    if (notice->kind != REDLOCK_NOTICE_TROUBLE || command->stage != CLI_COMMAND_RUNNING ||
        command->done) {
        return;
    }
    command->trouble = notice->reason;
    if (notice->reason == REDLOCK_EUNRENEWED) {
        cli_say("the lock '%s' is no longer renewed, %s left", command->terms->key,
                cli_duration_print(notice->left_ms, left));
    } else {
        cli_trouble_say(command->rl, command->lock, command->terms->key, notice->left_ms);
    }
}

/* ---- start and result ---- */

int cli_command_open(struct cli_command *command, const struct cli_terms *terms,
                     const struct redlock *rl, const struct redlock_lock *lock)
{
    int code;

    *command = (struct cli_command){
        .terms = terms, .rl = rl, .lock = lock, .alarm_fd = -1, .check_pause_us = CHECK_FIRST_US};
    cli_deadline_init(&command->deadline, terms, cli_clock_us());
    code = cli_supervisor_open(&command->supervisor);
    if (code != CLI_OK) {
        return code;
    }
    command->alarm_fd = cli_clock_alarm();
    if (command->alarm_fd < 0) {
        cli_say("cannot supervise the command: %s", strerror(errno));
        return CLI_INTERNAL;
    }
    return CLI_OK;
}

int cli_command_start(struct cli_command *command, char *const argv[])
{
    update_deadline(command);
    if (cli_clock_us() >= command->deadline.kill_us) {
        cli_say("the lock '%s' ended before the command could start", command->terms->key);
        return CLI_LOST;
    }
    return cli_supervisor_start(&command->supervisor, argv);
}

/* If the loop failed, nothing guards the command any more, so it is killed. */
int cli_command_result(const struct cli_command *command, int code)
{
    int refused;

    if (code != CLI_GO_ON) {
        while (cli_supervisor_kill(&command->supervisor, &refused) > 0) {
        }
        return code;
    }
    if (command->supervisor_died) {
        return CLI_INTERNAL;
    }
    if (command->stage != CLI_COMMAND_RUNNING) {
        return CLI_LOST;
    }
    cli_say_detail("the command ended with exit status %d", command->supervisor.code);
    return command->supervisor.code;
}

void cli_command_close(struct cli_command *command)
{
    if (command->alarm_fd >= 0) {
        close(command->alarm_fd);
    }
    if (command->supervisor.board) {
        cli_supervisor_end(&command->supervisor);
    }
}
