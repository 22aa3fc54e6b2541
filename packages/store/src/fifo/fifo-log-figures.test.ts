import { topicArn } from '@fantail/contracts'
import { useRedis } from '@fantail/test-kit/use-redis'
import { expect, test } from 'vitest'
import { FifoLog, FifoReading, fifoLogFigures, Lanes, shardOf } from '../index.ts'
import { FIFO_ARN, fifoMessage, makeFifoTopic } from './fifo.fixture.ts'

const { redis } = await useRedis()

test('counts each log’s messages, with the time of the first publish, until it is read', async () => {
  const other = topicArn('other.fifo')
  const log = new FifoLog(redis)
  await makeFifoTopic(redis)
  await makeFifoTopic(redis, {}, other)
  expect(await fifoLogFigures(redis)).toEqual([])
  const messages = ['x', 'y', 'z'].map((text) => fifoMessage(text))
  await log.publish(FIFO_ARN, messages)
  const [first] = [fifoMessage('first', 'a', { topicArn: other })]
  await log.publish(other, [first])
  const figures = await fifoLogFigures(redis)
  expect(new Set(figures)).toEqual(
    new Set([
      { topicArn: FIFO_ARN, messages: 3, oldestPublishedAt: messages[0]?.publishedAt },
      { topicArn: other, messages: 1, oldestPublishedAt: first.publishedAt },
    ]),
  )
  await readAll(FIFO_ARN)
  expect((await fifoLogFigures(redis)).map(({ topicArn }) => topicArn)).toEqual([other])
})

/** Reads the whole log of a topic without subscriptions, as a worker does. */
async function readAll(arn: string): Promise<void> {
  const limits = new Map<string, number>()
  const request = { lanesMax: 10, logsMax: 10, deliveriesMax: 10, leaseMs: 1_000, limits }
  const { logs } = await new Lanes(redis).take(shardOf(arn), request)
  const [claim] = logs
  if (!claim) throw new Error('the log was not due')
  const reading = new FifoReading(redis)
  const found = await reading.read(shardOf(arn), claim)
  const entries = found.kind === 'moved' ? found.entries : []
  // While the log is lent, its messages still count.
  expect((await fifoLogFigures(redis)).map(({ topicArn }) => topicArn)).toContain(arn)
  await reading.move(shardOf(arn), claim, {
    subscriptions: [],
    messages: entries.map(({ id }) => ({ id, to: [] })),
  })
}
