/** `@fantail/testing` on a real stack: deliveries, waits and their errors, dead letters, signatures. */
import { readFileSync } from 'node:fs'
import { waitFor } from '@fantail/test-kit'
import { type FantailStack, type Receiver, startFantail, WaitTimeoutError } from '@fantail/testing'
import '@fantail/testing/vitest'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { childrenOf } from '../../infra/dev/dev-task.fixture.ts'
import { HAS_REDIS, stackOptions } from './stack-options.ts'

const RETRIED_AT_ONCE = { deliveryPolicy: { healthyRetryPolicy: { numRetries: 3, numNoDelayRetries: 3 } } }
const RETRIED_LATE = {
  deliveryPolicy: { healthyRetryPolicy: { minDelayTarget: 3_600, maxDelayTarget: 3_600 } },
}

/** The workers that this process has started. */
function workers(): number[] {
  return childrenOf(process.pid).filter((pid) => commandOf(pid).includes('delivery-worker'))
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return '' // It has ended.
  }
}

describe.runIf(HAS_REDIS)('a stack', () => {
  let fantail: FantailStack
  let receiver: Receiver

  beforeAll(async () => {
    fantail = await startFantail(stackOptions())
    receiver = await fantail.receiver()
  })
  afterAll(() => fantail.stop())

  test('a delivery is retried as the script says, and nothing else comes', async () => {
    const path = receiver.on('/retried')
    path
      .reply(500)
      .then('reset')
      .then({ status: 200, body: { thanks: true } })
    await fantail.subscribe('retried', path, RETRIED_AT_ONCE)
    const { messageId } = await fantail.publish('retried', { order: 7 }, { attributes: { kind: 'paid' } })

    const [delivery] = await fantail.waitUntilDelivered(messageId)
    expect(delivery).toMatchObject({ attempts: 3, lastStatusCode: 200 })
    expect(path).toHaveReceived({ times: 3, messageId, message: { order: 7 }, attributes: { kind: 'paid' } })
    expect(path.requests.map(({ answered }) => answered)).toEqual([500, undefined, 200])
    await fantail.nothingElse()
  })

  test('messages that others publish are waited for, too', async () => {
    await fantail.subscribe('others', receiver.on('/others'))
    await fantail.client.topics('others').publishAll([{ message: 'a' }, { message: 'b' }])
    const path = receiver.on('/others')
    expect((await path.waitForRequests(2)).map(({ message }) => message).toSorted()).toEqual(['a', 'b'])
    await fantail.nothingElse()
    expect(path).toHaveReceived({ times: 2 })
  })

  test('a signature is checked by the key of its subscription', async () => {
    const path = receiver.on('/signed')
    const { id } = await fantail.subscribe('signed', path)
    const { secret = '' } = await fantail.client.subscriptions(id).createWebhookKey()
    const { messageId } = await fantail.publish('signed', 'text')
    await fantail.waitUntilDelivered(messageId, { subscription: id })
    await expect(path).toBeSignedBy(secret)
    await expect(path).not.toBeSignedBy('whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=')
    expect(await path.requests[0]?.verify(secret)).toMatchObject({ messageId, message: 'text' })
  })

  test('dead letters are waited for, by message and by queue', async () => {
    receiver.on('/refused').reply(404)
    const subscription = await fantail.subscribe('refused', receiver.on('/refused'))
    await fantail.subscribe('refused', receiver.on('/taken'))
    const { messageId } = await fantail.publish('refused', 'text')
    await fantail.waitUntilDeadLettered(messageId, { subscription })
    expect(await fantail.waitForDeadLetters('refused-dead-letters')).toHaveLength(1)
    // The wait for another end fails at once, and names the reason once.
    await expect(fantail.waitUntilDelivered(messageId)).rejects.toThrow(
      /but it was deadLettered\n.*2 deliveries\n(.*\n)?.* \S+\/refused, .*, last 404, because permanent\n/,
    )
  })

  describe('a wait that fails shows how things stand', () => {
    let messageId = ''
    let error: Error

    beforeAll(async () => {
      receiver.on('/down').reply(503)
      await fantail.subscribe('down', receiver.on('/down'), RETRIED_LATE)
      ;({ messageId } = await fantail.publish('down', 'text'))
      await receiver.on('/down').waitForRequests(1)
      const isTried = async () => (await fantail.timeline(messageId)).includes(' 1 of 4 attempts')
      await waitFor(isTried, { what: 'the first attempt' })
      error = await fantail.waitUntilDelivered(messageId, { timeoutMs: 0 }).then(
        () => new Error('delivered'),
        (reason: Error) => reason,
      )
    })

    test('with the timeline of the message', () => {
      expect(error).toBeInstanceOf(WaitTimeoutError)
      expect(error.message).toContain(
        `timed out after 0 ms: waited for message ${messageId} to be delivered\n`,
      )
      expect(error.message).toMatch(
        /waiting to \S+\/down, 1 of 4 attempts, last 503, because \w+ \(\d+ ms\), next at 2/,
      )
    })

    test('with the figures of the lane', () => {
      expect(error.message).toMatch(
        /\n {2}\S+\/down active: 1 waiting, 0 in flight, next attempt at \S+; \w+: /,
      )
    })

    test('also the waits for requests, dead letters and for nothing else', async () => {
      const soon = { timeoutMs: 0 }
      const stands = new RegExp(`message ${messageId}: 1 delivery`)
      await expect(receiver.on('/down').waitForRequests(9, soon)).rejects.toThrow(stands)
      await expect(receiver.on('/down').waitForRequests(9, soon)).rejects.toThrow(
        /9 requests to \S+\/down, 1 came/,
      )
      const letters = fantail.waitForDeadLetters('down-dead-letters', soon)
      await expect(letters).rejects.toThrow('1 dead letters in down-dead-letters, it does not exist')
      await expect(fantail.nothingElse(soon)).rejects.toThrow(
        /the end of all deliveries: 1 of \d+ messages go on/,
      )
      await expect(fantail.nothingElse(soon)).rejects.toThrow(stands)
    })

    test('paused deliveries do not count for nothing else, and a request that comes meanwhile is named', async () => {
      const ended = fantail.nothingElse().then(() => '', String)
      await fetch(`${receiver.url}/uninvited`)
      const [delivery] = await fantail.client.messages(messageId).deliveries()
      await fantail.client.subscriptions(delivery?.subscriptionId ?? '').pause()
      expect(await ended).toMatch(/nothing else was expected, but 1 requests came:\n.* GET \/uninvited/)
      await fantail.nothingElse()
    })
  })

  test('a service that has ended is named with the end of its log', async () => {
    const before = workers()
    const stack = await startFantail(stackOptions())
    const { messageId } = await stack.publish((await stack.client.topics('a').create()).name, 'text')
    await stack.nothingElse()
    const [worker = 0] = workers().filter((pid) => !before.includes(pid))
    process.kill(worker, 'SIGKILL')
    const ended = /^delivery-worker: it ended with SIGKILL\ndelivery-worker \{"level"/m
    await waitFor(async () => ended.test(await stack.timeline(messageId)), { what: 'the end of the worker' })
    const wait = stack.waitUntilDelivered(messageId, { timeoutMs: 0 })
    await expect(wait).rejects.toThrow(ended)
    await stack.stop()
  })
})

test('settings that the stack needs itself are refused, and so is a folder without services', async () => {
  await expect(startFantail({ env: { FANTAIL_LOG_MESSAGES: '0', REDIS_URL: 'redis://x' } })).rejects.toThrow(
    'env: startFantail sets FANTAIL_LOG_MESSAGES, REDIS_URL itself',
  )
  await expect(startFantail({ server: '/' })).rejects.toThrow(
    /neither a checkout of Fantail nor built services/,
  )
})
