-- release.lua - delete the keys that have our token [S5].
--
-- KEYS     the keys of the lock, 1 to 16
-- ARGV[1]  the token
-- ARGV[2]  our channel, which is taken out of the wait queues, or '' when we have none; left out
--          for a round that was lost, which wakes nobody; so does '-'
-- ARGV[3]  the entry for the audit stream (audit.lua), or left out. It is added when a key was
--          deleted, and also when the event (ARGV[6]) is 'lost'.
--
-- Answers   2    all keys had the token, and somebody who waits for one was woken
--           1    all keys had the token
--           0    some keys were not there
--          -1    some keys have another value
--          -ERR  the first key with another value is no string (WRONGTYPE), or must not be read
--          {error, answer}  the answer, and why no entry could be added to the audit stream
--
-- Whatever the answer, the keys that had the token are deleted. With ARGV[2], the first who waits
-- for a key is woken if the key is free now.
--
-- The counter of a fencing token stays: it must never fall [S12].
-- Uses: waiting, audit

-- Each release of every lock runs this: so it makes no table, and asks once whether there is a list.
-- An entry has the time of this master: below Redis 7 a replay of the script would give it another.
if ARGV[3] and redis.replicate_commands then
    redis.replicate_commands()
end
local channel = ARGV[2] ~= '-' and ARGV[2]
local deleted, gone, other, woken
for _, key in ipairs(KEYS) do
    local value = redis.pcall('GET', key)
    if value == ARGV[1] then
        redis.call('DEL', key)
        value, deleted = false, true
    elseif value then
        other = other or value
    else
        gone = true
    end
    if channel and redis.pcall('EXISTS', key .. waiting_suffix) ~= 0 then
        local _, leave = waiting(waiting_suffix)
        woken = leave(key, channel, not value) or woken
    end
end
local answer = gone and 0 or woken and 2 or 1
if other then
    answer = type(other) == 'table' and other or -1
end
if ARGV[3] and (deleted or ARGV[6] == 'lost') then
    return audit(3, answer)
end
return answer
