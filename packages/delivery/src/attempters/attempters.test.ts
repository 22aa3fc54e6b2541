import { expect, test } from 'vitest'
import type { Attempter } from './attempter.ts'
import { closeAttempters } from './attempters.ts'

test('attempters are closed once each, also one that several protocols share', async () => {
  const closed: string[] = []
  const attempter = (name: string): Attempter => ({
    openAhead: () => undefined,
    attempt: () => undefined,
    close: async () => void closed.push(name),
  })
  const webhook = attempter('webhook')
  const [queue, lambda, firehose, mail] = ['queue', 'function', 'stream', 'mail'].map(attempter)
  if (!queue || !lambda || !firehose || !mail) throw new Error('four were made')
  await closeAttempters({
    http: webhook,
    https: webhook,
    sqs: queue,
    lambda,
    firehose,
    email: mail,
    'email-json': mail,
  })
  expect(closed).toEqual(['webhook', 'queue', 'function', 'stream', 'mail'])
})
