import { createLogger } from '@fantail/runtime'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { standingCopies } from '../fixtures/standing-copies.fixture.ts'
import type { CompiledSlice } from '../topics/compiled-slice.ts'
import type { MessageContext } from '../topics/message-context.ts'
import { Checkpoints, type CheckpointsOptions } from './checkpoints.ts'
import { JobRun, Unit } from './job-run.ts'
import { RunRetries } from './run-retries.ts'

const log = createLogger({ service: 'test', level: 'silent' })

function createRun(key: string, shard: number): JobRun {
  const of = { key, fence: 1, messages: [], isLost: () => false, copies: standingCopies() }
  const run = new JobRun(
    { ...of, hasCapacityFor: never, handOut: never, handOutAgain: never },
    [],
    () => undefined,
  )
  const slice = { sliceId: `${key}.0`, shard, slots: 8 } as CompiledSlice
  run.addUnit(new Unit({ run, index: 0, context: {} as MessageContext, slice, checkedAt: 0 }))
  return run
}

async function never(): Promise<never> {
  throw new Error('not asked for')
}

test('one checkpoint of a run and shard is asked for at a time, however long Redis is away', async () => {
  const asked: string[] = []
  const checkpoint = (shard: number, { key }: { key: string }) => void asked.push(`${key} ${shard}`)
  const options = {
    parking: { checkpoint },
    log,
    retries: new RunRetries(log),
  } as unknown as CheckpointsOptions
  const checkpoints = new Checkpoints(options)
  const [waiting, moving] = [createRun('waiting', 1), createRun('moving', 2)]
  for (const run of [waiting, moving]) {
    checkpoints.begin(run)
    run.units[0]?.markSettled(0)
  }
  for (let slot = 1; slot < 5; slot++) {
    await waitFor(() => asked.filter((one) => one === 'moving 2').length === slot)
    // Reads the fields as a write does. The other run's fields are not read.
    moving.checkpointFields(2)
    moving.units[0]?.markSettled(slot)
  }
  expect(asked.filter((one) => one === 'waiting 1')).toHaveLength(1)
  for (const run of [waiting, moving]) checkpoints.end(run)
})

test('a checkpoint that is written again leaves out copies that may be gone meanwhile', async () => {
  const stored: Buffer[] = []
  const run = createRun('appended', 3)
  let holds = true
  run.units[0]?.markSettled(0)
  run.units[0]?.markDelivered(1, 200, { key: 'queue', at: 0, holds: () => holds })
  const park: CheckpointsOptions['lanes']['park'] = async (_shard, { jobs }) => {
    stored.push(...jobs.flatMap(({ fields }) => fields.map(([, bits]) => Buffer.from(bits))))
    if (!holds)
      return { jobs: [{ stale: false }] } as Awaited<ReturnType<CheckpointsOptions['lanes']['park']>>
    holds = false
    throw new Error('Connection is closed.')
  }
  const options = { lanes: { park }, log, retries: new RunRetries(log) } as unknown as CheckpointsOptions
  await new Checkpoints(options).save(run)
  expect(stored.map((bits) => bits[0])).toEqual([0b11, 0b01])
})
