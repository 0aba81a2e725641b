-- effects.lua - replicate what the script writes instead of the script itself.
--
-- Below Redis 7 a script may be replicated as a whole, and may then not write once it has asked for
-- PTTL or TIME. Redis has redis.replicate_commands() from 3.2 on, Valkey always.
if redis.replicate_commands then
    redis.replicate_commands()
end
