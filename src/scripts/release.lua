-- release.lua - delete the keys that have our token [S5].
--
-- KEYS     the keys of the lock, 1 to 16
-- ARGV[1]  the token
--
-- Answers   1    all keys had the token
--           0    some keys were not there
--          -1    some keys have another value
--          -ERR  the first key with another value is no string (WRONGTYPE), or must not be read
--
-- Whatever the answer, the keys that had the token are deleted.
--
-- The counter of a fence stays: it must never fall [S12].
-- Uses: keys

local ours, other = compare_keys(ARGV[1])
if #ours > 0 then
    redis.call('DEL', unpack(ours))
end
if other then
    return type(other) == 'table' and other or -1
end
return #ours == #KEYS and 1 or 0
