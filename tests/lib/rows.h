/* lib/rows.h - a table whose rows are tests, each by the name of its claim. */
#ifndef RLK_TESTS_LIB_ROWS_H
#define RLK_TESTS_LIB_ROWS_H

#include <check.h>

#define N_ROWS(table) (sizeof(table) / sizeof((table)[0]))

/* Add a START_TEST() to a case once for each row of a table. The test finds the number of its row
 * in _i, and is printed under the `claim` of that row. */
#define tcase_add_rows(tcase, test, table)                                                         \
    do {                                                                                           \
        static TTest rows_of_table[N_ROWS(table)];                                                 \
        size_t row_of_table;                                                                       \
                                                                                                   \
        for (row_of_table = 0; row_of_table < N_ROWS(table); row_of_table++) {                     \
            rows_of_table[row_of_table] = *(test);                                                 \
            rows_of_table[row_of_table].name = (table)[row_of_table].claim;                        \
            _tcase_add_test((tcase), &rows_of_table[row_of_table], 0, 0, (int)row_of_table,        \
                            (int)row_of_table + 1);                                                \
        }                                                                                          \
    } while (0)

#endif
