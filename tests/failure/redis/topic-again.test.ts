/** A topic is deleted and created again while messages with Idempotency-Keys are published to it. */
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { beginFault, LONG } from '../../harness/ledgers/fault-rows.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { useStack } from '../../harness/services/stack.ts'

const ROUNDS = LONG ? 20 : 2
const KEYS = 60

const stack = useStack({ env: { FANTAIL_FIFO_HTTP: 'true' } })
const receiver = useReceiver()

test.each(['again', 'again.fifo'])(
  'no key of the earlier topic keeps a message from the new one: %s',
  async (topic) => {
    const row = beginFault('topic-again')
    const { client } = stack()
    const keys = Array.from({ length: KEYS }, (_, key) => String(key))
    const remove = () => client.call('DELETE', `/v1/topics/${topic}`)
    const make = async (path: string) => {
      await client.put(`/v1/topics/${topic}`)
      const endpoint = `${receiver().url}${path}`
      await client.post(`/v1/topics/${topic}/subscriptions`, { endpoint, rawMessageDelivery: true })
    }
    const publish = async (key: string) => {
      const order = topic.endsWith('.fifo') && { groupId: key, deduplicationId: key }
      const { status } = await client.call('POST', `/v1/topics/${topic}/messages`, {
        body: { message: key, ...order },
        headers: { 'idempotency-key': key },
      })
      return status
    }
    let arrivals = 0
    for (let round = 0; round < ROUNDS; round++) {
      await make(`/${topic}/${round}/before`)
      const inFlight = keys.map(publish)
      await Promise.race(inFlight)
      await remove()
      await Promise.all(inFlight)
      const path = `/${topic}/${round}/after`
      await make(path)
      expect(new Set(await Promise.all(keys.map(publish)))).toEqual(new Set([202]))
      const texts = () =>
        receiver()
          .requestsTo(path)
          .map(({ text }) => text)
      await waitFor(() => new Set(texts()).size === KEYS, { what: `the messages of round ${round}` })
      // When the last one has arrived, all earlier ones have.
      expect(await publish('last')).toBe(202)
      await waitFor(() => texts().includes('last'), { what: 'the last message' })
      arrivals += texts().length - 1
      await remove()
    }
    const messages = ROUNDS * KEYS
    row.report({ messages, lost: 0, duplicates: arrivals - messages, recoverySeconds: null })
    expect(arrivals).toBe(messages)
  },
)
