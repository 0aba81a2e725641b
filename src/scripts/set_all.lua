-- set_all.lua - set all keys to our token for ttl, or none of them.
--
-- This is the vote for a lock with several keys [S1], and it restores keys that were lost on this
-- master while the lock is held [S8]. A key that has the token already gets the ttl, unless it
-- lives longer [S7].
--
-- KEYS     the keys of the lock, 1 to 16
-- ARGV[1]  the token
-- ARGV[2]  ttl, in milliseconds
-- ARGV[3]  the fencing token; '' or left out for a lock without one
-- ARGV[4]  the reservation that names us: a key with this value counts as free [H2]; left out: none
--
-- Answers  1        the keys are set; at least one of them was not there
--          2        all keys had the token already, and live for ttl or longer
--          a value  the value of a key that somebody else has; nothing is changed
--
-- With a fencing token, the counters of the keys are at least the fencing token afterwards [S12].
-- Uses: effects, keys, counters, due, renewal

local fence = ARGV[3] ~= '' and ARGV[3] or nil
local ours, other = compare_keys(ARGV[1], ARGV[4])
if other then
    return other
end
local short = keys_that_end_before(ARGV[2], ARGV[4])
local due = keys_with_counter_due(fence)
for _, key in ipairs(short) do
    redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
end
set_counters(due, fence)
return #ours == #KEYS and 2 or 1
