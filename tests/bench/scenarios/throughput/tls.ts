/**
 * Deliveries as customers get them: over TLS 1.3 to a thousand hosts, signed by Standard Webhooks, at fan-out 10.
 * Compared with a bare loop of undici and with BullMQ by hand, which sign and trust the same authority. Each host
 * answers at once, or later. The first deliveries open connections to all hosts, and the later ones use them.
 */
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBullmq } from '../../contest/contestants.ts'
import { startFantail } from '../../contest/fantail.ts'
import { whenArrived } from '../../contest/measure.ts'
import { cpuMs, end, startOwn } from '../../processes/children.ts'
import { ask, type PaceResult } from '../../processes/ipc.ts'
import type { TlsConnections } from '../../processes/tls-hosts.ts'
import { rowOf } from '../../report/rows.ts'
import { figureOf } from '../../report/summary.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'
import { BODY_BYTES, CONNECTIONS } from '../../stage.ts'
import type { TlsLoad } from '../parts/tls-loop-process.ts'
import { residentBytes } from '../parts/usage.ts'
import { delaysSince, type Percentiles } from './latency.ts'

const HOSTS = 1_000
const FAN_OUT = 10
const TOPICS = HOSTS / FAN_OUT
const ANSWERS_MS = [0, 50, 300]
const PACED_PER_SECOND = 50
const PACED_SECONDS = 6
const PAIRS = 3
/**
 * The first laps open connections, until a host has as many as it needs at most at the same time. Slow answers need the
 * most.
 */
const WARM_UPS = 4
/**
 * Paced laps that do not count. In this minute, the connections that only the full rate needed end, and the garbage of
 * the laps before is collected.
 */
const PACED_WARM_UPS = 5
const PACED_PAIRS = 5
/**
 * The part of Fantail's deliveries that the others send in a lap. Their laps are shorter, because Fantail closes
 * connections that were idle for 50 s.
 */
const SHARES = { fantail: 1, loop: 1 / 2, bullmq: 1 / 8 }
/** Requests of the loop and jobs of BullMQ under way: enough for hosts that answer late, which hold them for longer. */
const CONCURRENCY = 1_024

export const tls: Scenario = {
  name: 'tls',
  summary: 'TLS 1.3 to 1,000 hosts, signed, fan-out 10, against a bare loop and BullMQ by hand',
  run,
}

type Sender = 'fantail' | 'loop' | 'bullmq'

interface Senders {
  receiver: ChildProcess
  /** Each sends this number of deliveries; as fast as possible, or at this many per second. */
  send: Record<Sender, (deliveries: number, perSecond?: number) => Promise<PaceResult>>
  /** Pids of the process that sends, and of all its processes. */
  pids: Record<Sender, { sends: number; all: number[] }>
  stop(): Promise<void>
}

async function run(options: ScenarioOptions): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'fantail-bench-'))
  const receiver = await startOwn('./receiver-process.ts', { BENCH_TLS_HOSTS: String(HOSTS) })
  const authority = join(folder, 'authority.pem')
  await writeFile(authority, await ask<string>(receiver, 'authority'))
  const senders = await startSenders(receiver, authority, options)
  try {
    const cold = await coldRows(senders, options)
    const warm: Row[] = []
    for (const ms of ANSWERS_MS) warm.push(...(await warmRows(senders, ms, options)))
    return [...warm, ...(await pacedRows(senders, options)), ...cold]
  } finally {
    await senders.stop()
    await end(receiver)
    await rm(folder, { recursive: true })
  }
}

async function startSenders(
  receiver: ChildProcess,
  authority: string,
  { profileDir }: ScenarioOptions,
): Promise<Senders> {
  const env = { NODE_EXTRA_CA_CERTS: authority }
  const receiverPort = await ask<number>(receiver, 'port')
  const hosts = await ask<string[]>(receiver, 'hosts')
  const urls = hosts.map((host, n) => `https://${host}:${receiverPort}/s${n}`)
  const publishers = await startOwn('./publishers-process.ts')
  const loop = await startOwn('../scenarios/parts/tls-loop-process.ts', env)
  const fantail = await startFantail({
    receiverPort,
    publishers,
    profileDir,
    env,
    webhookKeys: 'hmac-sha256',
  })
  const secret = { BENCH_WEBHOOK_SECRET: 'secret', BENCH_CONCURRENCY: String(CONCURRENCY) }
  const bullmq = await startBullmq({ receiverPort, publishers }, { ...env, ...secret })
  for (let topic = 0; topic < TOPICS; topic++) {
    const own = urls.slice(topic * FAN_OUT, (topic + 1) * FAN_OUT)
    await fantail.createTopic(`tls-${topic}`, own)
    await bullmq.createTopic(`tls-${topic}`, own)
  }
  const publish =
    (port: number, path: string) =>
    async (deliveries: number, perSecond?: number): Promise<PaceResult> => {
      const paths = Array.from({ length: TOPICS }, (_, topic) => `${path}/tls-${topic}/messages`)
      const requests = deliveries / FAN_OUT
      const load = { port, paths, connections: CONNECTIONS, bodyBytes: BODY_BYTES }
      if (perSecond === undefined) {
        await ask(publishers, 'load', { ...load, durationMs: 60_000, requestsMax: requests })
        return { sentAt: [], refused: 0 }
      }
      const requestsPerSecond = perSecond / FAN_OUT
      const durationMs = (requests * 1_000) / requestsPerSecond
      return ask(publishers, 'pace', { ...load, requestsPerSecond, durationMs })
    }
  const pids = ({ processes }: { processes: Record<string, number> }) => ({
    sends: processes.worker ?? 0,
    all: Object.values(processes),
  })
  const pid = loop.pid ?? 0
  return {
    receiver,
    send: {
      fantail: publish(fantail.port, '/v1/topics'),
      bullmq: publish(bullmq.port, '/topics'),
      loop: (requests, perSecond) => {
        const paced = perSecond === undefined ? {} : { perSecond, atOnce: FAN_OUT }
        const load: TlsLoad = { urls, bodyBytes: BODY_BYTES, requests, concurrency: CONCURRENCY, ...paced }
        return ask(loop, 'load', load)
      },
    },
    pids: { fantail: pids(fantail), bullmq: pids(bullmq), loop: { sends: pid, all: [pid] } },
    stop: async () => {
      await Promise.all([end(loop), end(publishers), fantail.stop(), bullmq.stop()])
    },
  }
}

interface Lap {
  perSecond: number
  /** CPU of the process that sends, and of all, each per delivery. */
  sendMicros: number
  allMicros: number
  /** Per 1,000 deliveries. */
  opened: number
  /** Share of the opened connections. */
  resumed: number
  open: number
  delays: Percentiles | undefined
}

async function lap(
  { receiver, send, pids }: Senders,
  sender: Sender,
  deliveries: number,
  pace?: number,
): Promise<Lap> {
  await ask(receiver, 'reset')
  if (pace !== undefined) await ask(receiver, 'recordTimes')
  const { sends, all } = pids[sender]
  const used = () => [cpuMs(sends), all.reduce((sum, pid) => sum + cpuMs(pid), 0)] as const
  const before = await ask<TlsConnections>(receiver, 'connections')
  const [sendBefore, allBefore] = used()
  const startedAt = performance.now()
  const { sentAt, refused } = await send[sender](deliveries, pace)
  const { distinct } = await whenArrived(receiver, deliveries)
  const seconds = (performance.now() - startedAt) / 1_000
  const [sendAfter, allAfter] = used()
  if (refused > 0 || distinct < deliveries) throw new Error(`${sender} lost ${deliveries - distinct}`)
  const { opened, resumed, open } = await ask<TlsConnections>(receiver, 'connections')
  const made = opened - before.opened
  return {
    perSecond: deliveries / seconds,
    sendMicros: ((sendAfter - sendBefore) * 1_000) / deliveries,
    allMicros: ((allAfter - allBefore) * 1_000) / deliveries,
    opened: (made * 1_000) / deliveries,
    resumed: made === 0 ? 1 : (resumed - before.resumed) / made,
    open,
    delays: pace === undefined ? undefined : await delaysSince(receiver, sentAt),
  }
}

function told(sender: Sender, ms: number, one: Lap): string {
  return (
    `${sender}, answers after ${ms} ms: ${one.perSecond.toFixed(0)}/s, CPU µs: sender ${one.sendMicros.toFixed(0)}, ` +
    `all ${one.allMicros.toFixed(0)}; ${one.opened.toFixed(1)} new connections per 1,000, ` +
    `${(one.resumed * 100).toFixed(0)} % resumed, ${one.open} open` +
    (one.delays ? `; p50 ${one.delays.p50.toFixed(1)} ms, p99 ${one.delays.p99.toFixed(1)} ms` : '')
  )
}

async function warmRows(senders: Senders, ms: number, { quick, report }: ScenarioOptions): Promise<Row[]> {
  await ask(senders.receiver, 'answerAfter', ms)
  const deliveries = quick ? 5_000 : 40_000
  const laps: Record<Sender, Lap[]> = { fantail: [], loop: [], bullmq: [] }
  const warmUps = quick ? 1 : WARM_UPS
  for (let round = 0; round < warmUps + (quick ? 1 : PAIRS); round++) {
    const isWarmUp = round < warmUps
    for (const sender of ['fantail', 'loop', 'bullmq'] as const) {
      const made = await lap(senders, sender, deliveries * SHARES[sender])
      report(`${isWarmUp ? 'warm-up: ' : ''}${told(sender, ms, made)}`)
      if (!isWarmUp) laps[sender].push(made)
    }
  }
  const { fantail, loop, bullmq } = laps
  const ratio = (others: Lap[], of: (lap: Lap) => number) =>
    figureOf(fantail.map((lap, n) => of(lap) / of(others[n] ?? lap)))
  const note = `answers after ${ms} ms`
  return [
    rowOf(`signed deliveries over TLS, ${note}`, figureOf(fantail.map((lap) => lap.perSecond)), {
      unit: '/s',
    }),
    rowOf(
      `Fantail : bare loop, ${note}`,
      ratio(loop, (lap) => lap.perSecond),
      { unit: '×', atLeast: 0.8 },
    ),
    rowOf(
      `Fantail : BullMQ by hand, ${note}`,
      ratio(bullmq, (lap) => lap.perSecond),
      { unit: '×' },
    ),
    rowOf(
      `worker's CPU : loop's CPU, ${note}`,
      ratio(loop, (lap) => lap.sendMicros),
      { unit: '×' },
    ),
    rowOf(`new connections per 1,000 deliveries, ${note}`, figureOf(fantail.map((lap) => lap.opened)), {
      unit: '',
      atMost: 2,
    }),
  ]
}

/** Also the memory of a host whose connection is idle. */
async function coldRows(senders: Senders, { report }: ScenarioOptions): Promise<Row[]> {
  const { pids } = senders
  const pace = PACED_PER_SECOND * FAN_OUT
  const before = residentBytes(pids.fantail.sends)
  const fantail = await lap(senders, 'fantail', HOSTS, pace)
  const bytes = (residentBytes(pids.fantail.sends) - before) / HOSTS
  report(`cold: ${told('fantail', 0, fantail)}, ${bytes.toFixed(0)} bytes a host`)
  const loop = await lap(senders, 'loop', HOSTS, pace)
  report(`cold: ${told('loop', 0, loop)}`)
  const note = `${PACED_PER_SECOND} publishes/s, the first to every host`
  return [
    { figure: 'publish to arrival, cold, p50', value: fantail.delays?.p50 ?? 0, unit: 'ms', note },
    {
      figure: 'the same, against the loop',
      value: (fantail.delays?.p50 ?? 0) / (loop.delays?.p50 ?? 0),
      unit: '×',
      atMost: 1.5,
    },
    { figure: 'worker, grown per host', value: bytes, unit: 'bytes', note: 'resident' },
  ]
}

async function pacedRows(senders: Senders, { quick, report }: ScenarioOptions): Promise<Row[]> {
  await ask(senders.receiver, 'answerAfter', 0)
  const pace = PACED_PER_SECOND * FAN_OUT
  const deliveries = pace * (quick ? 2 : PACED_SECONDS)
  const warmUps = quick ? 0 : PACED_WARM_UPS
  const laps: [Lap, Lap][] = []
  for (let round = 0; round < warmUps + (quick ? 1 : PACED_PAIRS); round++) {
    const pair: [Lap, Lap] = [
      await lap(senders, 'fantail', deliveries, pace),
      await lap(senders, 'loop', deliveries, pace),
    ]
    const what = round < warmUps ? 'warm-up: ' : ''
    report(`${what}${PACED_PER_SECOND} publishes/s: ${told('fantail', 0, pair[0])}`)
    report(`${what}${pace} requests/s: ${told('loop', 0, pair[1])}`)
    if (round >= warmUps) laps.push(pair)
  }
  const note = `${PACED_PER_SECOND} publishes/s, warm`
  const of = (name: keyof Percentiles) => figureOf(laps.map(([fantail]) => fantail.delays?.[name] ?? 0))
  return [
    rowOf('CPU of all processes : loop’s CPU', figureOf(laps.map(([a, b]) => a.allMicros / b.allMicros)), {
      unit: '×',
      atMost: 2,
      note,
    }),
    rowOf('publish to arrival, p50', of('p50'), { unit: 'ms', note }),
    rowOf('publish to arrival, p99', of('p99'), { unit: 'ms', note }),
  ]
}
