import { isQueueName } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { bridgeQueueName, sqsName } from './bridge-queue.ts'

test('the queues of a bridge have names that SQS takes, whatever the length of the topic’s name', () => {
  const short = bridgeQueueName({ name: 'orders.fifo', isFifo: true })
  expect([short, sqsName('fantail-bridge-orders', '-refused.fifo')]).toEqual([
    'fantail-bridge-orders.fifo',
    'fantail-bridge-orders-refused.fifo',
  ])
  const long = ['a', 'b'].map((end) => `${'x'.repeat(250)}${end}`)
  const names = long.flatMap((name) => [
    bridgeQueueName({ name, isFifo: false }),
    bridgeQueueName({ name: `${name}.fifo`, isFifo: true }),
    sqsName(bridgeQueueName({ name, isFifo: false }), '-refused'),
  ])
  expect(names.filter(isQueueName)).toHaveLength(6)
  expect(new Set(names).size).toBe(6)
})
