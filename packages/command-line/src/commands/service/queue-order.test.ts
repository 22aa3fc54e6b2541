import { expect, test } from 'vitest'
import { planOf } from './state-plan.ts'

const NOTHING = { version: 1 as const, queues: [], topics: [] }
const queue = (name: string, target?: string) => ({
  name,
  settings:
    target === undefined ? {} : { redrivePolicy: { deadLetterTargetArn: target, maxReceiveCount: 1 } },
})
const arn = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${name}`

test('a dead-letter queue is made before the queues that name it, by name or ARN', () => {
  const queues = [queue('a', arn('b')), queue('b', 'c'), queue('c'), queue('d', 'elsewhere')]
  const steps = planOf({ ...NOTHING, queues }, NOTHING, { prune: false })
  expect(steps.map(({ act, name }) => `${act} ${name}`)).toEqual([
    'create c',
    'create b',
    'create a',
    'create d',
  ])
})

test('queues of a circle get their redrive policy when all of them exist', () => {
  const queues = [queue('a', 'b'), queue('b', 'a'), queue('own', 'own')]
  const steps = planOf({ ...NOTHING, queues }, NOTHING, { prune: false })
  expect(steps.map(({ act, name, settings }) => [act, name, 'redrivePolicy' in settings])).toEqual([
    ['create', 'b', false],
    ['create', 'a', true],
    ['create', 'own', false],
    ['change', 'b', true],
    ['change', 'own', true],
  ])
  const found = { ...NOTHING, queues }
  expect(planOf({ ...NOTHING, queues }, found, { prune: false })).toEqual([])
})
