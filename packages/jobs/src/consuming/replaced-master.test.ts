/**
 * Tests a master that Sentinels have replaced, but that still runs and takes writes. A worker's connections may lead to
 * the old or the new master.
 */
import { connect, type Redis, shardBase, whenReady } from '@fantail/store'
import { startWithReplica, waitFor } from '@fantail/test-kit'
import { afterAll, expect, test, vi } from 'vitest'
import { createPublisher } from '../publishing/publisher.ts'
import { JOBS, message } from './dispatch-consumer.fixture.ts'
import { DispatchConsumer } from './dispatch-consumer.ts'
import type { DispatchRun, RunId } from './dispatch-run.ts'

const { master, replica, stop } = await startWithReplica()
const redis = connect({ url: master.url, name: 'test' })
const atReplica = connect({ url: replica.url, name: 'test' })
await Promise.all([redis, atReplica].map(whenReady))
afterAll(async () => {
  redis.disconnect()
  atReplica.disconnect()
  await stop()
})

test('a job is not completed at the new master because of copies at the one that it replaces', async () => {
  await publish('moved')
  await waitFor(async () => (await atReplica.exists(`${JOBS}:1`)) === 1, {
    what: 'the replica to have the job',
  })
  await atReplica.replicaof('NO', 'ONE')
  const looked = vi.spyOn(redis, 'hmget')
  const errors: (string | undefined)[] = []
  const fences: number[] = []
  const completed: RunId[] = []
  const consumer = new DispatchConsumer({
    url: replica.url,
    redis,
    queue: 0,
    jobsMax: 1,
    run: async (run) => {
      fences.push(run.fence)
      await park(run)
      return 'settled'
    },
    completed: (run) => completed.push(run),
    quarantine: () => Promise.reject(new Error('nothing here is to be quarantined')),
    log: { warn: ({ error }: { error?: string }) => errors.push(error), info: () => undefined },
  })
  await consumer.start()
  await waitFor(() => looked.mock.calls.length > 1 || completed.length > 0, { what: 'the run to end' })
  expect([fences, completed]).toEqual([[1], []])
  leadTo(redis, replica.port)
  await waitFor(() => completed.length > 0, { what: 'the job to be completed' })
  await consumer.stop()
  expect(fences).toEqual([1, 2])
  expect(errors[0]).toMatch('leads to another server')
})

async function publish(text: string): Promise<void> {
  const publisher = createPublisher({ url: master.url, queues: 1, minReplicas: 0 })
  await waitFor(() => publisher.ready)
  await publisher.publish([message(text)], { bytes: 300, fanOut: 1 })
  await publisher.close()
}

/** Parks like the worker's `parking.ts`. */
async function park(run: DispatchRun): Promise<void> {
  const mark = run.copies.mark(shardBase(0))
  await redis.hset(`${shardBase(0)}checkpoint:${run.jobName}`, 'p', 'a.1')
  run.copies.parked(0, 'a.1', mark)
}

/** Simulates Sentinels that name another master. */
function leadTo(connection: Redis, port: number): void {
  connection.options.port = port
  connection.disconnect(true)
}
