-- An item keeps the digests of its receipt handles' secrets, newest first. A FIFO queue needs only the newest. A
-- standard queue accepts earlier receives too, as SQS does, and keeps so many that a message's handles take 4 KiB at
-- most.
local DIGEST_BYTES, RECEIVES_KEPT = 16, 256

-- The digests with one more.
local function with_digest(digests, digest)
  return string.sub(digest .. (digests or ''), 1, RECEIVES_KEPT * DIGEST_BYTES)
end

-- How many receives ago the handle with this digest was given, counted from 1, the newest; nil where it is none that is
-- kept.
local function receive_of(digests, digest)
  for at = 1, #(digests or ''), DIGEST_BYTES do
    if string.sub(digests, at, at + DIGEST_BYTES - 1) == digest then return (at - 1) / DIGEST_BYTES + 1 end
  end
  return nil
end
