-- swap.lua - put another token in the place of one, and leave the ttl of the key as it is.
--
-- KEYS     the key of a lock
-- ARGV[1]  the token that takes the place
-- ARGV[2]  the token that the key must have
-- ARGV[3]  the entry for the audit stream (audit.lua), or left out
--
-- Answers  1 or more  done: for how many ms the key lives on, as before
--          0          the key is not there, or ends in this ms; nothing is changed
--          -1         the key never ends; nothing is changed
--          a value    the value of the key, when it is another one; nothing is changed
--          {error, answer}  the answer, and why no entry could be added to the audit stream
-- Uses: effects, audit

local value = redis.call('GET', KEYS[1])
if value ~= ARGV[2] then
    return value or 0
end
local left = redis.call('PTTL', KEYS[1])
if left < 1 then
    return left
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', left)
return audit(3, left)
