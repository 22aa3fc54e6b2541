/** One run of a fault that stays. It judges while the fault is still there. */
import { waitFor } from '@fantail/test-kit'
import { untilPassed } from '../../harness/services/passing-time.ts'
import { makeTopics } from '../inputs/chaos-topics.ts'
import { QueueConsumer } from '../inputs/consumer.ts'
import { answerAt } from '../inputs/endpoints.ts'
import { RunFolder } from '../world/run-folder.ts'
import { startWorld, type World } from '../world/world.ts'
import { LASTING_FAULTS, type LastingFault, type OnEnd } from './lasting-faults.ts'
import { judgePublishes, lacking } from './lasting-judge.ts'
import { judgeUsage, measureUsage } from './process-usage.ts'
import type { Operator } from './signs.ts'
import { SteadyLoad } from './steady-load.ts'

const WARM_MESSAGES = 20
const WARM_TIMEOUT_MS = 60_000
const LOOK_MS = 1_000
/** The time in which a message arrives at an endpoint that the fault does not touch. */
const ARRIVAL_MS = 30_000
const SIGN_TIMEOUT_MS = 30_000

interface LastingReport {
  /** Broken promises. The list is empty if the run is good. */
  findings: string[]
  /** Where an operator sees the fault. */
  sign: string
  accepted: number
  refused: number
  slowestMs: number
}

/** `folder` is kept if there are findings. */
export async function runLasting(name: string, forMs: number): Promise<LastingReport & { folder: string }> {
  const fault = LASTING_FAULTS[name]
  if (!fault) throw new Error(`--fault is one of ${Object.keys(LASTING_FAULTS).join(', ')}`)
  const folder = new RunFolder(name)
  /** Carried out from the last to the first. */
  const ends: (() => unknown)[] = []
  const onEnd: OnEnd = (end) => ends.push(end)
  let isGood = false
  onEnd(() => isGood && folder.remove())
  try {
    const world = await startWorld({ replicated: false, ...(await fault.world?.(onEnd)) }, folder)
    onEnd(world.stop)
    const report = await play(fault, world, { forMs, onEnd })
    isGood = report.findings.length === 0
    folder.write('report.json', JSON.stringify(report, null, 2))
    return { ...report, folder: folder.path }
  } finally {
    for (const end of ends.toReversed()) await end()
  }
}

interface PlayOptions {
  forMs: number
  onEnd: OnEnd
}

async function play(
  fault: LastingFault,
  world: World,
  { forMs, onEnd }: PlayOptions,
): Promise<LastingReport> {
  const { touches = [] } = fault
  answerAt(world.receiver, () => true)
  const subscriptions = await makeTopics(world)
  const consumer = new QueueConsumer(world, [0])
  const load = new SteadyLoad(world)
  const lacks = (ageMs: number) =>
    lacking({ world, worked: consumer.received, accepted: load.accepted(), touches }, ageMs)
  const isWarm = () => load.accepted().length >= WARM_MESSAGES && lacks(LOOK_MS).size === 0
  await waitFor(isWarm, { what: 'the first messages to arrive', timeoutMs: WARM_TIMEOUT_MS })
  const used = measureUsage(world.services)
  const before = load.sent.length
  await fault.begin({ world, load, subscriptions, onEnd })
  const late = new Map<string, string>()
  const look = () => {
    for (const [endpoint, text] of lacks(ARRIVAL_MS)) if (!late.has(endpoint)) late.set(endpoint, text)
  }
  for (const beganAt = performance.now(); performance.now() - beganAt < forMs; look())
    await untilPassed(LOOK_MS)
  const sign = await seenBy({ world, subscriptions }, fault)
  const usage = used()
  await load.stop()
  const arrived = () => lacks(0).size === 0
  await waitFor(arrived, { timeoutMs: ARRIVAL_MS, intervalMs: LOOK_MS }).catch(look)
  await consumer.stop()
  const sent = load.sent.slice(before)
  const accepted = sent.filter(({ status }) => status === 202).length
  return {
    findings: [
      ...judgePublishes(sent),
      ...[...late].map(([endpoint, text]) => `${endpoint}: ${text} has not come within 30 s`),
      ...(sign === '' && fault.visible ? ['no operator sees the fault'] : []),
      ...judgeUsage(usage),
      ...world.supervisor.ended.map((label) => `${label} ended by itself`),
    ],
    sign,
    accepted,
    refused: sent.length - accepted,
    slowestMs: Math.round(Math.max(0, ...sent.map(({ tookMs }) => tookMs))),
  }
}

/** Where an operator sees the fault. '' if nowhere. */
async function seenBy(operator: Operator, { visible }: LastingFault): Promise<string> {
  if (!visible) return ''
  const look = () => visible(operator)
  return waitFor(look, { timeoutMs: SIGN_TIMEOUT_MS, intervalMs: LOOK_MS }).catch(() => '')
}
