/* command.c - sends signals to a command under a lease, when the lease ends.
 *
 * After each turn of the loop the deadline is computed again, so a renewal moves it. Whatever wakes
 * redlock, it checks the clock first.
 */
#include "cli/run/command.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/run/lease.h"
#include "settings/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/system/clock.h"

/* The first and the longest pause between two checks whether all processes have ended; each pause
 * is twice as long as the one before. */
#define CHECK_FIRST_US 5000
#define CHECK_MAX_US 200000

static uint64_t validity_ms(const struct cli_command *command)
{
    return command->lease->kind->validity_ms(command->lease->arg);
}

/* Pass the deadline to the supervisor, which acts on it while redlock does not run. */
static void pass_deadline(struct cli_command *command)
{
    struct cli_deadline *deadline = &command->deadline;

    if (cli_supervisor_move(&command->supervisor, deadline->kill_us) != 0) {
        deadline->kill_us = 0; /* the supervisor has begun to kill */
    }
}

static void update_deadline(struct cli_command *command)
{
    uint64_t now_us = cli_clock_us();
    enum cli_deadline_change change = cli_deadline_update(
        &command->deadline, now_us, validity_ms(command), command->stage == CLI_COMMAND_ENDING);

    if (change == CLI_DEADLINE_RENEWED) {
        command->lease->kind->say_renewed(command->lease->arg);
    }
    if (change != CLI_DEADLINE_SAME && change != CLI_DEADLINE_DENIED) {
        pass_deadline(command);
    }
}

/* ---- the end of the command ---- */

/* A stopped process receives SIGTERM only after SIGCONT. */
static void send_term(struct cli_command *command, uint64_t now_us)
{
    command->stage = CLI_COMMAND_ENDING;
    cli_supervisor_signal_all(&command->supervisor, SIGTERM);
    cli_supervisor_signal_all(&command->supervisor, SIGCONT);
    cli_supervisor_asked(&command->supervisor);
    command->lease->kind->say_ending(command->lease->arg, &command->deadline, now_us);
}

static void kill_command(struct cli_command *command, uint64_t now_us)
{
    bool was_asked = command->stage == CLI_COMMAND_ENDING;
    int refused;

    command->stage = CLI_COMMAND_KILLED;
    command->next_check_us = 0;
    command->check_pause_us = CHECK_FIRST_US;
    command->is_rest = command->is_rest && cli_deadline_is_given(&command->deadline);
    cli_supervisor_kill(&command->supervisor, &refused);
    if (!command->is_rest) {
        command->lease->kind->say_killed(command->lease->arg, &command->deadline,
                                         now_us >= command->deadline.end_us, was_asked);
    } else {
        cli_say("killed the children of the command of '%s' (SIGKILL): they did not end in time",
                command->lease->terms.key);
    }
}

static void say_left(const struct cli_command *command, int refused)
{
    cli_say("the command of '%s' has started processes as another user, which redlock may not "
            "kill; still running after the end of the lock: %d",
            command->lease->terms.key, refused);
}

/* Done when no process is left that we may kill. */
static void kill_remaining(struct cli_command *command)
{
    int refused;

    command->done = !cli_supervisor_kill(&command->supervisor, &refused);
    if (command->done && refused) {
        say_left(command, refused);
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

/* ---- its rest ---- */

/* Its process group has received the signal. A signal that was not for redlock has reached only the
 * command. */
static void ask_rest(struct cli_command *command)
{
    const struct cli_supervisor *supervisor = &command->supervisor;

    if (command->interrupted) {
        cli_supervisor_signal_others(supervisor, SIGTERM);
        cli_supervisor_signal_others(supervisor, SIGCONT);
    } else {
        cli_supervisor_signal_all(supervisor, SIGTERM);
        cli_supervisor_signal_all(supervisor, SIGCONT);
    }
    cli_supervisor_asked(supervisor);
}

/* The command has ended, in time. */
static void end_command(struct cli_command *command)
{
    const struct cli_terms *terms = &command->lease->terms;
    bool is_meant = !command->interrupted && !command->supervisor.signalled;

    if (is_meant || terms->leaves_rest || !cli_supervisor_has_any(&command->supervisor)) {
        cli_supervisor_dismiss(&command->supervisor);
        command->done = true;
        return;
    }
    command->stage = CLI_COMMAND_ENDING;
    command->is_rest = true;
    cli_deadline_stop(&command->deadline, cli_clock_us(), terms->rest_ms);
    pass_deadline(command);
    ask_rest(command);
}

/* Not at once: most processes end soon. */
static void say_rest(struct cli_command *command, uint64_t now_us)
{
    const char *key = command->lease->terms.key;

    if (command->is_rest && !command->said_rest && command->check_pause_us >= CHECK_MAX_US) {
        command->said_rest = true;
        cli_say(
            "the command of '%s' has ended, but not its children: keeping '%s' until they have, "
            "for another %s at most",
            key, key, rlk_duration(cli_deadline_before(command->deadline.kill_us, now_us) / 1000));
    }
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
        end_command(command);
    }
}

/* ---- the clock ---- */

/* The supervisor may begin to kill before our deadline. */
void cli_command_check_clock(struct cli_command *command)
{
    uint64_t now = cli_clock_us();
    bool over;

    if (command->done || command->stage == CLI_COMMAND_KILLED) {
        return;
    }
    if (now < command->deadline.kill_us) {
        update_deadline(command);
    }
    over = now >= command->deadline.kill_us || cli_supervisor_has_begun(&command->supervisor);
    if (over || now >= command->deadline.term_us) {
        cli_command_take_reports(command);
    }
    if (command->done || command->stage == CLI_COMMAND_KILLED) {
        return;
    }
    if (over) {
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
            /* If the supervisor has just killed them, the next check of the clock says so. */
            command->done = !cli_supervisor_has_any(&command->supervisor) &&
                            !cli_supervisor_has_begun(&command->supervisor);
            say_rest(command, now);
        }
        command->next_check_us = now + command->check_pause_us;
        command->check_pause_us *= command->check_pause_us < CHECK_MAX_US ? 2 : 1;
    }
    cli_clock_set(command->alarm_fd, command->stage == CLI_COMMAND_ENDING &&
                                             command->deadline.kill_us < command->next_check_us
                                         ? command->deadline.kill_us
                                         : command->next_check_us);
}

bool cli_command_is_running(const struct cli_command *command)
{
    return command->stage == CLI_COMMAND_RUNNING && !command->done;
}

void cli_command_stop(struct cli_command *command, uint32_t grace_ms)
{
    cli_command_check_clock(command);
    if (cli_command_is_running(command)) {
        cli_deadline_stop(&command->deadline, cli_clock_us(), grace_ms);
        pass_deadline(command);
        cli_command_check_clock(command);
    }
}

/* ---- start and result ---- */

int cli_command_open(struct cli_command *command, const struct cli_lease *lease)
{
    int code;

    *command =
        (struct cli_command){.lease = lease, .alarm_fd = -1, .check_pause_us = CHECK_FIRST_US};
    cli_deadline_init(&command->deadline, &lease->terms, cli_clock_us());
    code = cli_supervisor_open(&command->supervisor, lease->terms.ttl_ms);
    if (code != CLI_OK) {
        return code;
    }
    command->supervisor.title = "lock-supervisor";
    command->supervisor.orphan = lease->orphan;
    command->alarm_fd = cli_clock_alarm();
    if (command->alarm_fd < 0) {
        cli_say("cannot supervise the command: %s", strerror(errno));
        return CLI_INTERNAL;
    }
    return CLI_OK;
}

int cli_command_start(struct cli_command *command, char *const argv[])
{
    int code = CLI_LOST;

    update_deadline(command);
    if (cli_clock_us() < command->deadline.kill_us) {
        code = cli_supervisor_start(&command->supervisor, argv);
    }
    if (code == CLI_LOST) {
        cli_say("the lock '%s' ended before the command could start", command->lease->terms.key);
    }
    return code;
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
    if (command->stage != CLI_COMMAND_RUNNING && !command->is_rest) {
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
