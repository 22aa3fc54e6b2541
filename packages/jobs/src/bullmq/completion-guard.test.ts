import { openSince } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { expect, test } from 'vitest'
import { createWorker, openQueue } from './bull.ts'
import { completedJob } from './completion-guard.ts'

const { server, redis } = await useRedis({ appendfsync: 'always' })

test('a worker asks before it completes a job, and tries the job again where it must not', async () => {
  const asked: string[] = []
  let tries = 0
  const worker = createWorker({
    name: 'guarded',
    url: server.url,
    jobsMax: 1,
    process: async () => void tries++,
    guard: {
      mayComplete: (job) => asked.push(job) > 1,
      prove: () => Promise.reject(new Error('the copies are gone')),
    },
  })
  const errors: string[] = []
  worker.on('error', ({ message }) => errors.push(message))
  const queue = await openQueue({ name: 'guarded', connection: redis }, () => undefined)
  void worker.run()
  const { id } = await queue.add('job', {})
  await waitFor(async () => (await queue.getJobCounts()).delayed === 1 || tries === 2)
  await waitFor(() => tries === 2)
  await waitFor(() => asked.length === 2)
  await worker.close()
  await queue.close()
  expect([asked, errors]).toEqual([[id, id], ['the copies are gone']])
})

test('a completion that waited for a connection is asked about when it is sent', async () => {
  const opened: number[] = []
  const started = Promise.withResolvers<void>()
  const noticed = Promise.withResolvers<void>()
  const errors: Error[] = []
  let proofs = 0
  const worker = createWorker({
    name: 'waits',
    url: server.url,
    jobsMax: 1,
    process: () => {
      started.resolve()
      return noticed.promise
    },
    guard: {
      mayComplete: (_job, sentOn) => {
        opened.push(openSince(sentOn))
        return openSince(sentOn) < Number.POSITIVE_INFINITY
      },
      prove: async () => void proofs++,
    },
  })
  worker.on('error', (error) => errors.push(error))
  const queue = await openQueue({ name: 'waits', connection: redis }, () => undefined)
  let completed = 0
  worker.on('completed', () => completed++)
  void worker.run()
  await queue.add('job', {})
  await started.promise
  await server.kill()
  const killedAt = performance.now()
  await waitFor(() => errors.length > 0, { what: 'the worker to find no server' })
  noticed.resolve()
  await server.restart()
  await waitFor(() => completed === 1)
  await worker.close()
  await queue.close()
  // The command is sent just before the connection is reported as open, so the guard proves it.
  expect([proofs, opened.at(-2)]).toEqual([1, Number.POSITIVE_INFINITY])
  expect(opened.at(-1)).toBeGreaterThan(killedAt)
})

test('only a completion of a job counts as one', () => {
  const args = ['sha', '2', 'ft:{q}:q:active', 'ft:{q}:q:completed', '7', '0', 'returnvalue', '', 'completed']
  expect(completedJob({ name: 'evalsha', args })).toBe('7')
  expect(completedJob({ name: 'evalsha', args: [...args.slice(0, -1), 'failed'] })).toBeUndefined()
  expect(completedJob({ name: 'get', args: ['key'] })).toBeUndefined()
})
