-- release.lua - delete the keys that have our token [S5].
--
-- KEYS     the keys of the lock, 1 to 16
-- ARGV[1]  the token
-- ARGV[2]  our channel, which is taken out of the wait queues; '' or left out when we have none;
--          '-' after a lost round: then nobody is woken
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
-- Whatever the answer, the keys that had the token are deleted. If a key is free now, the first
-- client that waits for it is woken, unless ARGV[2] is '-'.
--
-- The counter of a fencing token stays: it must never fall [S12].

-- An entry has the time of this master: below Redis 7 a replay of the script would give it another.
if ARGV[3] and redis.replicate_commands then
    redis.replicate_commands()
end

-- Uses: queue

-- Every release runs this part, and few go further. So this part makes no function and no table,
-- and only checks whether anybody waits.
local deleted, gone, other, queued
for i = 1, #KEYS do
    local value = redis.pcall('GET', KEYS[i])
    if value == ARGV[1] then
        redis.call('DEL', KEYS[i])
        deleted = true
    elseif value then
        other = other or value
    else
        gone = true
    end
    if ARGV[2] ~= '-' and redis.pcall('EXISTS', KEYS[i] .. waiting_suffix) ~= 0 then
        queued = true
    end
end
local answer = gone and 0 or 1
if other then
    answer = type(other) == 'table' and other or -1
end
if queued then
    -- Uses: waiting
    for i = 1, #KEYS do
        local woken = leave(KEYS[i], ARGV[2] or '', not redis.pcall('GET', KEYS[i]))
        if woken and answer == 1 then
            answer = 2
        end
    end
end
if ARGV[3] and (deleted or ARGV[6] == 'lost') then
    -- Uses: audit
    return audit(3, answer)
end
return answer
