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
  const [queue, lambda] = [attempter('queue'), attempter('function')]
  await closeAttempters({ http: webhook, https: webhook, sqs: queue, lambda })
  expect(closed).toEqual(['webhook', 'queue', 'function'])
})
