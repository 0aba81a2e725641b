/* testing/folder.h - a temporary folder for sockets.
 *
 * It is locked as long as its process lives. A process that was killed, or that ended with its
 * masters, as a test does that fails, leaves its folder: the next one that makes a folder there
 * removes those that nobody locks. */
#ifndef RLK_TESTING_FOLDER_H
#define RLK_TESTING_FOLDER_H

struct folder {
    char path[256];
    int fd; /* has the lock */
};

/* Make a folder in $TMPDIR or /tmp. Returns 0 or REDLOCK_ESYSTEM, with a text (failure.h). */
int rlk_testing_folder_make(struct folder *f);

/* Remove it; it is empty. */
void rlk_testing_folder_remove(struct folder *f);

#endif
