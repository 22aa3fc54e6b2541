import { createMessageId, parseMessageId } from '@fantail/contracts'
import { RunCopies } from '@fantail/jobs'
import { createLogger } from '@fantail/runtime'
import { batchField, type ParkRequest } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { lastingCopies } from '../fixtures/lasting-copies.fixture.ts'
import { MessageContext } from '../messages/message-context.ts'
import type { FencedRun } from './park-items.ts'
import { Parking } from './parking.ts'

const log = createLogger({ service: 'test', level: 'silent' })
const [BATCH] = batchField('')

/** Lanes that park every delivery. The first reply is lost. */
function createLanes() {
  const requests: ParkRequest[] = []
  const park = async (_shard: number, request: ParkRequest) => {
    requests.push(request)
    if (requests.length === 1) throw new Error('Connection is closed.')
    const jobs = request.jobs.map(({ entries }) => ({
      stale: false as const,
      outcomes: entries.map(() => 'parked' as const),
      leases: entries.map(() => null),
    }))
    return { jobs, nextDueAt: null }
  }
  const names = () =>
    requests.map(({ jobs }) => jobs[0]?.fields.find(([name]) => name === BATCH)?.[1].toString())
  return { park, names }
}

const run: FencedRun = {
  jobName: 'dispatch-0:1',
  fence: 2,
  lost: false,
  ended: false,
  copies: lastingCopies(),
  checkpointFields: () => [],
  checkpointed: () => undefined,
}

async function parkOne(parking: Parking, of = run, settle: (isParked: boolean) => unknown = () => undefined) {
  const messageId = createMessageId(1)
  const message = { messageId, topicArn: 'arn', publishedAt: 1, message: '' }
  const delivery = parseMessageId(messageId) ?? Buffer.alloc(16)
  let ended: string | undefined
  parking.park(0, {
    run: of,
    subscriptionId: 'id',
    delivery,
    context: new MessageContext(message),
    park: { as: 'fresh' },
    settle,
    done: (outcome) => {
      ended = outcome
    },
  })
  return waitFor(() => ended)
}

test('a batch is repeated under its own name, and the next has another', async () => {
  const lanes = createLanes()
  const parking = new Parking(lanes, log, () => undefined)
  await parkOne(parking)
  await parkOne(parking)
  const [first, again, next] = lanes.names()
  expect(first).toMatch(/.+\.1$/)
  expect([again, next]).toEqual([first, first?.replace(/1$/, '2')])
})

test('two processes name no batch alike, also where a failover has given their runs the same fence', async () => {
  const lanes = createLanes()
  await parkOne(new Parking(lanes, log, () => undefined))
  await parkOne(new Parking(lanes, log, () => undefined))
  expect(new Set(lanes.names()).size).toBe(2)
})

test('a run goes on where the reply to its batch was lost with the connection', async () => {
  let [connections, batches] = [0, 0]
  let stored: string | null = null
  const mark = (key: string) => {
    const connection = connections
    return { key, at: 0, holds: () => connection === connections }
  }
  const copies = new RunCopies({ mark, readNames: async () => ({ fence: null, batch: stored }) })
  const park = async (_shard: number, { jobs }: ParkRequest) => {
    const field = jobs[0]?.fields.find(([name]) => name === BATCH)
    stored = String(field?.[1])
    if (++batches === 2) {
      connections++
      throw new Error('Connection is closed.')
    }
    return {
      jobs: [{ stale: false as const, outcomes: ['parked' as const], leases: [null] }],
      nextDueAt: null,
    }
  }
  const parking = new Parking({ park }, log, () => undefined)
  const withCopies = { ...run, copies }
  await parkOne(parking, withCopies)
  await parkOne(parking, withCopies)
  expect([withCopies.lost, batches]).toEqual([false, 3])
})

test('a delivery that cannot be parked is in no checkpoint, and its run stores the others before it is lost', async () => {
  const requests: ParkRequest[] = []
  const park = async (_shard: number, request: ParkRequest) => {
    requests.push(request)
    const outcomes = (entries: unknown[]) =>
      entries.map((_, i) => (i === 0 ? { error: 'WRONGTYPE' } : ('parked' as const)))
    const jobs = request.jobs.map(({ entries }) => ({
      ...{ stale: false as const, outcomes: outcomes(entries), leases: entries.map(() => null) },
    }))
    return { jobs, nextDueAt: null }
  }
  const settled = { bad: false, good: false }
  const fields = (): [string, Buffer][] => [['settled', Buffer.from(JSON.stringify(settled))]]
  const failing = { ...run, checkpointFields: fields }
  const parking = new Parking({ park }, log, () => undefined)
  const ends = [
    parkOne(parking, failing, (isParked) => Object.assign(settled, { bad: isParked })),
    parkOne(parking, failing, (isParked) => Object.assign(settled, { good: isParked })),
  ]
  expect(await Promise.all(ends)).toEqual(['stale', 'parked'])
  expect(failing.lost).toBe(true)
  const stored = requests.map(({ jobs }) =>
    jobs[0]?.fields.find(([name]) => name === 'settled')?.[1].toString(),
  )
  expect(stored).toEqual(['{"bad":true,"good":true}', '{"bad":false,"good":true}'])
})

test('a script that keeps failing for one run loses that run, and parks for the others', async () => {
  const park = async (_shard: number, { jobs }: ParkRequest) => {
    if (jobs.some(({ jobName }) => jobName === 'bad'))
      throw new Error('ERR user_script:4: script: f0, on @user_script:4.')
    return {
      jobs: jobs.map(() => ({ stale: false as const, outcomes: ['parked' as const], leases: [null] })),
      nextDueAt: null,
    }
  }
  const [bad, good] = [
    { ...run, jobName: 'bad' },
    { ...run, jobName: 'good' },
  ]
  const parking = new Parking({ park }, log, () => undefined)
  const settled: boolean[] = []
  const ends = [parkOne(parking, bad, (isParked) => void settled.push(isParked)), parkOne(parking, good)]
  expect(await Promise.all(ends)).toEqual(['stale', 'parked'])
  expect([bad.lost, good.lost, settled.at(-1)]).toEqual([true, false, false])
})
