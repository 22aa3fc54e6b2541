import { createMessageId } from '@fantail/contracts'
import { createLogger } from '@fantail/runtime'
import { batchField } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { lastingCopies } from '../fixtures/lasting-copies.fixture.ts'
import { MessageContext } from '../messages/message-context.ts'
import { JobRun } from '../runs/job-run.ts'
import { Unit } from '../runs/unit.ts'
import { Parking } from '../settling/parking.ts'
import type { CompiledSlice } from '../topics/compiled-slice.ts'
import { Checkpoints, type CheckpointsOptions } from './checkpoints.ts'
import { RunRetries } from './run-retries.ts'

const [BATCH] = batchField('')
const log = createLogger({ service: 'test', level: 'silent' })

function createRun(jobName: string, shard: number): JobRun {
  const of = { jobName, fence: 1, messages: [], isLost: () => false, copies: lastingCopies() }
  const run = new JobRun(
    { ...of, hasCapacityFor: never, handOut: never, handOutAgain: never },
    [],
    () => undefined,
  )
  const slice = { sliceId: `${jobName}.0`, shard, bits: 8 } as CompiledSlice
  run.addUnit(new Unit({ run, index: 0, context: {} as MessageContext, slice, checkedAt: 0 }))
  return run
}

async function never(): Promise<never> {
  throw new Error('not asked for')
}

test('one checkpoint of a run and shard is asked for at a time, however long Redis is away', async () => {
  const asked: string[] = []
  const checkpoint = (shard: number, { jobName }: { jobName: string }) =>
    void asked.push(`${jobName} ${shard}`)
  const options = {
    parking: { checkpoint },
    log,
    retries: new RunRetries(log),
  } as unknown as CheckpointsOptions
  const checkpoints = new Checkpoints(options)
  const [waiting, moving] = [createRun('waiting', 1), createRun('moving', 2)]
  for (const run of [waiting, moving]) {
    checkpoints.begin(run)
    run.units[0]?.settle(0)
  }
  for (let bit = 1; bit < 5; bit++) {
    await waitFor(() => asked.filter((one) => one === 'moving 2').length === bit)
    // Reads the fields as a write does. The other run's fields are not read.
    moving.checkpointFields(2)
    moving.units[0]?.settle(bit)
  }
  expect(asked.filter((one) => one === 'waiting 1')).toHaveLength(1)
  for (const run of [waiting, moving]) checkpoints.end(run)
})

type Park = CheckpointsOptions['lanes']['park']
type Request = Parameters<Park>[1]
type Outcome = 'parked' | { error: string }

const bitsIn = ({ jobs }: Request) =>
  jobs.flatMap(({ fields }) => fields.filter(([name]) => name !== BATCH).map(([, bits]) => bits[0] ?? 0))

/** Checkpoints and parking on lanes of which `answer` says how the entries of a request end. */
function createSaving(answer: (request: Request) => Outcome | Promise<Outcome>) {
  /** Bits of the checkpoints that were written. As in the script, no request with a failed entry writes one. */
  const stored: number[] = []
  const park = async (_shard: number, request: Request) => {
    const outcome = await answer(request)
    const hasFailed = outcome !== 'parked' && request.jobs.some(({ entries }) => entries.length > 0)
    if (!hasFailed) stored.push(...bitsIn(request))
    const jobs = request.jobs.map(({ entries }) => ({
      stale: false as const,
      outcomes: entries.map(() => outcome),
      leases: entries.map(() => null),
    }))
    return { jobs, nextDueAt: null }
  }
  const parking = new Parking({ park }, log, () => undefined)
  const options = { lanes: { park }, parking, log, retries: new RunRetries(log) } as unknown
  return { stored, parking, checkpoints: new Checkpoints(options as CheckpointsOptions) }
}

test('a checkpoint that is written again leaves out copies that may be gone meanwhile', async () => {
  const tried: number[] = []
  const run = createRun('appended', 3)
  let holds = true
  run.units[0]?.settle(0)
  run.units[0]?.settleDelivered(1, 200, { key: 'queue', at: 0, holds: () => holds })
  const { stored, checkpoints } = createSaving((request) => {
    tried.push(...bitsIn(request))
    if (!holds) return 'parked'
    holds = false
    throw new Error('Connection is closed.')
  })
  await checkpoints.save(run)
  expect([tried, stored]).toEqual([[0b11, 0b01], [0b01]])
})

test('a run’s checkpoint leaves out a delivery whose park is under way and fails later', async () => {
  const run = createRun('abandoned', 3)
  const unit = run.units[0]
  unit?.settle(0)
  const saving = Promise.withResolvers<void>()
  let tries = 0
  const { stored, parking, checkpoints } = createSaving(async () => {
    if (++tries > 1) return { error: 'WRONGTYPE' }
    await saving.promise
    throw new Error('Connection is closed.')
  })
  const message = { messageId: createMessageId(1), topicArn: 'arn', publishedAt: 1, message: '' }
  const parked = new Promise((done) => {
    parking.park(3, {
      run,
      subscriptionId: 'id',
      delivery: Buffer.alloc(16),
      context: new MessageContext(message),
      park: { as: 'fresh' },
      settle: (isParked) => (isParked ? unit?.settle(1) : unit?.unsettle(1)),
      done,
    })
  })
  await waitFor(() => tries === 1)
  const saved = checkpoints.save(run)
  saving.resolve()
  await saved
  expect([await parked, stored]).toEqual(['stale', [0b01]])
})
