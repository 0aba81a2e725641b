-- keep_all.lua - keep.lua for many locks in one call [S7].
--
-- The locks of one call are alike: the same ttl, as many keys each, and all of them with a fencing
-- token or none.
--
-- KEYS     the keys of the first lock, then those of the second one, and so on
-- ARGV[1]  ttl, in milliseconds
-- ARGV[2]  how many keys each lock has
-- ARGV[3]  the token of the first lock; those of the others follow
-- ARGV[n]  behind the tokens, the fencing tokens in the same order; left out for locks without one
--
-- Answers  digits  one for each lock, in their order
--
-- 1: all keys of the lock have the token, and live for ttl or longer. 0: a key lacks the token, and
-- nothing of this lock is changed; keep.lua tells which one, and whose it is.
-- With fencing tokens, the counters of the keys are at least the fencing token afterwards [S12].
-- Uses: effects, counters, due

local ttl, each = ARGV[1], tonumber(ARGV[2])
local locks = #KEYS / each
local fenced = #ARGV > locks + 2

-- A key that is no string is not ours, and must not end the call for all other locks: MGET takes it
-- for one that is not there. One MGET takes half the time of a GET for each key.
local values = redis.pcall('MGET', unpack(KEYS))
for i = 1, values.err and #KEYS or 0 do
    values[i] = redis.pcall('GET', KEYS[i])
end

local function has_token(first, token)
    for i = first, first + each - 1 do
        if values[i] ~= token then
            return false
        end
    end
    return true
end

-- [S7] A key that lives longer is never shortened. GT does that in one call, since Redis 7.0, which
-- is the first to have this number. It leaves a key without a ttl as it is.
local function lengthen(key)
    if redis.REDIS_VERSION_NUM and redis.call('PEXPIRE', key, ttl, 'GT') == 1 then
        return
    end
    if redis.call('PTTL', key) < tonumber(ttl) then
        redis.call('PEXPIRE', key, ttl)
    end
end

local function raise(key, fence)
    if is_counter_due(key, tonumber(fence)) then
        set_counter(key, fence)
    end
end

local answers = {}
for lock = 1, locks do
    local first = (lock - 1) * each + 1
    local ours = has_token(first, ARGV[lock + 2])
    for i = first, ours and first + each - 1 or 0 do
        lengthen(KEYS[i])
        if fenced then
            raise(KEYS[i], ARGV[lock + 2 + locks])
        end
    end
    answers[lock] = ours and '1' or '0'
end
return table.concat(answers)
