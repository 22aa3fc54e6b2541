import { createMessageId, type Message } from '@fantail/contracts'
import { PARSED_BYTES_MAX, parsedBytes, TooMuchWork } from '@fantail/policy'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { MessageContext } from '../messages/message-context.ts'
import { Matcher, type Matching } from './matcher.ts'

const WORST = 262_144

/** A message that is matched in steps, until `end` is called. */
function costly(size: number) {
  const message: Message = {
    messageId: createMessageId(1),
    topicArn: 'arn:aws:sns:us-east-1:000000000000:t',
    publishedAt: 1,
    message: 'x'.repeat(size),
  }
  const context = new MessageContext(message)
  const state = { isBegun: false, isParsed: false, isGivenUp: false, isEnded: false }
  const parse = () => {
    state.isParsed = true
  }
  const matching: Matching<string> = {
    context: {
      message,
      sizeBytes: context.sizeBytes,
      forgetSubjects: () => {
        state.isParsed = false
      },
    },
    inOneGo: () => {
      parse()
      throw new TooMuchWork()
    },
    *inSteps() {
      parse()
      state.isBegun = true
      while (!state.isEnded) yield 100_000
      return 'matched'
    },
    isGivenUp: () => state.isGivenUp,
  }
  return { matching, state }
}

const begunOf = (all: ReturnType<typeof costly>[]) => all.filter(({ state }) => state.isBegun).length

test('no more costly messages are begun, and parsed, than fill the bytes that there are for them', async () => {
  const matcher = new Matcher()
  const most = Math.floor(PARSED_BYTES_MAX / 2 / parsedBytes(WORST))
  const all = Array.from({ length: 5 * most }, () => costly(WORST))
  const results = all.map(({ matching }) => matcher.match(matching))
  await waitFor(() => begunOf(all) === most)
  const counts: number[] = []
  for (const [ended, { state }] of all.entries()) {
    await waitFor(() => begunOf(all) === Math.min(ended + most, all.length))
    counts.push(all.filter(({ state }) => state.isParsed).length)
    state.isEnded = true
    await results[ended]
  }
  expect(Math.max(...counts)).toBe(most)
  expect(await Promise.all(results)).toEqual(all.map(() => 'matched'))
  expect(all.some(({ state }) => state.isParsed)).toBe(false)
})

test('messages begin in the order in which they came, and what is matched in one go waits for none of them', async () => {
  const matcher = new Matcher()
  const all = Array.from({ length: 40 }, () => costly(WORST))
  const results = all.map(({ matching }) => matcher.match(matching))
  const cheap = { ...costly(10).matching, inOneGo: () => 'at once' }
  expect(await matcher.match(cheap)).toBe('at once')
  await waitFor(() => begunOf(all) > 0)
  const begun = begunOf(all)
  expect(all.slice(0, begun).every(({ state }) => state.isBegun)).toBe(true)
  expect(all[begun]?.state.isBegun).toBe(false)
  if (all[1]) all[1].state.isEnded = true
  await waitFor(() => all[begun]?.state.isBegun)
  for (const { state } of all) state.isEnded = true
  await Promise.all(results)
})

test('a small costly message waits for no large ones, however many they are', async () => {
  const matcher = new Matcher()
  const large = Array.from({ length: 40 }, () => costly(WORST))
  const results = large.map(({ matching }) => matcher.match(matching))
  const small = costly(1_024)
  small.state.isEnded = true
  expect(await matcher.match(small.matching)).toBe('matched')
  for (const { state } of large) state.isEnded = true
  await Promise.all(results)
})

test('a message that is larger than what there is begins alone, and one that was given up does not begin', async () => {
  const matcher = new Matcher()
  const [first, givenUp, huge] = [costly(WORST), costly(WORST), costly(PARSED_BYTES_MAX / 64)]
  const [a, b, c] = [first, huge, givenUp].map(({ matching }) => matcher.match(matching))
  await waitFor(() => first.state.isBegun)
  expect(huge.state.isBegun).toBe(false)
  first.state.isEnded = true
  await a
  await waitFor(() => huge.state.isBegun)
  givenUp.state.isGivenUp = true
  huge.state.isEnded = true
  expect([await b, await c]).toEqual(['matched', undefined])
  expect(givenUp.state.isBegun).toBe(false)
})
