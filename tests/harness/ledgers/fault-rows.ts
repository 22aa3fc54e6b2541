/**
 * The rows of docs/reliability.md: each fault, what Fantail promises, and what a run found. Each test of a fault prints
 * its row as one line of JSON. It also appends the row to the file that FANTAIL_FAILURE_ROWS names, from which
 * fault-table.ts makes the table. `npm run test:failure` runs the long forms (FANTAIL_FAILURE_LONG=1), `npm test` the
 * short ones.
 */
import { appendFileSync } from 'node:fs'

export const LONG = process.env.FANTAIL_FAILURE_LONG === '1'

interface Fault {
  fault: string
  promised: string
}

const SAME_WORK_AGAIN = 'nothing lost; only work under way repeated'

export const FAULTS = {
  'worker-kills': { fault: 'SIGKILL of one of two workers, in turn, 200/s', promised: SAME_WORK_AGAIN },
  'api-kills': {
    fault: 'SIGKILL of the API while publishing',
    promised: 'every request that got 202 is stored; a request is stored whole or not at all',
  },
  'kills-at-once': { fault: 'SIGKILL of every process and of Redis', promised: SAME_WORK_AGAIN },
  'crash-points': {
    fault: 'a worker killed before and after each step of a delivery',
    promised: 'its successor ends the delivery, in the right place',
  },
  'redrive-crash-points': {
    fault: 'the redrive service killed after each step of a task; the API and a worker during a resend',
    promised: 'every message moved, each once',
  },
  'fifo-crash-points': {
    fault: 'a worker killed before and after each step of a FIFO message',
    promised: 'nothing lost, order kept',
  },
  fifo: { fault: 'FIFO topic: a worker killed every 2 s', promised: 'nothing lost, each group in its order' },
  'isolated-fifo': {
    fault:
      'SIGKILL of the worker at each of ten starts to match one FIFO message, with other groups in the topic',
    promised: 'the other groups continue meanwhile; nothing lost, each group in its order',
  },
  'push-consumers': {
    fault: 'queue with a push consumer: workers killed',
    promised: 'every message pushed; only batches under way repeated',
  },
  'lost-reply': {
    fault: 'the reply of Redis to a publish is lost',
    promised: 'the answer says that the result is unknown (503); stored and delivered once',
  },
  'topic-again': {
    fault: 'a topic is deleted and created again while messages with Idempotency-Keys are published to it',
    promised: 'no key of the earlier topic keeps a message from the new one; each delivered once',
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
    promised: 'only messages that were accepted in the last 2 s may be lost',
  },
  'redis-outage-1': {
    fault: 'Redis cannot be reached for 1 s',
    promised: 'publishes refused within 2 s; all resumes by itself',
  },
  'redis-outage-7': {
    fault: 'Redis cannot be reached for 7 s',
    promised: 'publishes refused within 2 s; all resumes by itself',
  },
  'redis-outage-30': {
    fault: 'Redis cannot be reached for 30 s',
    promised: 'publishes refused within 2 s; all resumes by itself',
  },
  'redis-outage-120': {
    fault: 'Redis cannot be reached for 120 s',
    promised: 'publishes refused within 2 s; all resumes by itself',
  },
  starts: {
    fault: 'Redis can no longer be reached while a service starts, at any request of the start',
    promised: 'no service exits; each is ready soon after Redis is back',
  },
  'script-flush': { fault: 'the script cache of Redis emptied under load', promised: 'no visible effect' },
  watermark: {
    fault: 'memory of Redis filled to the watermark',
    promised:
      'only the topic that uses most memory gets 429, later all callers get 503 with Retry-After; all accepted messages are delivered',
  },
  'full-memory': {
    fault: 'callers fill the memory with large settings until it is completely full',
    promised:
      'requests that need more memory are refused; accepted messages end; deletions and pauses still work',
  },
  'out-of-memory': {
    fault: 'Redis refuses writes because its memory is full (OOM)',
    promised: 'publishes refused with 503; no process retries without a pause; all resumes by itself',
  },
  misconf: {
    fault: 'Redis cannot save and refuses writes (MISCONF)',
    promised: 'publishes refused with 503; no process retries without a pause; all resumes by itself',
  },
  'read-only': {
    fault: 'failover: Redis turns into a read-only replica, its address moves to the new master',
    promised: 'publishes refused with 503; all resumes by itself',
  },
  'failover-repeats': {
    fault: 'publishes that no replica got are repeated, at any API; then the master is lost',
    promised: '503 until a replica has the message; nothing acknowledged is lost, nothing repeated',
  },
  'slow-redis': { fault: 'Redis answers 500 ms late', promised: 'everything works, only later' },
  'mute-redis': {
    fault: 'Redis accepts connections and never answers',
    promised: 'publishes refused within 2 s; all resumes by itself',
  },
  'worker-clock': {
    fault: 'the clock of one worker jumps by +1 h, then by -2 h',
    promised: 'nothing is early, and nothing stops',
  },
  'redis-clock-forward': {
    fault: 'the clock of the host of Redis jumps by +1 h',
    promised:
      'nothing lost, and nothing stops; the step counts as time that has passed: deliveries that were due within the hour come at once',
  },
  'redis-clock-back': {
    fault: 'the clock of the host of Redis jumps by -1 h',
    promised: 'nothing stops; early only deliveries that were decided in the second of the jump',
  },
  throttles: {
    fault: 'throttled endpoints that reset every reused connection, and that accept each digest nonce once',
    promised: 'at most 1.1 r + 1 requests sent in any second; no additional attempt counted',
  },
  stalls: {
    fault: 'throttled endpoints: one of two workers stops for 1 s, again and again',
    promised: 'at most 1.1 r + 1 requests sent in any second; nothing lost',
  },
  receivers: {
    fault:
      'receivers that hang, drip, flood, reset, lie, redirect, flap, and names that lead nowhere, all at once',
    promised: 'each delivery ends as its policy says; healthy endpoints are not slowed; memory bounded',
  },
  'dead-endpoint': {
    fault: 'an endpoint that refuses every message at full rate, and a healthy one',
    promised:
      'publishing continues, the healthy one is not slowed; the newest dead letters are kept, memory bounded',
  },
  'hung-lanes': {
    fault: 'hundreds of endpoints that accept and never answer, many more than there are slots for them',
    promised: 'waiting lanes cost nothing; each has its turn; all is delivered when the endpoints answer',
  },
  'corrupt-jobs': {
    fault: 'corrupt jobs, messages and topics in Redis',
    promised: 'quarantined, logged and counted; neighbours are delivered, nothing loops',
  },
  'corrupt-lanes': {
    fault: 'corrupt subscriptions and lanes in Redis',
    promised: 'quarantined, logged and counted; neighbours in the shard are delivered, nothing loops',
  },
  'isolated-kills': {
    fault:
      'SIGKILL of the worker at each of ten requests of one message, with healthy messages and a corrupt one',
    promised: 'all readable messages are delivered; only the corrupt one is in the quarantine',
  },
  'isolated-freezes': {
    fault: 'SIGSTOP of the sending worker at each of ten requests of one message, with two workers in turn',
    promised: 'it is delivered; the quarantine stays empty',
  },
  'isolated-outages': {
    fault: '100 jobs, each started six times by outages of Redis',
    promised: 'all are delivered; the quarantine stays empty',
  },
  'costly-filters': {
    fault: 'a topic whose filters take seconds per message, and a healthy topic',
    promised: 'health checks answered, healthy messages delivered meanwhile; nothing lost, nothing repeated',
  },
  million: {
    fault: 'a million messages (fast form: 6,000) while workers are killed and Redis cannot be reached',
    promised: 'memory of every process and of Redis does not grow',
  },
} as const satisfies Record<string, Fault>

export type FaultName = keyof typeof FAULTS

interface FaultFigures {
  /** Accepted. */
  messages: number
  lost: number
  duplicates: number
  /** From the end of the fault until a new message was accepted and delivered. null: nothing had stopped. */
  recoverySeconds: number | null
}

export interface FaultRow extends Fault, FaultFigures {
  name: FaultName
  form: 'short' | 'long'
  /** Length of the run. */
  runSeconds: number
}

/** Must be called when a run begins. `report` prints the row with the run's figures. */
export function beginFault(name: FaultName): { report(figures: FaultFigures): void } {
  const startedAt = performance.now()
  return {
    report({ messages, lost, duplicates, recoverySeconds }) {
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
