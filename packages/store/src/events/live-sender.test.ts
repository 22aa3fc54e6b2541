import { waitFor } from '@fantail/test-kit'
import { afterEach, expect, test } from 'vitest'
import type { LiveNotice } from './live-groups.ts'
import type { Interest } from './live-interest.ts'
import { LiveSender } from './live-sender.ts'

const TOPIC = 'arn:aws:sns:us-east-1:000000000000:orders'
const sent: { channel: string; notice: LiveNotice }[] = []
const publish = async (channel: string, text: string) => {
  sent.push({ channel, notice: JSON.parse(text) })
  return 1
}
let sender = new LiveSender({ publish: publish as never })

afterEach(() => {
  sender.stop()
  sent.length = 0
  sender = new LiveSender({ publish: publish as never })
})

const interest = (set: Partial<Interest> = {}): Interest => ({
  id: 'a',
  types: ['attempt'],
  max: 100,
  ...set,
})
const hear = (sequence: number, ...interests: Interest[]) =>
  sender.heard(JSON.stringify({ process: 'p', sequence, interests }))
const attempt = (statusCode: number | null, topicArn = TOPIC) => {
  const facts = { type: 'attempt', topicArn, statusCode, subscriptionId: 's' } as const
  sender.send(facts, () => ({ ...facts, at: 1 }))
}

/** The statuses that every listener got, and how many were left out. */
function received() {
  sender.stop()
  const notices = sent.map(({ notice }) => notice)
  return {
    statuses: notices.flatMap(({ events }) =>
      events.map(({ to, event }) => [to.join(' '), event.statusCode]),
    ),
    dropped: notices.map(({ dropped }) => dropped),
  }
}

test('without listeners it is off, and it hears no text of another form', () => {
  sender.heard('no JSON')
  sender.heard('{"process":1}')
  attempt(200)
  expect([sender.on, sent]).toEqual([false, []])
})

test('each listener gets what it wants, and the others of a second are counted', () => {
  hear(
    1,
    interest({ statuses: ['5xx', 'none'] }),
    interest({ id: 'b', max: 2 }),
    interest({ id: 'c', prefixes: ['x'] }),
  )
  for (const code of [200, 503, null, 404]) attempt(code)
  expect(received()).toEqual({
    statuses: [
      ['b', 200],
      ['a b', 503],
      ['a', null],
    ],
    dropped: [{ b: 2 }],
  })
  expect(sent[0]?.channel).toBe('ft:live:p')
})

test('while all listeners have had their events of a second, callers are told, and each counts what it wanted', () => {
  const other = TOPIC.replace('orders', 'clicks')
  hear(
    1,
    interest({ max: 1 }),
    interest({ id: 'b', max: 1, types: ['published', 'attempt'], topicArn: other }),
  )
  expect(sender.leavesOut('attempt', TOPIC)).toBe(false)
  attempt(200)
  expect(sender.leavesOut('attempt', TOPIC)).toBe(false)
  attempt(201, other)
  const all = [
    sender.leavesOut('attempt', TOPIC),
    sender.leavesOut('attempt', other),
    sender.leavesOut('published', other, 5),
    sender.leavesOut('published', TOPIC, 7),
  ]
  expect(all).toEqual([true, true, true, true])
  hear(2, interest({ max: 1 }), interest({ id: 'c', statuses: ['5xx'] }))
  expect(sender.leavesOut('attempt', TOPIC)).toBe(false)
  const { statuses, dropped } = received()
  expect(statuses).toEqual([
    ['a', 200],
    ['b', 201],
  ])
  expect(dropped).toEqual([{ a: 3, b: 6 }])
})

test('the number of events left out is sent when the second ends, although nothing else happens', async () => {
  hear(1, interest({ max: 1 }))
  attempt(200)
  expect(sender.leavesOut('attempt', TOPIC, 3)).toBe(true)
  await waitFor(() => sent.some(({ notice }) => notice.dropped.a === 3))
})

test('an announcement that comes late does not bring back a listener that has left', () => {
  hear(1, interest())
  expect(sender.on).toBe(true)
  hear(3)
  hear(2, interest())
  attempt(200)
  expect([sender.on, sent]).toEqual([false, []])
  hear(4, interest())
  expect(sender.on).toBe(true)
})

test('events that could not be sent are counted with the next message', async () => {
  let isDown = true
  sender = new LiveSender({
    publish: (async (channel: string, text: string) => {
      if (isDown) throw new Error('away')
      return publish(channel, text)
    }) as never,
  })
  hear(1, interest({ max: 1_000 }))
  for (let n = 0; n < 200; n++) attempt(200)
  await new Promise((resolve) => setImmediate(resolve))
  isDown = false
  attempt(500)
  expect(received()).toEqual({ statuses: [['a', 500]], dropped: [{ a: 200 }] })
})
