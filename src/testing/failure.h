/* testing/failure.h - what redlock_testing_error_text() says. */
#ifndef RLK_TESTING_FAILURE_H
#define RLK_TESTING_FAILURE_H

/* Set the text of this thread, and return the status. */
__attribute__((format(printf, 2, 3))) int rlk_testing_failure(int status, const char *format, ...);

#endif
