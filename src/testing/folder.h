/* testing/folder.h - a temporary folder for sockets.
 *
 * It is locked as long as its process lives. A process that was killed, or that ended without
 * freeing its masters, such as a test that fails, leaves its folder behind. The next process that
 * makes a folder in the same place removes the folders that are not locked. */
#ifndef RLK_TESTING_FOLDER_H
#define RLK_TESTING_FOLDER_H

struct folder {
    char path[256];
    int fd; /* holds the lock */
};

/* Make a folder in $TMPDIR or /tmp. Returns 0 or REDLOCK_ESYSTEM, with a text (failure.h). */
int rlk_testing_folder_make(struct folder *f);

/* Remove the folder, which must be empty. */
void rlk_testing_folder_remove(struct folder *f);

#endif
