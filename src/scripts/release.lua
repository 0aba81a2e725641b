-- release.lua - delete the keys that have our token [S5].
--
-- KEYS     the keys of the lock, 1 to 16
-- ARGV[1]  the token
--
-- Answers   1    all keys had the token, and are deleted
--           0    some keys were not there; those with the token are deleted
--          -1    some keys have another value; those with the token are deleted
--          -ERR  the first of these is no string (WRONGTYPE), or must not be read; likewise
--
-- A counter of fences stays: it must never fall [S12].
-- Uses: keys

local ours, other = compare_keys(ARGV[1])
if #ours > 0 then
    redis.call('DEL', unpack(ours))
end
if other then
    return type(other) == 'table' and other or -1
end
return #ours == #KEYS and 1 or 0
