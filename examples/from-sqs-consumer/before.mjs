/** A worker with sqs-consumer. */
import { Consumer } from 'sqs-consumer'
import { setUp } from './setup.mjs'

const { client, queueUrl } = await setUp('orders-before')
let failures = 1

const consumer = Consumer.create({
  queueUrl,
  sqs: client,
  visibilityTimeout: 30,
  heartbeatInterval: 15,
  terminateVisibilityTimeout: true,
  handleMessage: async (message) => {
    if (failures-- > 0) throw new Error('not yet')
    console.log('handled', message.Body)
    // Without it, the message is not deleted.
    return message
  },
})
consumer.on('processing_error', ({ message }) => console.log('failed', message))
consumer.on('message_processed', () => consumer.stop())
consumer.on('stopped', () => client.destroy())
consumer.start()
