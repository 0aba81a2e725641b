/* drive_release.h - drives the release of a lock. */
#ifndef RLK_LOCK_DRIVE_RELEASE_H
#define RLK_LOCK_DRIVE_RELEASE_H

struct redlock_lock;

/* Begin to release a HELD lock because its manager closes. The user still owns the handle. */
void rlk_lock_release_for_close(struct redlock_lock *lock);

#endif
