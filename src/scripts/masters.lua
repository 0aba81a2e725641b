-- masters.lua - promise a ballot, and accept a record of the masters under it [M1].
--
-- The value of the key is "number id since", a line end, and the record, if there is one: the ballot
-- that this server has promised, and since when it has had the record, by its own clock in
-- microseconds. The record begins with "1 number id ": the ballot under which it was accepted. When
-- the key has promised a later ballot than ours, nothing is done.
--
-- KEYS[1]  the key of the record
-- ARGV[1]  the number of the ballot
-- ARGV[2]  its id: 16 hex digits
-- ARGV[3]  the record to accept, which has that ballot; '' to promise only
--
-- Answers  {value, now}  the value of the key from now on, and this server's time in microseconds
-- Uses: effects

local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000000 + time[2])
local value = redis.call('GET', KEYS[1]) or ''
local number, id, since, record = string.match(value, '^(%d+) (%x+) (%d+)\n(.*)$')

-- The ids have the same length, so they are compared as text.
if number then
    local promised, ours = tonumber(number), tonumber(ARGV[1])
    if promised > ours or (promised == ours and id > ARGV[2]) then
        return {value, now}
    end
end

-- What the record says, without who wrote it.
local function content(text)
    return string.match(text or '', '^1 %d+ %x+ (.*)$')
end

if ARGV[3] ~= '' then
    since = content(record) == content(ARGV[3]) and since or now
    record = ARGV[3]
end
value = string.format('%s %s %s\n%s', ARGV[1], ARGV[2], since or now, record or '')
redis.call('SET', KEYS[1], value)
return {value, now}
