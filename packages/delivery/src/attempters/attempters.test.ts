import { PROTOCOLS } from '@fantail/contracts'
import { expect, test } from 'vitest'
import type { Attempter } from './attempter.ts'
import { type Attempters, closeAttempters } from './attempters.ts'

test('attempters are closed once each, also one that several protocols share', async () => {
  const closed: string[] = []
  const attempter = (name: string): Attempter => ({
    openAhead: () => undefined,
    attempt: () => undefined,
    close: async () => void closed.push(name),
  })
  const webhook = attempter('webhook')
  const own = Object.fromEntries(PROTOCOLS.map((protocol) => [protocol, attempter(protocol)])) as Attempters
  await closeAttempters({ ...own, http: webhook, https: webhook })
  const others = PROTOCOLS.filter((protocol) => protocol !== 'http' && protocol !== 'https')
  expect(closed.toSorted()).toEqual([...others, 'webhook'].toSorted())
})
