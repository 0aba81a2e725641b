-- hand_over.lua - reserve the keys that have our token for somebody who waits for them [H1].
--
-- The reservation takes the place of our token. It lives for as long as we ask, and no longer than
-- our key would have lived. It is nobody's lock, and only the waiter that it names may take it.
--
-- KEYS     the keys of the lock, 1 to 16
-- ARGV[1]  the token
-- ARGV[2]  our channel, which is taken out of the wait queues, or '' when we have none
-- ARGV[3]  the reservation
-- ARGV[4]  how long it lives, in milliseconds
-- ARGV[5]  the entry for the audit stream (audit.lua), or left out. It is added when a key had the
--          token.
--
-- Answers   2    all keys had the token, and somebody who waits for one was told
--           1    all keys had the token
--           0    some keys were not there
--          -1    some keys have another value
--          -ERR  the first key with another value is no string (WRONGTYPE), or must not be read
--          {error, answer}  the answer, and why no entry could be added to the audit stream
--
-- Whatever the answer, the keys that had the token are reserved. A master that cannot set the
-- reservation (OOM) deletes the key instead, and wakes the first who waits for it.
-- Uses: effects, queue, waiting, audit

-- Returns for how long the key is reserved; nil: it is deleted.
local function reserve(key)
    local left, life = redis.call('PTTL', key), tonumber(ARGV[4])
    if left >= 0 and left < life then
        life = left
    end
    if life > 0 and redis.pcall('SET', key, ARGV[3], 'PX', life).ok then
        return life
    end
    redis.call('DEL', key)
end

local done, gone, other, told
for _, key in ipairs(KEYS) do
    local value = redis.pcall('GET', key)
    local ours = value == ARGV[1]
    local life = ours and reserve(key)
    done = done or ours
    told = leave(key, ARGV[2], not value or life == nil) or told
    if life then
        told = announce(key, life, ARGV[3]) or told
    elseif value and not ours then
        other = other or value
    elseif not value then
        gone = true
    end
end
local answer = gone and 0 or told and 2 or 1
if other then
    answer = type(other) == 'table' and other or -1
end
return done and audit(5, answer) or answer
