/**
 * One run. It starts the world, makes requests and faults at their times, repairs everything, waits until no more
 * deliveries can come, and judges.
 */
import { waitFor } from '@fantail/test-kit'
import { untilPassed } from '../harness/services/passing-time.ts'
import { calm, carryOut } from './faults.ts'
import { makeArchive } from './inputs/archived.ts'
import type { Subscribed } from './inputs/chaos-endpoint.ts'
import { FIFO_PATH, FIFO_QUEUE, makeTopics } from './inputs/chaos-topics.ts'
import { QueueConsumer } from './inputs/consumer.ts'
import { answerAt, DEAD_QUEUE, ENDPOINTS } from './inputs/endpoints.ts'
import { Publishing } from './inputs/publishing.ts'
import { judgeReplays } from './judges/archive-judge.ts'
import { type Account, Ledger } from './judges/chaos-ledger.ts'
import { judgeFleeting } from './judges/fleeting-judge.ts'
import { judgeRounds, playRounds, type Round } from './judges/isolation-judge.ts'
import { judgeAccount, judgeFifo } from './judges/judge.ts'
import { fullestSeconds, judgeThrottles, readSends, type ThrottleFound } from './judges/throttle-judge.ts'
import type { Fault } from './plan/fault-plan.ts'
import { type Schedule, scheduleLines } from './plan/schedule.ts'
import { hasOpenJobs, quarantined, queueTexts } from './world/redis-figures.ts'
import { type EventLog, RunFolder } from './world/run-folder.ts'
import { startWorld, type World } from './world/world.ts'

/**
 * After its credential was refused, a lane waits for a minute. It waits for another minute if the probe meets a hung
 * provider.
 */
const SETTLE_TIMEOUT_MS = 240_000
const LOOK_MS = 1_000
/** Text of the last message to the topic that is created again and again, after its last creation. */
const LAST_TEXT = 'f-last'

interface RunReport {
  seed: number
  /** Broken promises. The list is empty if the run is good. */
  findings: string[]
  /** Kept if there are findings. */
  folder: string
  account: Account | undefined
  /** The results of all other endpoints for each hung provider. */
  rounds: Round[]
  throttles: ThrottleFound[]
  /** The time until everything had settled. Not a number: it did not settle. */
  settleSeconds: number
}

interface RunOptions {
  /** Whether, after the faults, each provider hangs in turn while all others are judged. Default: true. */
  isolation?: boolean
  /** Whether the folder is kept after a good run too. */
  keep?: boolean
}

export async function runChaos(
  schedule: Schedule,
  { keep = false, isolation = true }: RunOptions = {},
): Promise<RunReport> {
  const folder = new RunFolder(schedule.seed)
  folder.write('schedule.jsonl', `${scheduleLines(schedule).join('\n')}\n`)
  const world = await startWorld({ replicated: schedule.replicated }, folder)
  let isGood = false
  try {
    const report = await play(schedule, world, { folder, isolation })
    isGood = report.findings.length === 0
    folder.write('ledger.json', JSON.stringify(report, null, 2))
    if (!isGood || keep) folder.keepRedis(await world.redis.folder())
    return report
  } finally {
    await world.stop()
    if (isGood && !keep) folder.remove()
  }
}

interface PlayOptions {
  folder: RunFolder
  isolation: boolean
}

async function play(
  schedule: Schedule,
  world: World,
  { folder, isolation }: PlayOptions,
): Promise<RunReport> {
  let isCalm = false
  answerAt(world.receiver, () => isCalm)
  const subscriptions = await makeTopics(world)
  const { subscription, early } = await makeArchive(world)
  const publishing = new Publishing(world, folder, subscription)
  const messages = schedule.inputs.flatMap((input) => (input.do === 'publish' ? input.messages : []))
  const { publishes } = publishing
  const { seed, replicated } = schedule
  const consumer = new QueueConsumer(world)
  const { received: worked } = consumer
  const ledger = new Ledger({ world, messages, publishes, subscriptions, worked, replicated })
  const findings: string[] = []
  const failed = (what: string, error: unknown) =>
    void findings.push(`${what}: ${error instanceof Error ? error.message : error}`)
  const inputs = inTime(schedule.inputs, (input) => publishing.carryOut(input), failed)
  await inTime(
    schedule.faults,
    inLines((fault) => carryOut(fault, world, folder)),
    failed,
  )
  isCalm = true
  let account: Account | undefined
  let rounds: Round[] = []
  const calmAt = performance.now()
  let settledAt = Number.NaN
  try {
    await calm(world)
    folder.note({ event: 'calm' })
    await inputs
    await remakeOnceMore(publishing)
    account = await settle({ world, publishing, ledger, subscriptions }, folder)
    const { archived, replays } = publishing
    findings.push(...(await judgeReplays(world, { early, publishes: archived, replays })))
    findings.push(...(await judge(world, publishing, account, folder)))
    settledAt = performance.now()
    const hangWebhook = (hangs: boolean) => {
      isCalm = !hangs
    }
    if (isolation) rounds = await playRounds({ world, worked, hangWebhook })
    findings.push(...judgeRounds(rounds))
  } catch (error) {
    failed('after the faults', error)
  }
  await consumer.stop()
  const settleSeconds = Math.round((settledAt - calmAt) / 100) / 10
  const throttles = fullestSeconds(readSends(folder.sends))
  return { seed, findings, folder: folder.path, account, rounds, throttles, settleSeconds }
}

/** Begins each step at its time, even if others have failed. Resolves when all have ended. */
async function inTime<T extends { at: number }>(
  steps: T[],
  act: (step: T) => Promise<void>,
  failed: (what: string, error: unknown) => void,
): Promise<void> {
  const startedAt = performance.now()
  const begun: Promise<void>[] = []
  for (const step of steps) {
    await untilPassed(step.at, startedAt)
    begun.push(act(step).catch((error) => failed(JSON.stringify(step), error)))
  }
  await Promise.all(begun)
}

/**
 * A fault begins only when the one before it in its sequence is over. On a busy machine a Redis may still be starting
 * when its next fault is due.
 */
function inLines(act: (fault: Fault) => Promise<void>): (fault: Fault) => Promise<void> {
  const lines = new Map<string, Promise<void>>()
  return (fault) => {
    const name = lineOf(fault)
    const before = lines.get(name) ?? Promise.resolve()
    const done = before.catch(() => undefined).then(() => act(fault))
    lines.set(name, done)
    return done
  }
}

function lineOf(fault: Fault): string {
  if (fault.kind === 'kill' || fault.kind === 'freeze') return fault.of
  return fault.kind === 'archive-away' ? 'archive' : 'redis'
}

async function remakeOnceMore(publishing: Publishing): Promise<void> {
  const incarnation = (publishing.incarnation ?? 0) + 1
  await publishing.carryOut({ at: 0, do: 'remake', api: 0, incarnation })
  await publishing.carryOut({ at: 0, do: 'publish-fleeting', api: 0, text: LAST_TEXT })
}

interface Settled {
  world: World
  publishing: Publishing
  ledger: Ledger
  subscriptions: Map<string, Subscribed>
}

/** Resolves with the account when no more deliveries can come, or when the time is up. */
async function settle(
  { world, publishing, ledger, subscriptions }: Settled,
  events: EventLog,
): Promise<Account | undefined> {
  const [client] = world.clients
  for (const [name, { paused, protocol }] of Object.entries(ENDPOINTS)) {
    const path = `/v1/subscriptions/${subscriptions.get(name)?.id}`
    // An adaptive rate takes a minute to recover.
    if (protocol === undefined) await client.patch(path, { retryMode: null })
    if (!paused) await client.post(`${path}/retry`, {})
  }
  let account: Account | undefined
  const isOver = async () => {
    await client.call('POST', '/v1/redrives', { body: { source: DEAD_QUEUE } })
    account = await ledger.account()
    const missing = [...judgeAccount(account), ...(await judgeOrder(world, publishing))]
    const openJobs = await hasOpenJobs(world)
    if (missing.length > 0 || openJobs) events.note({ event: 'not-settled', missing, openJobs })
    return missing.length === 0 && !openJobs
  }
  await waitFor(isOver, { timeoutMs: SETTLE_TIMEOUT_MS, intervalMs: LOOK_MS }).catch(() => undefined)
  return account
}

async function judgeOrder(world: World, publishing: Publishing): Promise<string[]> {
  return judgeFifo({
    accepted: publishing.fifo,
    queued: (await queueTexts(world, FIFO_QUEUE)).map(({ body }) => body),
    arrived: answeredBy(world.receiver)
      .filter(({ path }) => path === FIFO_PATH)
      .map(({ text }) => text),
  })
}

function answeredBy(receiver: World['receiver']) {
  return receiver.requests.filter(({ answered }) => answered !== null && answered < 300)
}

async function judge(
  world: World,
  publishing: Publishing,
  account: Account | undefined,
  folder: RunFolder,
): Promise<string[]> {
  const { receiver, supervisor } = world
  const answered = answeredBy(receiver)
  const fleeting = answered.flatMap(({ path, text }) => {
    const incarnation = /^\/fleeting\/(\d+)$/.exec(path)?.[1]
    return incarnation === undefined ? [] : [{ incarnation: Number(incarnation), text }]
  })
  const { incarnation: last = 0, fleeting: publishes } = publishing
  const { replicated } = world.redis
  return [
    ...(account ? judgeAccount(account) : ['there is no account']),
    ...((await hasOpenJobs(world)) ? ['dispatch jobs are left'] : []),
    ...(await judgeOrder(world, publishing)),
    ...judgeFleeting({ publishes, last, replicated, arrived: fleeting }),
    ...judgeThrottles(fullestSeconds(readSends(folder.sends))),
    ...(await quarantined(world)),
    ...supervisor.ended.map((label) => `${label} ended by itself`),
    ...publishing.wrongAnswers,
  ]
}
