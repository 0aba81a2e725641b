/* replay.c - runs a fuzz target over the files of its corpus, as plain tests.
 *
 *     replay_round corpus/round            every file of the folder, one line of TAP each
 *     replay_round crash-0f3a...           that file alone
 *
 * Each file runs in a process of its own: one that breaks a rule, crashes, leaks (under the
 * sanitizers) or hangs is "not ok", and the others go on. With FUZZ_FORK=no nothing is forked,
 * for a debugger. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"
#include "lib/place.h"

/* Seconds for one file; each takes milliseconds. */
#define PATIENCE_S 60

struct input {
    uint8_t *data;
    size_t size;
};

static struct input read_input(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct input in = {NULL, 0};
    size_t got, room = 0;

    if (file == NULL) {
        perror(path);
        exit(2);
    }
    do {
        if (in.size == room) {
            room = room ? room * 2 : 4096;
            in.data = realloc(in.data, room);
            if (in.data == NULL) {
                abort();
            }
        }
        got = fread(in.data + in.size, 1, room - in.size, file);
        in.size += got;
    } while (got > 0);
    fclose(file);
    return in;
}

/* Exactly as much memory as there is input, so that a read beyond it is noticed. */
static int run(const char *path)
{
    struct input in = read_input(path);
    uint8_t *exact = malloc(in.size ? in.size : 1);

    if (exact == NULL) {
        abort();
    }
    memcpy(exact, in.data, in.size);
    free(in.data);
    LLVMFuzzerTestOneInput(exact, in.size);
    free(exact);
    return 0;
}

/* No core file: the broken rule is printed, and the input is there. */
static void prepare_child(void)
{
    struct rlimit none = {0, 0};

    setrlimit(RLIMIT_CORE, &none);
    signal(SIGABRT, SIG_DFL);
    alarm(PATIENCE_S);
}

static int run_apart(const char *path)
{
    pid_t child;
    int status = 0;

    fflush(NULL);
    child = fork();
    if (child < 0) {
        perror("fork");
        exit(2);
    }
    if (child == 0) {
        prepare_child();
        exit(run(path)); /* exit and not _exit: it looks for leaks */
    }
    while (waitpid(child, &status, 0) < 0) {
    }
    return status;
}

/* The line of TAP. Returns whether it passes. */
static bool replay(const char *path, int number)
{
    const char *fork_wanted = getenv("FUZZ_FORK"), *slash = strrchr(path, '/');
    int status = fork_wanted && strcmp(fork_wanted, "no") == 0 ? run(path) : run_apart(path);
    char program[300], input[4096];

    printf("%s %d - %s\n", status ? "not ok" : "ok", number, slash ? slash + 1 : path);
    if (WIFSIGNALED(status)) {
        printf("# ended by signal %d, %s\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
    }
    if (status) {
        place_of_program(program, sizeof(program));
        place_of_file(path, input, sizeof(input));
        printf("# repeat: %s %s\n", program, input);
    }
    return status == 0;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* How many failed. */
static int replay_folder(const char *folder)
{
    struct dirent **files;
    int n = scandir(folder, &files, is_visible, alphasort), i, failed = 0;
    char path[4096];

    if (n <= 0) {
        fprintf(stderr, "%s: no corpus\n", folder);
        exit(2);
    }
    printf("1..%d\n", n);
    for (i = 0; i < n; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, files[i]->d_name);
        failed += !replay(path, i + 1);
        free(files[i]);
    }
    free(files);
    return failed;
}

int main(int argc, char **argv)
{
    struct stat st;

    if (argc != 2 || stat(argv[1], &st)) {
        fprintf(stderr, "usage: %s FOLDER|FILE\n", argv[0]);
        return 2;
    }
    if (S_ISDIR(st.st_mode)) {
        return replay_folder(argv[1]) ? 1 : 0;
    }
    printf("1..1\n");
    return replay(argv[1], 1) ? 0 : 1;
}
