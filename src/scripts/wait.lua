-- wait.lua - enter the wait queue of a key, or learn that it is our turn.
--
-- KEYS     the keys of the lock, 1 to 16
-- ARGV[1]  our channel
-- ARGV[2]  how long we have waited, in microseconds; at most a day counts
-- ARGV[3]  1 when we have just released the keys: then it is not our turn in any case; 0 otherwise
-- ARGV[4]  how long the list lives after this call, in milliseconds
--
-- Answers  {0, -2, ''}          it is our turn: the keys are free, and nobody is before us
--          {place, left, value}  we are in the list of a key, at this place, from 1
--          {-1, left, value}     that list is full, and we are not in it
--          -ERR                  the list cannot be written (WRONGTYPE, OOM, no right to do it)
--
-- We are in one list: that of the first key with a value. When all keys are free and somebody else
-- is before us, that one is woken, and we stay in that list. Somebody who was woken is in no list,
-- and is still before all who have later tickets: if it asks again, it is its turn.
--
-- A list is in the order of the tickets: since when each of them waits, by our clock. No clock of a
-- client matters, so the lists of all masters are in the same order, except for clients that began
-- to wait within the time that a message takes. Who was woken in vain has its place back.
--
-- A channel that is in the list keeps its ticket, or gets an earlier one: an earlier call may have
-- been under way for longer, or our clock was set back since.
--
-- `left` is the ttl of the key in milliseconds: -1 when it has none, -2 when it is free. `value` is
-- its value: '' when it is free, or no string.
--
-- Uses: effects, queue, waiting

local ours, yields = ARGV[1], ARGV[3] == '1'
local time = redis.call('TIME')
local waited = math.min(tonumber(ARGV[2]), 86400000000)
local ticket = time[1] * 1000000 + time[2] - waited

-- Returns the key whose list we enter, and its value; nil when it is our turn.
local function find_key()
    for _, key in ipairs(KEYS) do
        local value = redis.pcall('GET', key)
        if value then
            return key, value
        end
    end
    if yields then
        return KEYS[1]
    end
    for _, key in ipairs(KEYS) do
        if wake(key, ours, ticket) then
            return key
        end
    end
end

-- Returns the place, or -1 when the list is full.
local function enter(list)
    local has = redis.call('ZSCORE', list, ours)
    if not has and redis.call('ZCARD', list) >= 1024 then
        return -1
    end
    if not has or tonumber(has) > ticket then
        redis.call('ZADD', list, string.format('%.0f', ticket), ours)
    end
    return redis.call('ZRANK', list, ours) + 1
end

local wanted, value = find_key()
for _, key in ipairs(yields and {} or KEYS) do
    if key ~= wanted then
        leave(key, ours, wanted and not redis.pcall('GET', key))
    end
end
if not wanted then
    return {0, -2, ''}
end
local list = wanted .. waiting_suffix
local place = enter(list)
if place > 0 then
    redis.call('PEXPIRE', list, ARGV[4])
end
return {place, redis.call('PTTL', wanted), type(value) == 'string' and value or ''}
