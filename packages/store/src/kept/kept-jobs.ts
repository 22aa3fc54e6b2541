/**
 * Dispatch jobs that rings keep whole. A ring copies the record of a job inside of Redis, so that no worker has to send
 * the messages again. On a cluster the record is in the slot of its queue, and the ring in that of its topic. Messages
 * are therefore kept one by one there.
 */
import { formatMessageId } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { shardBase, shardOf } from '../keys/shards.ts'
import { bodiesOfJob } from '../records/message-bodies.ts'
import { parseStored } from '../records/stored-json.ts'
import { isCluster } from '../redis/connections/cluster.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { ifReadable } from '../redis/unreadable.ts'

const KEEP_JOBS = readScript('keep-jobs-1')

/**
 * Bytes that a job's messages need to be kept whole. Below it: a ring keeps them one by one. A small job saves little,
 * and each job that is kept whole takes time when its ring is removed.
 */
const JOB_BYTES_MIN = 8_192
/**
 * Time between the first and the last message of a job. Past it: a ring keeps its messages one by one. Longer than
 * publishers gather messages for a job. Scripts look for a message in the jobs of this time.
 */
const JOB_SPAN_MS_MAX = 2_000
const PUBLISHED_AT_BYTES = 6
const JOB_ID_BYTES = 16

export interface NewKept {
  readonly arn: string
  readonly uid: string
  /** Whether the topic has an archive, so that the ring must get the message. */
  readonly isArchived?: boolean
  /** 16 bytes. */
  readonly id: Buffer
  /** The stored text (message-bodies.ts). */
  readonly body: string
}

/** The messages of one topic in a dispatch job. */
export interface KeptJob {
  arn: string
  uid: string
  /** Key of the job's record. */
  record: string
  /** Names the job, also after its id was given again. */
  name: string
  /** Epoch ms. */
  addedAt: number
  /** False: the messages are only looked for, because an earlier start may have kept the job whole. */
  copies: boolean
  messages: NewKept[]
}

/** Whether rings may keep these messages, which have this number of bytes, as a job. */
export function isWorthKeepingWhole(messages: readonly Pick<NewKept, 'id'>[], bytes: number): boolean {
  if (bytes < JOB_BYTES_MIN) return false
  const { first, last } = publishedWithin(messages)
  return last - first <= JOB_SPAN_MS_MAX
}

/** Adds jobs to the ring of their topic. Returns those whose messages must be kept one by one. Safe to repeat. */
export async function keepJobs(redis: Redis, jobs: KeptJob[]): Promise<KeptJob[]> {
  const [first] = jobs
  if (!first || isCluster(redis)) return jobs
  const { arn, uid } = first
  const args = { base: shardBase(shardOf(arn)), arn, uid, jobs: jobs.map(argumentsOf) }
  const missing = (await runScript(redis, KEEP_JOBS, args)) as number[]
  return missing.flatMap((position) => jobs[position] ?? [])
}

function argumentsOf({ record, name, addedAt, copies, messages }: KeptJob) {
  const { first: publishedAt } = publishedWithin(messages)
  const ids = copies ? Buffer.concat(messages.map(({ id }) => id)) : ''
  return { record, name, addedAt, publishedAt, ids }
}

/** Epoch ms of the first and of the last message. Ids begin with them. */
function publishedWithin(messages: readonly Pick<NewKept, 'id'>[]): { first: number; last: number } {
  let [first, last] = [Number.POSITIVE_INFINITY, 0]
  for (const { id } of messages) {
    const at = id.readUIntBE(0, PUBLISHED_AT_BYTES)
    if (at < first) first = at
    if (at > last) last = at
  }
  return { first, last }
}

/**
 * Bodies of the messages with these ids, in their order. Empty: the job does not have the message. Both lists were
 * written in one order. Bodies are therefore parsed only if one is not in its place.
 */
export function bodiesIn(data: Buffer, ids: Buffer): string[] {
  const bodies = bodiesOfKept(data)
  let byId: Map<unknown, string> | undefined
  return Array.from({ length: ids.length / JOB_ID_BYTES }, (_, n) => {
    const id = formatMessageId(ids.subarray(n * JOB_ID_BYTES, (n + 1) * JOB_ID_BYTES))
    const inPlace = bodies[n]
    if (inPlace?.includes(`"messageId":"${id}"`)) return inPlace
    byId ??= new Map(bodies.map((body) => [idOf(body), body]))
    return byId.get(id) ?? ''
  })
}

/** None if the data is gone or not a job's. A reader then continues with the other messages of the ring. */
export function bodiesOfKept(data: Buffer): string[] {
  try {
    return bodiesOfJob(String(data))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return []
    throw error
  }
}

/** Not verified, because the reader of a changed body reports it. Undefined: it cannot be parsed. */
function idOf(body: string): unknown {
  return ifReadable(() => parseStored(body, 'a message').messageId)[0]
}
