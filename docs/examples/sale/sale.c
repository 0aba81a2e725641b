/* sale.c - a flash sale: any number of processes sell what is in stock, and never more than that.
 *
 *     sale open shop.db 100
 *     sale buy shop.db anna 'charge-card 9.99'
 *
 * `buy` buys one item after the other until nothing is left; the command is the payment. Start it
 * as often as you like.
 *
 * Where a sale is one transaction of one database, it needs no lock. This one does: between reading
 * the stock and writing it, somebody pays, which takes long and happens elsewhere. The lock makes
 * the others wait for that. But a lock is a lease: a process that is suspended while somebody pays
 * wakes up when others have sold the item. No check of the clock helps, because it may be suspended
 * after the check, too. Therefore the database has the last word: it remembers the largest fencing
 * token that it has seen, and refuses a smaller one.
 */
#include <redlock/redlock.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shop {
    const char *path; /* of the database, and the key of the lock */
    sqlite3 *db;
    struct redlock_sync *s;
    const char *buyer;
    const char *payment;
};

enum outcome {
    DONE,
    SOLD_OUT,
    LATE,
    FAILED
};

/* ---- the database ---- */

static const char tables[] = "CREATE TABLE stock (left INTEGER NOT NULL, fence INTEGER NOT NULL);"
                             "CREATE TABLE orders (item INTEGER, buyer TEXT, fence INTEGER);";

static int complain(struct shop *shop)
{
    fprintf(stderr, "the database: %s\n", sqlite3_errmsg(shop->db));
    return -1;
}

/* Run a statement in which ?1 is the fencing token, ?2 the item and ?3 the buyer. Returns the
 * number of rows that it has changed, or the number that it has read; -1 for an error. */
static sqlite3_int64 run(struct shop *shop, const char *sql, uint64_t fence, sqlite3_int64 item)
{
    sqlite3_stmt *statement = NULL;
    sqlite3_int64 result = -1;
    int n, code;

    if (sqlite3_prepare_v2(shop->db, sql, -1, &statement, NULL) != SQLITE_OK) {
        return complain(shop);
    }
    n = sqlite3_bind_parameter_count(statement);
    if ((n >= 1 && sqlite3_bind_int64(statement, 1, (sqlite3_int64)fence) != SQLITE_OK) ||
        (n >= 2 && sqlite3_bind_int64(statement, 2, item) != SQLITE_OK) ||
        (n >= 3 && sqlite3_bind_text(statement, 3, shop->buyer, -1, SQLITE_STATIC) != SQLITE_OK)) {
        complain(shop);
    } else if ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        result = sqlite3_column_int64(statement, 0);
    } else if (code == SQLITE_DONE) {
        result = sqlite3_changes(shop->db);
    } else {
        complain(shop);
    }
    sqlite3_finalize(statement);
    return result;
}

/* Announce the fencing token before reading. Otherwise the holder before us may still write between
 * our reading and our writing, and we would undo that unseen. */
static enum outcome read_stock(struct shop *shop, uint64_t fence, sqlite3_int64 *ret_left)
{
    sqlite3_int64 rows = run(shop, "UPDATE stock SET fence = ?1 WHERE fence <= ?1", fence, 0);

    if (rows != 1) {
        return rows == 0 ? LATE : FAILED;
    }
    *ret_left = run(shop, "SELECT left FROM stock", 0, 0);
    return *ret_left < 0 ? FAILED : *ret_left == 0 ? SOLD_OUT : DONE;
}

/* The number of changed rows is the answer of the token: 0 means that a later holder was here. */
static enum outcome write_order(struct shop *shop, uint64_t fence, sqlite3_int64 item)
{
    sqlite3_int64 rows;

    if (run(shop, "BEGIN IMMEDIATE", 0, 0) < 0) {
        return FAILED;
    }
    rows = run(shop, "UPDATE stock SET left = ?2 - 1, fence = ?1 WHERE fence <= ?1", fence, item);
    if (rows == 1 && run(shop, "INSERT INTO orders VALUES (?2, ?3, ?1)", fence, item) == 1 &&
        run(shop, "COMMIT", 0, 0) >= 0) {
        return DONE;
    }
    run(shop, "ROLLBACK", 0, 0);
    return rows == 0 ? LATE : FAILED;
}

static int open_database(struct shop *shop)
{
    if (sqlite3_open(shop->path, &shop->db) != SQLITE_OK ||
        sqlite3_busy_timeout(shop->db, 60000) != SQLITE_OK) {
        return complain(shop);
    }
    return 0;
}

/* ---- a purchase ---- */

static enum outcome buy_under_lock(struct shop *shop, uint64_t fence)
{
    sqlite3_int64 left;
    enum outcome outcome = read_stock(shop, fence, &left);

    if (outcome != DONE) {
        return outcome;
    }
    if (system(shop->payment) != 0) {
        fprintf(stderr, "%s does not pay for %lld\n", shop->buyer, (long long)left);
        return FAILED;
    }
    outcome = write_order(shop, fence, left);
    if (outcome != DONE) {
        printf("%s is too late for %lld: give the money back\n", shop->buyer, (long long)left);
    } else {
        printf("%s has bought %lld\n", shop->buyer, (long long)left);
    }
    return outcome;
}

static enum outcome buy(struct shop *shop)
{
    struct redlock_sync_lock *lock;
    struct redlock_request request;
    enum outcome outcome;
    int status;

    redlock_request_init(&request);
    request.key = shop->path;
    request.owner = shop->buyer;
    request.ttl_ms = 2000; /* it is renewed while somebody pays */
    request.wait_ms = REDLOCK_FOREVER;
    request.fencing = 1;
    status = redlock_sync_acquire(shop->s, &request, NULL, &lock);
    if (status) {
        fprintf(stderr, "%s; %s\n", redlock_strerror(status), redlock_sync_error_text());
        return FAILED;
    }
    outcome = buy_under_lock(shop, redlock_sync_lock_fencing_token(lock));
    redlock_sync_release(lock);
    return outcome;
}

/* To the masters that redlock(1) uses: those of REDLOCK_NODES or /etc/redlock/nodes. */
static int connect_masters(struct redlock_sync **ret_s)
{
    struct redlock_options options;
    struct redlock_settings *settings;
    char why[512] = "";
    int status;

    redlock_options_init(&options);
    options.error_text = why;
    options.error_text_size = sizeof(why);
    if ((status = redlock_settings_read(&options, &settings)) == 0) {
        status = redlock_sync_new(&options, ret_s);
        redlock_settings_free(settings);
    }
    if (status) {
        fprintf(stderr, "%s\n", why[0] ? why : redlock_strerror(status));
    }
    return status;
}

static int buy_all(struct shop *shop)
{
    enum outcome outcome;

    if (connect_masters(&shop->s) != 0) {
        return 1;
    }
    do {
        outcome = buy(shop);
    } while (outcome == DONE || outcome == LATE);
    redlock_sync_close(shop->s);
    return outcome == SOLD_OUT ? 0 : 1;
}

static int open_shop(struct shop *shop, sqlite3_int64 stock)
{
    if (sqlite3_exec(shop->db, tables, NULL, NULL, NULL) != SQLITE_OK) {
        complain(shop);
        return 1;
    }
    return run(shop, "INSERT INTO stock VALUES (?2, ?1)", 0, stock) == 1 ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct shop shop = {.path = argc > 2 ? argv[2] : NULL};
    int status = 1;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 4 && strcmp(argv[1], "open") == 0) {
        if (open_database(&shop) == 0) {
            status = open_shop(&shop, atoll(argv[3]));
        }
    } else if (argc == 5 && strcmp(argv[1], "buy") == 0) {
        shop.buyer = argv[3];
        shop.payment = argv[4];
        if (open_database(&shop) == 0) {
            status = buy_all(&shop);
        }
    } else {
        fprintf(stderr, "usage: sale open DB STOCK | sale buy DB BUYER PAYMENT\n");
        return 64;
    }
    sqlite3_close(shop.db);
    return status;
}
