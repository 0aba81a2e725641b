-- fence.sql - let a database refuse a stale holder.
--
-- :fence is the fencing token of the lock, from redlock_lock_fencing_token() or $REDLOCK_FENCING_TOKEN. Each guarded UPDATE
-- compares it and stores it in one step. The row count is the answer: 1 means yes; 0 means that a
-- later holder has been here (or that there is no such row): then change nothing, and end.
-- fence_sql.py runs exactly these statements.

-- ---- One row, with its fencing token -------------------------------------------------------

-- name: create_document
CREATE TABLE document (
    name  VARCHAR(255) PRIMARY KEY,
    body  TEXT NOT NULL,
    fence BIGINT NOT NULL DEFAULT 0
);

-- Announce the token before you read in order to write. Otherwise the previous holder may still
-- write between this read and our write, and our write would undo that unseen.
-- name: announce
UPDATE document SET fence = :fence WHERE name = :name AND fence <= :fence;

-- name: read
SELECT body FROM document WHERE name = :name;

-- An equal token is allowed: a holder may come again, or repeat a request that got no answer.
-- name: write
UPDATE document SET body = :body, fence = :fence WHERE name = :name AND fence <= :fence;

-- ---- Many rows, guarded by one row for each resource ---------------------------------------

-- name: create_account
CREATE TABLE account (
    name    VARCHAR(255) PRIMARY KEY,
    balance BIGINT NOT NULL
);

-- A resource has its row here from the beginning, with the token 0, and keeps it permanently.
-- name: create_fences
CREATE TABLE fences (
    resource VARCHAR(255) PRIMARY KEY,
    fence    BIGINT NOT NULL
);

-- The first statement of a transaction, once for each resource (in the same order everywhere).
-- The row stays locked until COMMIT or ROLLBACK, so nobody gets between it and what follows.
-- name: guard
UPDATE fences SET fence = :fence WHERE resource = :resource AND fence <= :fence;

-- Whatever is to be done, reading included; for example:
-- name: withdraw
UPDATE account SET balance = balance - :amount WHERE name = :name AND balance >= :amount;

-- name: deposit
UPDATE account SET balance = balance + :amount WHERE name = :name;

-- ---- Elsewhere ------------------------------------------------------------------------------
--
-- PostgreSQL: no change needed at READ COMMITTED: an UPDATE that waited for a row compares again
-- with what it finds then. At REPEATABLE READ and SERIALIZABLE it fails with 40001 instead; then
-- repeat the whole transaction. synchronous_commit must be on, or a crash loses both.
--
-- MySQL and MariaDB: InnoDB, in one transaction (autocommit is off, or START TRANSACTION, but not
-- WITH CONSISTENT SNAPSHOT: the read has to come after the guard). Connect with CLIENT_FOUND_ROWS:
-- without it the row count leaves out rows that do not change, and the second guard of the same
-- holder looks like a refusal.
--
-- All: check no token on a replica. A failover that loses the last commits loses tokens, too.
