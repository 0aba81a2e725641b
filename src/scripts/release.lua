-- release.lua - delete the keys that have our token [S5].
--
-- KEYS     the keys of the lock, 1 to 16
-- ARGV[1]  the token
-- ARGV[2]  our channel, which is taken out of the waiting lists, or '' when we have none; left out
--          for a round that was lost, which wakes nobody
--
-- Answers   2    all keys had the token, and somebody who waits for one was woken
--           1    all keys had the token
--           0    some keys were not there
--          -1    some keys have another value
--          -ERR  the first key with another value is no string (WRONGTYPE), or must not be read
--
-- Whatever the answer, the keys that had the token are deleted. With ARGV[2], the first who waits
-- for a key is woken if the key is free now.
--
-- The counter of a fence stays: it must never fall [S12].
-- Uses: keys, waiting

local ours, other = compare_keys(ARGV[1])
if #ours > 0 then
    redis.call('DEL', unpack(ours))
end
local woken = false
for _, key in ipairs(ARGV[2] and KEYS or {}) do
    woken = leave(key, ARGV[2], not (other and redis.pcall('GET', key))) or woken
end
if other then
    return type(other) == 'table' and other or -1
end
return #ours < #KEYS and 0 or woken and 2 or 1
