/**
 * Judges the archive. After the faults, everything is replayed to a new webhook, which must get every accepted message.
 * Each replay that was started during the faults must have completed, with the messages that were archived before.
 */
import { waitFor } from '@fantail/test-kit'
import { ARCHIVE_TOPIC, type Archived, REPLAYS, replayRequest, subscribeReplays } from '../inputs/archived.ts'
import type { Publish } from '../inputs/publishing.ts'
import type { World } from '../world/world.ts'

const LAST = '/replays-last'
const TIMEOUT_MS = 120_000
const LOOK_MS = 500
const SHOWN = 5

export interface ArchiveFound {
  early: string[]
  publishes: Publish[]
  /** Objects in the bucket. */
  blocks: number
  /** Statuses of the replays by their ids. null: a failover has lost the task. */
  replays: Map<string, string | null>
  /** How often the first webhook got each message as a replayed one. */
  replayed: Map<string, number>
  /** All that the last replay brought. */
  last: { name: string; isMarked: boolean }[]
}

export function judgeArchive({ early, publishes, blocks, replays, replayed, last }: ArchiveFound): string[] {
  const of = (fate: Publish['fate']) =>
    publishes.filter((publish) => publish.fate === fate).flatMap(({ texts }) => texts)
  const found = new Set(last.map(({ name }) => name))
  const statuses = [...replays.values()]
  const completed = statuses.filter((status) => status === 'completed').length
  const open = [...replays].filter(([, status]) => status !== null && status !== 'completed')
  return [
    ...some(
      'not in the archive',
      [...early, ...of('accepted')].filter((name) => !found.has(name)),
    ),
    ...(blocks === 0 ? [`${ARCHIVE_TOPIC}: no block was written`] : []),
    ...some(
      'refused, and in the archive',
      of('refused').filter((name) => found.has(name)),
    ),
    ...some(
      'not marked as replayed',
      last.filter(({ isMarked }) => !isMarked).map(({ name }) => name),
    ),
    ...some(
      'no completed replay',
      open.map(([id, status]) => `${id} ${status}`),
    ),
    ...some(
      `fewer than ${completed} times replayed`,
      early.filter((name) => (replayed.get(name) ?? 0) < completed),
    ),
  ]
}

function some(what: string, names: string[]): string[] {
  if (names.length === 0) return []
  return [`${ARCHIVE_TOPIC}: ${what}: ${names.length}: ${names.slice(0, SHOWN).join(' ')}`]
}

interface Replayed extends Pick<Archived, 'early'> {
  publishes: Publish[]
  /** Ids of the tasks. */
  replays: string[]
}

/** Replays everything once more, and judges when nothing is missing any more, or when the time is up. */
export async function judgeReplays(world: World, { early, publishes, replays }: Replayed): Promise<string[]> {
  const [client] = world.clients
  const { path, body } = replayRequest(await subscribeReplays(client, `${world.receiver.url}${LAST}`), null)
  await client.post(path, body)
  const statusOf = async (task: string) =>
    [
      task,
      (await client.call<{ status?: string }>('GET', `/v1/redrives/${task}`)).body.status ?? null,
    ] as const
  let findings: string[] = []
  const isGood = async () => {
    const tasks = new Map(await Promise.all(replays.map(statusOf)))
    const replayed = new Map<string, number>()
    for (const { name, isMarked } of arrivedAt(world, REPLAYS))
      if (isMarked) replayed.set(name, (replayed.get(name) ?? 0) + 1)
    const [blocks, last] = [world.bucket.objects.size, arrivedAt(world, LAST)]
    findings = judgeArchive({ early, publishes, blocks, replays: tasks, replayed, last })
    return findings.length === 0
  }
  await waitFor(isGood, { timeoutMs: TIMEOUT_MS, intervalMs: LOOK_MS }).catch(() => undefined)
  return findings
}

function arrivedAt({ receiver }: World, path: string): ArchiveFound['last'] {
  return receiver.requests
    .filter((request) => request.path === path && request.answered !== null && request.answered < 300)
    .map(({ text, headers }) => ({
      name: text.split(' ')[0] ?? '',
      isMarked: headers['x-fantail-replayed'] === 'true',
    }))
}
