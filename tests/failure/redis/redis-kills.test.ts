/** Redis dies, with or without a power loss of its machine. */
import { readdirSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { waitFor } from '@fantail/test-kit'
import { describe, expect, test } from 'vitest'
import { beginFault, LONG } from '../../harness/ledgers/fault-rows.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { untilPassed } from '../../harness/services/passing-time.ts'
import { type Stack, useStack } from '../../harness/services/stack.ts'

const PER_SECOND = LONG ? 100 : 40
const THROTTLE = 0.75 * PER_SECOND
const ROUNDS = LONG ? 10 : 2
const ROUND_MS = 2_500
const receiver = useReceiver()

const open = (stack: Stack, topic: string) =>
  Ledger.open({
    stack,
    receiver: receiver(),
    topic,
    subscriptions: {
      [`/${topic}/quick`]: {},
      // Slower than the publishing, so that some deliveries wait whenever Redis dies.
      [`/${topic}/throttled`]: { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: THROTTLE } } },
    },
  })

const publishRounds = (ledger: Ledger) =>
  ledger.publishAtRate({ count: (ROUNDS * ROUND_MS * PER_SECOND) / 1_000, perSecond: PER_SECOND })

/** When a test is given up. No bound for Fantail: a machine that does much else takes minutes for some rounds. */
const TEST_MS = ROUNDS * ROUND_MS * 2 + 180_000
const env = { FANTAIL_ATTEMPT_TIMEOUT_MS: '2000' }

describe('with appendfsync always', () => {
  const stack = useStack({ workers: 2, redis: { appendfsync: 'always' }, env })

  test(
    'a killed Redis loses nothing',
    async () => {
      const row = beginFault('redis-killed-always')
      const ledger = await open(stack(), 'always')
      const publishing = publishRounds(ledger)
      let recoverySeconds = 0
      for (let round = 0; round < ROUNDS; round++) {
        await untilPassed(ROUND_MS / 2)
        await stack().redis.kill()
        await stack().redis.restart()
        recoverySeconds = Math.max(recoverySeconds, await ledger.recovered(performance.now()))
      }
      await publishing
      const account = await ledger.whenSettled()
      row.report({ ...account, messages: account.accepted, recoverySeconds })
      expect(account).toMatchObject({ lost: 0, refusedYetSeen: 0, discarded: 0, expired: 0 })
    },
    TEST_MS,
  )
})

describe('with appendfsync everysec', () => {
  const stack = useStack({ workers: 2, redis: { appendfsync: 'everysec' }, env })
  /** Redis syncs each second, at about its start. Later writes may be lost. */
  const SYNC_MS = 1_100
  /** docs/reliability.md. */
  const WINDOW_MS = 2_000

  test(
    'a power loss loses at most what was accepted in the last two seconds',
    async () => {
      const row = beginFault('redis-power-loss')
      const ledger = await open(stack(), 'everysec')
      const lengths = await followLength(stack())
      const publishing = publishRounds(ledger)
      const losses: { from: number; to: number }[] = []
      let recoverySeconds = 0
      for (let round = 0; round < ROUNDS; round++) {
        await untilPassed(ROUND_MS / 2)
        await stack().redis.kill()
        const killedAt = performance.now()
        lengths.cutTo(killedAt - SYNC_MS)
        await untilAnswered(ledger)
        // Redis is still down. Everything accepted by now was written before the kill, however late its answer came.
        losses.push({ from: killedAt - WINDOW_MS, to: performance.now() })
        await stack().redis.restart()
        recoverySeconds = Math.max(recoverySeconds, await ledger.recovered(performance.now()))
      }
      lengths.stop()
      await publishing
      const missing = await whenNothingMoves(stack(), ledger)
      const isInWindow = (key: string) => {
        const at = ledger.acceptedAt.get(key.slice(key.indexOf(' ') + 1)) ?? 0
        return losses.some(({ from, to }) => at > from && at <= to)
      }
      const account = await ledger.account()
      const late = missing.filter((key) => !isInWindow(key))
      row.report({ ...account, messages: account.accepted, lost: late.length, recoverySeconds })
      console.info(`lost within the window: ${missing.length} of ${account.owed} deliveries`)
      expect(late).toEqual([])
      expect(account).toMatchObject({ refusedYetSeen: 0, waiting: 0 })
      // If nothing is missing, nothing was cut, and the test proves nothing.
      expect(missing.length).toBeGreaterThan(0)
    },
    TEST_MS,
  )
})

/** Resolves when every publish that is under way now has its answer. */
async function untilAnswered({ unanswered }: Ledger): Promise<void> {
  const begun = [...unanswered]
  await waitFor(() => begun.every((text) => !unanswered.has(text)), { what: 'publishes to be answered' })
}

interface Lengths {
  /** Cuts the file so that everything written until this moment (performance.now()) stays, and the rest is lost. */
  cutTo(at: number): void
  stop(): void
}

/** Records the length of the append-only file every 10 ms. */
async function followLength({ connection }: Stack): Promise<Lengths> {
  const [, dir = ''] = (await connection.config('GET', 'dir')) as string[]
  const folder = join(dir, 'appendonlydir')
  const path = () => {
    const name = readdirSync(folder).find((file) => file.endsWith('.incr.aof'))
    return name === undefined ? undefined : join(folder, name)
  }
  const seen: { at: number; bytes: number }[] = []
  const timer = setInterval(() => {
    const file = path()
    if (file) seen.push({ at: performance.now(), bytes: statSync(file).size })
  }, 10)
  return {
    cutTo(at) {
      const file = path()
      // With an earlier sample, writes between it and the moment would be cut too. On a busy machine that is a lot.
      const known = seen.find((sample) => sample.at >= at)
      if (!file || !known) throw new Error('the append-only file was not seen since')
      truncateSync(file, known.bytes)
      seen.length = 0
      seen.push({ at: performance.now(), bytes: known.bytes })
    },
    stop: () => clearInterval(timer),
  }
}

/** Deliveries that are missing when nothing is left that could still bring them. */
async function whenNothingMoves(stack: Stack, ledger: Ledger): Promise<string[]> {
  const jobs = 'ft:{dispatch-0}:dispatch-0'
  const isQuiet = async () => {
    const lists = ['wait', 'active', 'delayed'].map((list) => `${jobs}:${list}`)
    return (await stack.connection.exists(...lists)) === 0 && (await ledger.waiting()) === 0
  }
  await waitFor(isQuiet, { what: 'lanes and jobs to be empty', timeoutMs: 40_000, intervalMs: 200 })
  return ledger.missing()
}
