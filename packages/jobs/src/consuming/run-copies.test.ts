import { shardBase } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { JOBS, jobOf, useConsumers } from './dispatch-consumer.fixture.ts'
import type { DispatchRun } from './dispatch-run.ts'

const { server, redis, publish, consume } = await useConsumers({ appendfsync: 'always' })
redis.on('error', () => undefined)

const checkpointOf = ({ jobName }: DispatchRun) => `${shardBase(0)}checkpoint:${jobName}`

/** Parks like `parking.ts`. */
async function park(run: DispatchRun, batch: string): Promise<void> {
  const mark = run.copies.mark(shardBase(0))
  await redis.hset(checkpointOf(run), 'p', batch)
  run.copies.parked(0, batch, mark)
}

async function quarantine({ copies }: DispatchRun): Promise<void> {
  copies.wrote(copies.mark('ft:{quarantine}:'))
}

async function restart(): Promise<void> {
  await server.kill()
  await server.restart()
  await waitFor(() => redis.status === 'ready')
}

/** Runs a job whose first start writes its copies. `between` happens before that start ends. */
async function runs(
  write: (run: DispatchRun) => Promise<void>,
  between: (run: DispatchRun) => Promise<void>,
) {
  const fences: number[] = []
  const { completed } = await consume(async (run) => {
    fences.push(run.fence)
    await write(run)
    if (run.fence === 1) await between(run)
  })
  await publish('moved')
  await waitFor(() => completed.length === 1, { timeoutMs: 15_000 })
  return fences
}

test('a job whose parked deliveries outlast a restart of Redis is completed, and runs once', async () => {
  expect(await runs((run) => park(run, 'a.1'), restart)).toEqual([1])
})

test('a run whose latest batch still exists goes on, though the batch’s reply was lost', async () => {
  const parkUnanswered = async (run: DispatchRun) => {
    await park(run, 'a.1')
    run.copies.sent(0, 'a.2')
    await redis.hset(checkpointOf(run), 'p', 'a.2')
  }
  expect(await runs(parkUnanswered, restart)).toEqual([1])
})

test('a run that is about to be lost writes first what is settled all the same', async () => {
  const saved: boolean[] = []
  const write = async ({ copies }: DispatchRun) => {
    const mark = copies.mark('ft:{quarantine}:')
    copies.wrote(mark)
    copies.beforeLoss(async (holds) => void saved.push(holds(mark)))
  }
  expect(await runs(write, restart)).toEqual([1, 2])
  expect(saved).toEqual([false])
})

test.each([
  ['parked', (run: DispatchRun) => park(run, 'a.1')],
  [
    'parked, and something before it',
    async (run: DispatchRun) => {
      await park(run, 'a.1')
      await park(run, 'a.2')
    },
  ],
])('a job starts again where Redis has lost what it %s', async (_what, write) => {
  const lose = async (run: DispatchRun) => {
    await redis.hset(checkpointOf(run), 'p', 'a.0')
    await restart()
  }
  expect(await runs(write, lose)).toEqual([1, 2])
})

test('a job starts again after a restart of Redis where its copies cannot be looked up', async () => {
  expect(await runs(quarantine, restart)).toEqual([1, 2])
})

test('a checkpoint that would be written after Redis has lost what it tells of makes the run lost', async () => {
  const proven: boolean[] = []
  const write = async (run: DispatchRun) => {
    await park(run, 'a.1')
    proven.push(await run.copies.proveIn(0))
  }
  const lose = async (run: DispatchRun) => {
    await redis.del(checkpointOf(run))
    await restart()
    proven.push(await run.copies.proveIn(0))
  }
  expect(await runs(write, lose)).toEqual([1, 2])
  expect(proven).toEqual([true, false, true])
})

test('a job that was cut starts again where Redis has lost its parts, and no message is dropped', async () => {
  const parts = [0, 1].map((slice) => ({ messages: [0, 1], slices: [slice, slice + 1] }) as const)
  const seen: string[] = []
  const { completed } = await consume(async (run) => {
    if (run.part) {
      seen.push(`part ${run.part.slices[0]}`)
      return 'settled'
    }
    seen.push(`start ${run.fence}`)
    if (!(await run.handOutAgain())) await run.handOut(parts.map((part) => ({ ...part }) as never))
    if (run.fence > 1) return 'cut'
    // Jobs run one at a time here, so no part has begun.
    await loseParts(jobOf(run) ?? '')
    return 'cut'
  }, 1)
  await publish('wide')
  await waitFor(() => completed.length === 3, { timeoutMs: 15_000 })
  expect(seen.toSorted()).toEqual(['part 0', 'part 1', 'start 1', 'start 2', 'start 3'])
})

async function loseParts(job: string): Promise<void> {
  const added = (await redis.keys(`${JOBS}:${job}-*`)).map((key) => key.slice(JOBS.length + 1))
  const gone = redis.multi().hdel(`${JOBS}:${job}`, 'parts').del(`${JOBS}:${job}:dependencies`)
  for (const id of added) gone.del(`${JOBS}:${id}`).lrem(`${JOBS}:wait`, 0, id)
  await gone.exec()
  await restart()
}
