/**
 * Confirmation tokens: 288 hex digits, like SNS's. The first fifteen are the uid of the subscription's topic, which is
 * not secret. The topic is therefore known from the token, whichever topic the request names (checklist 63). The rest
 * is random.
 */
import { randomBytes } from 'node:crypto'
import { SHARD_COUNT } from '../keys/shards.ts'

const DIGITS = 288
const TOKEN = new RegExp(`^[0-9a-f]{${DIGITS}}$`)
const UID_DIGITS = 15

export function createConfirmationToken(topicUid: string): string {
  return (
    topicUid +
    randomBytes(DIGITS / 2)
      .toString('hex')
      .slice(topicUid.length)
  )
}

export function topicUidOf(token: string): { topicUid: string; homeShard: number } | undefined {
  const homeShard = Number.parseInt(token.slice(0, 2), 16)
  if (!TOKEN.test(token) || homeShard >= SHARD_COUNT) return undefined
  return { topicUid: token.slice(0, UID_DIGITS), homeShard }
}
