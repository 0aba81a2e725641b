/* server.c - configures and starts a private master, and asks whether it answers. */
#include "cli/sandbox/server.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/sandbox/folder.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/system/exec.h"
#include "cli/system/signals.h"

/* Enough for the path of a file in the folder. */
#define FILE_PATH (CLI_FOLDER_PATH + 16)

static bool find_named(const char *name, char *path, size_t size)
{
    if (strchr(name, '/')) {
        return snprintf(path, size, "%s", name) < (int)size && cli_path_is_program(path);
    }
    return cli_path_find(name, path, size);
}

int cli_server_find(const char *option, char *path, size_t size)
{
    if (option) {
        if (find_named(option, path, size)) {
            return CLI_OK;
        }
        cli_say("--server '%s' is not a program that can be run", option);
        cli_say_more("Give the path of a redis-server or a valkey-server, or its name if it is in "
                     "PATH.");
        return CLI_UNREACHABLE;
    }
    if (cli_path_find("redis-server", path, size) || cli_path_find("valkey-server", path, size)) {
        return CLI_OK;
    }
    cli_say("there is neither a redis-server nor a valkey-server in PATH");
    cli_say_more("Install one (Debian, Ubuntu: apt-get install redis-server), or name it with "
                 "--server PATH.");
    return CLI_UNREACHABLE;
}

static void file_path(const char *folder, int number, const char *suffix, char path[FILE_PATH])
{
    snprintf(path, FILE_PATH, "%.*s/%d.%s", CLI_FOLDER_PATH, folder, number, suffix);
}

/* Write a line with the path of a file. Redis accepts \xHH inside quotes. */
static void put_path(FILE *file, const char *name, const char *path)
{
    const unsigned char *p;

    fprintf(file, "%s \"", name);
    for (p = (const unsigned char *)path; *p; p++) {
        if (*p < 0x20 || *p > 0x7e || *p == '"' || *p == '\\') {
            fprintf(file, "\\x%02x", *p);
        } else {
            fputc(*p, file);
        }
    }
    fputs("\"\n", file);
}

static void put_file(FILE *file, const char *name, const char *folder, int number,
                     const char *suffix)
{
    char path[FILE_PATH];

    file_path(folder, number, suffix, path);
    put_path(file, name, path);
}

/* "daemonize yes" is for people who start the master again by hand; the keeper overrides it. */
int cli_server_configure(const char *folder, int number)
{
    char path[FILE_PATH];
    FILE *file;
    bool failed;

    file_path(folder, number, "conf", path);
    file = fopen(path, "we");
    if (file == NULL) {
        return -1;
    }
    fputs("# Written by redlock sandbox. Starts this master again (redis-server THIS-FILE,\n"
          "# or valkey-server THIS-FILE).\n"
          "port 0\n"
          "unixsocketperm 700\n"
          "daemonize yes\n"
          "save \"\"\n"
          "appendonly no\n"
          "maxmemory-policy noeviction\n",
          file);
    put_path(file, "dir", folder);
    put_file(file, "unixsocket", folder, number, "sock");
    put_file(file, "pidfile", folder, number, "pid");
    put_file(file, "logfile", folder, number, "log");
    failed = ferror(file);
    return fclose(file) != 0 || failed ? -1 : 0;
}

/* What the server prints before it has opened its log goes to the log, too. */
static void redirect(const char *folder, int number)
{
    char path[FILE_PATH];
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int out;

    file_path(folder, number, "log", path);
    out = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
}

pid_t cli_server_start(const char *program, const char *folder, int number)
{
    char config[FILE_PATH];
    pid_t parent = getpid();
    pid_t pid;

    file_path(folder, number, "conf", config);
    pid = fork();
    if (pid != 0) {
        setpgid(pid, pid); /* also in the child: one of the two comes first */
        return pid;
    }
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(CLI_INTERNAL);
    }
    redirect(folder, number);
    cli_signals_restore();
    execl(program, program, config, "--daemonize", "no", (char *)NULL);
    dprintf(STDERR_FILENO, "cannot run %s: %s\n", program, strerror(errno));
    _exit(CLI_CANNOT_RUN);
}

/* Send PING, and wait for the reply for a second. */
static bool ask_server(int fd)
{
    static const char pong[] = "+PONG";
    struct timeval patience = {1, 0};
    char answer[16];

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return send(fd, "PING\r\n", 6, MSG_NOSIGNAL) == 6 &&
           recv(fd, answer, sizeof(answer), 0) >= (ssize_t)sizeof(pong) - 1 &&
           memcmp(answer, pong, sizeof(pong) - 1) == 0;
}

bool cli_server_answers(const char *folder, int number)
{
    char name[16];
    int fd;
    bool answers;

    snprintf(name, sizeof(name), "%d.sock", number);
    fd = cli_folder_connect(folder, name, 0);
    answers = fd >= 0 && ask_server(fd);
    if (fd >= 0) {
        close(fd);
    }
    return answers;
}

void cli_server_log_tail(const char *folder, int number, char *text, size_t size)
{
    char path[FILE_PATH];
    ssize_t n = 0;
    int fd;

    file_path(folder, number, "log", path);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        if (lseek(fd, -(off_t)(size - 1), SEEK_END) < 0) {
            lseek(fd, 0, SEEK_SET);
        }
        n = read(fd, text, size - 1);
        close(fd);
    }
    n = n > 0 ? n : 0;
    while (n > 0 && isspace((unsigned char)text[n - 1])) {
        n--;
    }
    text[n] = '\0';
}

void cli_server_put_uri(FILE *out, const char *folder, int number)
{
    char path[FILE_PATH];
    const unsigned char *p;

    file_path(folder, number, "sock", path);
    fputs("unix://", out);
    for (p = (const unsigned char *)path; *p; p++) {
        fprintf(out, isalnum(*p) || strchr("/._-", *p) ? "%c" : "%%%02X", *p);
    }
}
