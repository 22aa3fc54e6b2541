import { afterEach, expect, test } from 'vitest'
import type { Interest } from './live-interest.ts'
import { type LiveNotice, LiveSender } from './live-sender.ts'

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
const hear = (turn: number, ...interests: Interest[]) =>
  sender.heard(JSON.stringify({ process: 'p', turn, interests }))
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
