-- An item stores the digests of its receipt handles' secrets, newest first. A FIFO queue needs only the newest. A
-- standard queue also accepts handles of earlier receives, as SQS does. The digests of one message take at most 4 KiB.
local DIGEST_BYTES, RECEIVES_KEPT = 16, 256

-- The digests with one more.
local function with_digest(digests, digest)
  return string.sub(digest .. (digests or ''), 1, RECEIVES_KEPT * DIGEST_BYTES)
end

-- Which receive gave the handle with this digest: 1 is the newest. nil: the digest is not stored.
local function receive_of(digests, digest)
  for at = 1, #(digests or ''), DIGEST_BYTES do
    if string.sub(digests, at, at + DIGEST_BYTES - 1) == digest then return (at - 1) / DIGEST_BYTES + 1 end
  end
  return nil
end
