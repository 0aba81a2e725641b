-- set_all.lua - set all keys to our token for ttl, or none of them.
--
-- This is the vote for a lock with several keys [S1], and it restores keys that were lost on this
-- master while the lock is held [S8]. A key that has the token already gets the ttl, unless it
-- lives longer [S7].
--
-- KEYS     the keys of the lock, 1 to 16
-- ARGV[1]  the token
-- ARGV[2]  ttl, in milliseconds
-- ARGV[3]  the fencing token; left out, or '', for a lock without one
-- ARGV[4]  the reservation that names us: a key with this value counts as free [H2]; left out, or '':
--          none
-- ARGV[5]  the entry for the audit stream (audit.lua), or left out
--
-- Answers  1        the keys are set; at least one of them was not there
--          2        all keys had the token already, and live for ttl or longer
--          a value  the value of a key that somebody else has; nothing is changed
--          {error, answer}  the answer, and why no entry could be added to the audit stream
--
-- With a fencing token, the counters of the keys are at least the fencing token afterwards [S12].
-- Uses: effects, keys, counters, due, renewal, audit

local fence = ARGV[3] ~= '' and ARGV[3] or nil
local free = ARGV[4] ~= '' and ARGV[4] or nil
local ours, other = compare_keys(ARGV[1], free)
if other then
    return other
end
local short = keys_that_end_before(ARGV[2], free)
local due = keys_with_counter_due(fence)
for _, key in ipairs(short) do
    redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
end
for _, key in ipairs(due) do
    set_counter(key, fence)
end
if #ours == #KEYS then
    return 2
end
return audit(5, 1)
