"""How a game lies in the store: its keys, their values, and the scripts that change them.

    key                                 type    value
    ----------------------------------  ------  --------------------------------------------------------------------
    sodafountain:{<game id>}:game       hash    v           format of all keys of this game: 1
                                                head        <version>-<nonce> of the newest commit
                                                snapshot    the state, opaque
                                                decisions   the open decisions, opaque
                                                meta        what never changes, opaque
                                                expires_at  when all keys of the game expire, Unix ms
                                                Without a head it is the tombstone of a deleted game (v only).
    sodafountain:{<game id>}:log        stream  one entry a commit, entry id <version>-1 (0-0 is no entry id):
                                                n  nonce    s  seat, empty for the creation
                                                m  move     e  events, both opaque
    sodafountain:{<game id>}:requests   hash    <request>   <version>:<payload> of every committed request
    sodafountain:request:<request hex>  string  the id of the game that this NewGame request creates; where there is a
                                                quota for half a minute at first, and for long before it is created
    sodafountain:{key:<owner>}:live     zset    the games that count as live for an API key, by when each is to be
                                                looked at, Unix ms; only where there is a quota
    sodafountain:{key:<owner>}:made     zset    the games that it made within the window, by when, Unix ms; likewise

    sodafountain:{<game id>}:hint       channel the new head after a commit, empty after a deletion

The hash tag puts a game's keys into one slot of a cluster, so that one script can change them together. They expire at
the same millisecond. An API key's two lie in a slot of their own. `live` never expires, since its games may live for
ever: it has as many entries as the quota allows, and what it says of a game is checked when it matters. The layout is a
promise: whoever changes it raises `FORMAT`, goes on reading the format before and writes that one until every replica
reads the new one.

A script makes its first write, the log entry, before any other: it is the one that a full server, a replica or a
version already in the log refuses, and then nothing has changed. Servers replicate what a script wrote and not the
script, so that the server's clock may be read in it.
"""

from hashlib import sha1
from typing import Final, NamedTuple

FORMAT: Final = b"1"

RECORD: Final = ("v", "head", "snapshot", "decisions", "meta", "expires_at")
"""The fields of a game's hash, in the order in which scripts and reads return them."""


class Keys(NamedTuple):
    """The keys of a game."""

    game: str
    log: str
    requests: str
    hint: str


def keys_of(game_id: str) -> Keys:
    """Names the keys of a game."""
    stem = f"sodafountain:{{{game_id}}}:"
    return Keys(stem + "game", stem + "log", stem + "requests", stem + "hint")


def game_of(channel: str) -> str:
    """Names the game of a channel of hints."""
    return channel.partition("{")[2].partition("}")[0]


def reservation_key(request: bytes) -> str:
    """Names the key under which a NewGame request holds its game's id."""
    return f"sodafountain:request:{request.hex()}"


class OwnerKeys(NamedTuple):
    """The keys of whoever makes games."""

    live: str
    made: str


def keys_of_owner(owner: str) -> OwnerKeys:
    """Names the keys of an API key by its name, or (empty) of everybody where there are no API keys."""
    stem = f"sodafountain:{{key:{owner}}}:"  # no game's id has a colon
    return OwnerKeys(stem + "live", stem + "made")


class Script(NamedTuple):
    """A script for the server, with the hash by which the server knows it once it has seen it."""

    source: str
    sha: str


def _script(body: str) -> Script:
    source = _PRELUDE + body
    return Script(source, sha1(source.encode()).hexdigest())  # noqa: S324  # the protocol's name for a script, no secret


_PRELUDE: Final = """
local function record()
  return redis.call('HMGET', KEYS[1], 'v', 'head', 'snapshot', 'decisions', 'meta', 'expires_at')
end
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function append(version, nonce, seat, move, events)
  redis.call('XADD', KEYS[2], version .. '-1', 'n', nonce, 's', seat, 'm', move, 'e', events)
end
local function expire_at(moment)
  for i = 1, #KEYS do redis.call('PEXPIREAT', KEYS[i], moment) end
end
local function hint(channel, head)
  -- A user without right to the channel must not make a commit fail half-way.
  redis.pcall('PUBLISH', channel, head)
end
"""

RESERVE: Final = _script("""
-- KEYS: reservation
-- ARGV: 1 game id, 2 ttl, 3 how long a reservation lives at most that is for a while only
local holder = redis.call('GET', KEYS[1])
if holder == ARGV[1] and redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[3]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return holder
end
if holder then
  -- Changes nothing but is a write, so that waiting for replicas covers what the first caller wrote.
  redis.call('SET', KEYS[1], holder, 'KEEPTTL')
  return holder
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]
""")

DROP: Final = _script("""
-- KEYS: reservation
-- ARGV: 1 game id, 2 how long a reservation lives at most that is for a while only
if redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[2]) then
  redis.call('DEL', KEYS[1])
end
return 0
""")

CREATE: Final = _script("""
-- KEYS: game, log
-- ARGV: 1 format, 2 head, 3 snapshot, 4 decisions, 5 meta
--       6 version, 7 nonce, 8 seat, 9 move, 10 events, 11 ttl, 12 ttl of a tombstone
local stored = record()
if stored[2] then
  -- Changes nothing but is a write, so that waiting for replicas covers what the first caller wrote.
  redis.call('PEXPIREAT', KEYS[1], stored[6])
  return {'EXISTS', unpack(stored)}
end
if stored[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[12])  -- it outlives whoever goes on asking for it
  return {'GONE'}
end
local expires_at = string.format('%.0f', now() + ARGV[11])
append(ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10])
redis.call('HSET', KEYS[1], 'v', ARGV[1], 'head', ARGV[2], 'snapshot', ARGV[3],
  'decisions', ARGV[4], 'meta', ARGV[5], 'expires_at', expires_at)
expire_at(expires_at)
return {'OK', expires_at}
""")

COMMIT: Final = _script("""
-- KEYS: game, log, requests
-- ARGV: 1 format, 2 expected head, 3 new head, 4 snapshot, 5 decisions
--       6 version, 7 nonce, 8 seat, 9 move, 10 events
--       11 request, 12 payload, 13 ttl, 14 channel
local stored = redis.call('HMGET', KEYS[1], 'v', 'head')
if not stored[2] then return {'GONE'} end
if stored[1] ~= ARGV[1] then return {'FORMAT', stored[1]} end
local expires_at = string.format('%.0f', now() + ARGV[13])
local known = redis.call('HGET', KEYS[3], ARGV[11])
if known then
  local colon = string.find(known, ':', 1, true)
  if string.sub(known, colon + 1) ~= ARGV[12] then return {'REUSED'} end
  -- A caller that knows an older state may ask for a shorter life than the game has: a repeat never shortens it. And
  -- a full server refuses the field, but must not refuse the answer: the expiry then stays as it is.
  local stored_expiry = redis.call('HGET', KEYS[1], 'expires_at')
  if tonumber(stored_expiry) > tonumber(expires_at)
      or type(redis.pcall('HSET', KEYS[1], 'expires_at', expires_at)) == 'table' then
    expires_at = stored_expiry
  end
  expire_at(expires_at)
  return {'REPEAT', string.sub(known, 1, colon - 1), unpack(record())}
end
if stored[2] ~= ARGV[2] then return {'STALE', unpack(record())} end
append(ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10])
redis.call('HSET', KEYS[1], 'head', ARGV[3], 'snapshot', ARGV[4], 'decisions', ARGV[5], 'expires_at', expires_at)
redis.call('HSET', KEYS[3], ARGV[11], ARGV[6] .. ':' .. ARGV[12])
expire_at(expires_at)
hint(ARGV[14], ARGV[3])
return {'OK', expires_at}
""")

READ_FOR_REQUEST: Final = _script("""
-- KEYS: game, requests
-- ARGV: 1 request
local stored = record()
stored[#stored + 1] = redis.call('HGET', KEYS[2], ARGV[1])
return stored
""")

FOLLOW: Final = _script("""
-- KEYS: game, log, requests
-- ARGV: 1 head that the caller knows, 2 its version, 3 ttl to extend the life to while that head is the newest, or ''
local stored = record()
if not stored[2] then return {stored[1] and 'DELETED' or 'NONE'} end
if ARGV[3] ~= '' and stored[2] == ARGV[1] then
  local expires_at = string.format('%.0f', now() + ARGV[3])
  -- A full server refuses the field: the expiry then stays as it is.
  if tonumber(expires_at) > tonumber(stored[6])
      and type(redis.pcall('HSET', KEYS[1], 'expires_at', expires_at)) ~= 'table' then
    expire_at(expires_at)
    stored[6] = expires_at
  end
end
return {'OK', redis.call('XRANGE', KEYS[2], ARGV[2], '+'), unpack(stored)}
""")

DELETE: Final = _script("""
-- KEYS: game, log, requests
-- ARGV: 1 format, 2 ttl of the tombstone, 3 channel
local stored = redis.call('HMGET', KEYS[1], 'head', 'meta')
if not stored[1] then return false end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
redis.call('HSET', KEYS[1], 'v', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
hint(ARGV[3], '')
return stored[2] or ''
""")

CLAIM: Final = _script("""
-- KEYS: live, made
-- ARGV: 1 game id, 2 how many may live or '', 3 how many may be made in the window or '', 4 window, 5 claim's own time
--       6 and 7 shortest and longest time until a game is looked at again, 8 how many to name that are to be looked at:
--       nobody else is told of them for the shortest time;
--       then for each game that was looked at its id, the score it had, and when it expires or '' where it is over
local moment = now()
local function score(at) return string.format('%.0f', at) end
for i = 9, #ARGV, 3 do
  -- Whoever claimed or looked at it in the meantime changed its score, and knows better.
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) == ARGV[i + 1] then
    if ARGV[i + 2] == '' then
      redis.call('ZREM', KEYS[1], ARGV[i])
    else
      local at = math.min(math.max(tonumber(ARGV[i + 2]), moment + ARGV[6]), moment + ARGV[7])
      redis.call('ZADD', KEYS[1], score(at), ARGV[i])
    end
  end
end
if ARGV[3] ~= '' then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', score(moment - ARGV[4]))
  for _, game in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. score(moment), '+inf')) do
    redis.call('ZADD', KEYS[2], score(moment), game)  -- the clock was set back
  end
  if redis.call('PTTL', KEYS[2]) < tonumber(ARGV[4]) then
    redis.call('PEXPIRE', KEYS[2], ARGV[4])  -- the window may have become longer
  end
  if not redis.call('ZSCORE', KEYS[2], ARGV[1]) and redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[3]) then
    local first = redis.call('ZRANGE', KEYS[2], -ARGV[3], -ARGV[3], 'WITHSCORES')
    return {'SPENT', score(first[2] + ARGV[4] - moment)}
  end
end
if ARGV[2] ~= '' then
  local known = redis.call('ZSCORE', KEYS[1], ARGV[1])
  if not known and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then
    local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', score(moment), 'LIMIT', 0, ARGV[8])
    -- No score is so far ahead unless the clock was set back.
    local astray = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. score(moment + 2 * ARGV[7]), '+inf',
      'LIMIT', 0, ARGV[8] - #due)
    for _, game in ipairs(astray) do due[#due + 1] = game end
    local again = score(moment + ARGV[6])
    for _, game in ipairs(due) do redis.call('ZADD', KEYS[1], again, game) end
    return {'FULL', again, due}
  end
  -- An earlier call that has more time may still create it.
  local at = moment + ARGV[5]
  if known and tonumber(known) <= moment + 2 * ARGV[7] then at = math.max(at, tonumber(known)) end
  redis.call('ZADD', KEYS[1], score(at), ARGV[1])
end
if ARGV[3] ~= '' then
  -- Also where it was claimed before: only now may it be created.
  redis.call('ZADD', KEYS[2], score(moment), ARGV[1])
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
end
return {'OK'}
""")
