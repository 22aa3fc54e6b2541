/** Endpoints that do not answer hold the attempts of two workers. One of the workers then leaves. */
import { parseDeliveryId } from '@fantail/store'
import { type Receiver, waitFor } from '@fantail/test-kit'
import { Ledger } from '../harness/ledgers/ledger.ts'
import { type Stalls, watchStalls } from '../harness/runs/stalls.ts'
import type { Stack } from '../harness/services/stack.ts'
import type { SilentEndpoint } from './silent-endpoint.ts'

/** Attempts that a worker makes at a time for a new subscription. */
export const ALLOWANCE = 4
export const SUBSCRIPTIONS = 10

const paths = (topic: string) => Array.from({ length: SUBSCRIPTIONS }, (_, i) => `/${topic}/${i}`)

export function openTopic(stack: Stack, receiver: Receiver, topic: string): Promise<Ledger> {
  const subscriptions = Object.fromEntries(paths(topic).map((path) => [path, {}]))
  return Ledger.open({ stack, receiver, topic, subscriptions })
}

/**
 * Publishes one message after the other, so that each message is a job of its own, and only when all workers wait for a
 * job. The workers then get the jobs in turn. A worker that has just fetched a job asks for more before it waits, and
 * may get jobs that are meant for the others.
 */
export async function publishOneByOne(
  { connection, workers }: Stack,
  ledger: Ledger,
  count: number,
): Promise<void> {
  const waiting = async () =>
    Number(/^blocked_clients:(\d+)/m.exec(await connection.info('clients'))?.[1]) >= workers.length
  for (let n = 0; n < count; n++) {
    await waitFor(waiting, { what: 'all workers to wait for a job', intervalMs: 1 })
    await ledger.publish(`m${n}`)
  }
}

export const untilInFlight = (endpoint: SilentEndpoint, count: number) =>
  waitFor(() => endpoint.requests().length >= count, { what: `${count} attempts in flight`, intervalMs: 1 })

/** Must be called while all services run, because it needs their pids. */
export const watch = (stack: Stack, onEnd?: Parameters<typeof watchStalls>[1]) =>
  watchStalls([stack.redis.pid(), ...stack.services().map(({ pid }) => pid)], onEnd)

/** Ms from `since` until the last of the requests, without times in which a process waited for a processor. */
export const lastMs = (requests: { at: number }[], since: number, stalls: Stalls) =>
  Math.max(0, ...requests.map(({ at }) => at - since - stalls.covered(since, at)))

/**
 * The deliveries that workers have claimed, each as `<path> <message id>`. The request of a claim may not have arrived
 * when its worker is killed. Only the end of its lease frees such a claim.
 */
export async function claimedIn({ connection }: Stack, ledger: Ledger): Promise<Set<string>> {
  const claimed = ledger.subscriptions.map(async ({ id, path }) => {
    const keys = await connection.keys(`ft:*:lease:${id}`)
    const members = await Promise.all(keys.map((key) => connection.zrangeBuffer(key, '0', '-1')))
    return members.flat().map((member) => `${path} ${parseDeliveryId(member).messageId}`)
  })
  return new Set((await Promise.all(claimed)).flat())
}

/**
 * Waits until nothing is pending. Counts the attempts after `since`: repeated ones and those of claims (`again`), and
 * first ones (`first`). Also returns how many ms after `since` the last of each began, without waits for a processor.
 */
export async function lastBegun(
  ledger: Ledger,
  endpoint: SilentEndpoint,
  { since, claimed, stalls }: { since: number; claimed?: ReadonlySet<string>; stalls: Stalls },
) {
  await ledger.whenSettled({ timeoutMs: 40_000 })
  const { again, first } = endpoint.since(since, claimed)
  const last = (requests: { at: number }[]) => lastMs(requests, since, stalls)
  return { again: again.length, first: first.length, againMs: last(again), firstMs: last(first) }
}
