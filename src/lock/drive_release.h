/* drive_release.h - drives the release of a lock. */
#ifndef RLK_LOCK_DRIVE_RELEASE_H
#define RLK_LOCK_DRIVE_RELEASE_H

struct redlock_lock;

/* A HELD lock, whose manager is closing, begins to be released; the handle stays its user's. */
void rlk_lock_release_for_close(struct redlock_lock *lock);

#endif
