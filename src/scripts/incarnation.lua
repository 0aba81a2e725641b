-- incarnation.lua - read or write the incarnation key, and return the time and the record of the
-- masters [S11, S15].
--
-- The value of the key is "run mark born": the server's run that wrote it, a random mark that
-- stays as long as the data do, and since when the data are there, by this server's clock in
-- microseconds.
--
-- KEYS[1]  the incarnation key
-- ARGV[1]  the run of this server
-- ARGV[2]  a fresh mark, for a server without one
-- ARGV[3]  1 when data survive a restart of this server, 0 when not
-- ARGV[4]  the earliest birth that the key may have, in microseconds: records a clock step
-- ARGV[5]  the key of the record; '' to do without
--
-- Answers  {value, now}          the value of the key, and the time of this server in microseconds
--          {value, now, record}  the value of the key of the record, nil or an error
-- Uses: effects

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local value = redis.call('GET', KEYS[1])
local run, mark, born = string.match(value or '', '^(%S+) (%x+) (%d+)$')
local from = now

-- Only the key proves since when the data are there. The birth of data that were kept never becomes
-- earlier, and is never later than now. So after the clock was set back it is now, and clients that
-- do not know this server wait from now on.
if born and (run == ARGV[1] or ARGV[3] == '1') then
    from = math.min(math.max(tonumber(born), tonumber(ARGV[4])), now)
end
local wanted = string.format('%s %s %.0f', ARGV[1], mark or ARGV[2], from)

-- When only the birth has changed and it cannot be written (out of memory), this call returns its
-- answer all the same, and a later call writes the birth.
if run ~= ARGV[1] then
    redis.call('SET', KEYS[1], wanted)
    value = wanted
elseif wanted ~= value and redis.pcall('SET', KEYS[1], wanted).ok then
    value = wanted
end
if ARGV[5] == '' then
    return {value, string.format('%.0f', now)}
end
-- No key of this call: where we must not read the record, all else goes on without it.
return {value, string.format('%.0f', now), redis.pcall('GET', ARGV[5])}
