/**
 * The rows of docs/reliability.md: what is done to Fantail, what is promised, and what a run found. Each test of a fault
 * prints its row as one line of JSON, and appends it to the file that FANTAIL_FAILURE_ROWS names, from which
 * fault-table.ts makes the table. `pnpm test:failure` runs the long forms (FANTAIL_FAILURE_LONG=1), `npm test` the short.
 */
import { appendFileSync } from 'node:fs'

export const LONG = process.env.FANTAIL_FAILURE_LONG === '1'

export interface Fault {
  fault: string
  promised: string
}

const SAME_WORK_AGAIN = 'nothing lost; repeated only what was under way'

export const FAULTS = {
  kills: {
    fault: 'SIGKILL of workers, API and redrive at random instants, a redrive under way',
    promised: SAME_WORK_AGAIN,
  },
  'worker-kills': { fault: 'SIGKILL of one of two workers every 2 s, 1,000/s', promised: SAME_WORK_AGAIN },
  'api-kills': {
    fault: 'SIGKILL of the API while publishing',
    promised: 'what got 202 is stored; a request is stored whole or not at all',
  },
  'kills-at-once': { fault: 'SIGKILL of every process and of Redis', promised: SAME_WORK_AGAIN },
  'mixed-kills': {
    fault: 'SIGKILL of workers and Redis beside throttled, flaky and refusing endpoints',
    promised: 'every delivery ends in exactly one place',
  },
  'crash-points': {
    fault: 'a worker killed before and after each step of a delivery',
    promised: 'its successor ends the delivery, in the right place',
  },
  'redrive-crash-points': {
    fault: 'the redrive service killed after each step of a task',
    promised: 'every message moved, each once',
  },
  'fifo-crash-points': {
    fault: 'a worker killed before and after each step of a FIFO message',
    promised: 'nothing lost, order kept',
  },
  fifo: { fault: 'FIFO topic: a worker killed every 2 s', promised: 'nothing lost, each group in its order' },
  'push-consumers': {
    fault: 'queue with a push consumer: workers killed',
    promised: 'every message pushed; repeated only batches under way',
  },
  'lost-reply': {
    fault: 'the reply of Redis to a publish is lost',
    promised: 'told as unknown (503); stored and delivered once',
  },
  sigterm: {
    fault: 'SIGTERM of API, worker and redrive under load',
    promised: 'exit 0 within 20 s; nothing lost, nothing repeated',
  },
  'frozen-worker': {
    fault: 'SIGSTOP of a worker under load, and its return',
    promised: 'the others take over; its late writes change nothing',
  },
  'redis-killed-always': { fault: 'SIGKILL of Redis, appendfsync always', promised: 'nothing lost' },
  'redis-power-loss': {
    fault: 'power loss of Redis, appendfsync everysec: the AOF cut back to its last fsync',
    promised: 'lost at most what was accepted in the last 2 s',
  },
  'redis-outage-1': {
    fault: 'Redis away for 1 s',
    promised: 'publishes refused within 2 s; all resumes by itself',
  },
  'redis-outage-7': {
    fault: 'Redis away for 7 s',
    promised: 'publishes refused within 2 s; all resumes by itself',
  },
  'redis-outage-30': {
    fault: 'Redis away for 30 s',
    promised: 'publishes refused within 2 s; all resumes by itself',
  },
  'redis-outage-120': {
    fault: 'Redis away for 120 s',
    promised: 'publishes refused within 2 s; all resumes by itself',
  },
  'script-flush': { fault: 'the script cache of Redis emptied under load', promised: 'nobody notices' },
  watermark: {
    fault: 'memory of Redis to the watermark',
    promised:
      'a greedy topic alone gets 429, then all 503 with Retry-After; all that was accepted is delivered',
  },
  'out-of-memory': {
    fault: 'Redis refuses writes for want of memory (OOM)',
    promised: 'publishes refused with 503; nobody spins; all resumes by itself',
  },
  misconf: {
    fault: 'Redis cannot save and refuses writes (MISCONF)',
    promised: 'publishes refused with 503; nobody spins; all resumes by itself',
  },
  'read-only': {
    fault: 'failover: Redis turns into a read-only replica, its address moves to the new master',
    promised: 'publishes refused with 503; all resumes by itself',
  },
  'slow-redis': { fault: 'Redis answers 500 ms late', promised: 'all goes on, only later' },
  'mute-redis': {
    fault: 'Redis accepts connections and never answers',
    promised: 'publishes refused within 2 s; all resumes by itself',
  },
  'worker-clock': {
    fault: 'the clock of one worker jumps by +1 h, then by -2 h',
    promised: 'nothing early, nothing frozen',
  },
  'redis-clock-forward': {
    fault: 'the clock of the host of Redis jumps by +1 h',
    promised: 'nothing lost, nothing frozen; it is time passed: what was due within the hour comes at once',
  },
  'redis-clock-back': {
    fault: 'the clock of the host of Redis jumps by -1 h',
    promised: 'nothing frozen; early only what was decided in the second of the jump',
  },
  receivers: {
    fault:
      'receivers that hang, drip, flood, reset, lie, redirect, flap, and names that lead nowhere, all at once',
    promised: 'each ends as its policy says; healthy ones beside them are not slowed; memory bounded',
  },
  'poison-jobs': {
    fault: 'corrupt jobs, messages and topics in Redis',
    promised: 'set aside, logged and counted; neighbours are delivered, nothing loops',
  },
  'poison-lanes': {
    fault: 'corrupt subscriptions and lanes in Redis',
    promised: 'set aside, logged and counted; neighbours in the shard are delivered, nothing loops',
  },
  million: {
    fault: 'a million messages (fast form: 20,000) while workers are killed and Redis is away',
    promised: 'memory of every process and of Redis flat',
  },
} as const satisfies Record<string, Fault>

export type FaultName = keyof typeof FAULTS

export interface FaultFigures {
  /** Accepted. */
  messages: number
  lost: number
  duplicates: number
  /** From the end of the fault until a fresh message was accepted and delivered; null where nothing had stopped. */
  recoverySeconds: number | null
}

export interface FaultRow extends Fault, FaultFigures {
  name: FaultName
  form: 'short' | 'long'
  /** Length of the run. */
  runSeconds: number
}

/** To be called when a run begins; `tell` with what it has found prints its row. */
export function beginFault(name: FaultName): { tell(figures: FaultFigures): void } {
  const startedAt = performance.now()
  return {
    tell({ messages, lost, duplicates, recoverySeconds }) {
      const figures = { messages, lost, duplicates, recoverySeconds: tenths(recoverySeconds) }
      const run = { form: LONG ? 'long' : 'short', runSeconds: tenths(secondsSince(startedAt)) }
      const line = JSON.stringify({ name, ...FAULTS[name], ...figures, ...run })
      console.info(line)
      const file = process.env.FANTAIL_FAILURE_ROWS
      if (file) appendFileSync(file, `${line}\n`)
    },
  }
}

export function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1_000
}

function tenths(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * 10) / 10
}
