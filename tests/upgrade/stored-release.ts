/** The stored data of an earlier release: everything that its Redis held, and what its API answered. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Redis, SHARD_COUNT, shardBase } from '@fantail/store'
import { skewKey } from '@fantail/test-kit'
import { loadLines } from './stored-data.ts'

/** Seals secrets in the stored data; of no other use. */
export const MASTER_KEY = 'ZmFudGFpbC11cGdyYWRlLXRlc3QtbWFzdGVyLWtleSE='

/** A subscription as the earlier release showed it. */
export interface StoredView {
  id: string
  endpoint: string
  [member: string]: unknown
}

export interface StoredRelease {
  /** How the file was made. */
  about: string
  command: string
  /** When, in ms by Redis's clock. */
  madeAt: number
  /** Origin of the webhook receiver. */
  receiver: string
  token: string
  aws: { accessKeyId: string; secretAccessKey: string }
  webhookSecret: string
  subscriptions: Record<string, StoredView>
  /** Message ids by text. */
  messages: Record<string, string>
  /** Ids of redrives. */
  redrives: { ended: string; paused: string }
}

export function readStoredRelease(file: string): { release: StoredRelease; lines: string[] } {
  const [head = '{}', ...lines] = readFileSync(new URL(file, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
  return { release: JSON.parse(head) as StoredRelease, lines }
}

interface Restored {
  release: StoredRelease
  lines: string[]
  /** Origin of the receiver that takes the place of the stored one. */
  receiver: string
}

/** Fills an empty Redis. Scripts then read the time at which the data was stored. */
export async function restore(redis: Redis, { release, lines, receiver }: Restored): Promise<void> {
  const moved = endpointsIn(lines, release.receiver).map(
    (url) => [url, url.replace(release.receiver, receiver)] as const,
  )
  await loadLines(
    redis,
    lines.map((line) => moved.reduceRight(withMoved, line)),
  )
  const aheadMs = release.madeAt - Date.now()
  for (let shard = 0; shard < SHARD_COUNT; shard++) await redis.set(skewKey(shardBase(shard)), aheadMs)
}

/** Longer ones last. */
function endpointsIn(lines: string[], receiver: string): string[] {
  const found = lines.flatMap((line) =>
    [...line.matchAll(new RegExp(`${receiver}[/a-z-]*`, 'g'))].map(String),
  )
  return [...new Set(found)].toSorted()
}

/** The index of endpoints has a hash of each, in addition to the endpoint itself. */
function withMoved(line: string, [before, after]: readonly [before: string, after: string]): string {
  const hashText = (url: string) =>
    JSON.stringify(createHash('sha1').update(`http${url}`).digest().toString('latin1')).slice(1, -1)
  return line.replaceAll(hashText(before), () => hashText(after)).replaceAll(before, after)
}
