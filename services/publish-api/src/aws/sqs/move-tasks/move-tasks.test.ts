import {
  CancelMessageMoveTaskCommand,
  CreateQueueCommand,
  DeleteQueueCommand,
  ListMessageMoveTasksCommand,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs'
import { queueArn } from '@fantail/contracts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SqsApi, startSqsApi } from '../sqs.fixture.ts'

let sqs: SqsApi
beforeAll(async () => {
  sqs = await startSqsApi()
})
afterAll(() => sqs.stop())

const refused = (message: string) => ({ name: 'InvalidParameterValue', message })
const notThere = (message: string) => ({
  name: 'ResourceNotFoundException',
  message,
  $metadata: { httpStatusCode: 404 },
})
const missing = (parameter: string) =>
  notThere(`The resource that you specified for the ${parameter} parameter doesn't exist.`)

const create = (QueueName: string, Attributes = {}) =>
  sqs.client.send(new CreateQueueCommand({ QueueName, Attributes }))
const start = (SourceArn: string, more: Partial<StartMessageMoveTaskCommand['input']> = {}) =>
  sqs.client.send(new StartMessageMoveTaskCommand({ SourceArn, ...more }))
const list = async (SourceArn: string, MaxResults?: number) => {
  const command = new ListMessageMoveTasksCommand({ SourceArn, ...(MaxResults && { MaxResults }) })
  return (await sqs.client.send(command)).Results
}
const cancel = (TaskHandle: string) => sqs.client.send(new CancelMessageMoveTaskCommand({ TaskHandle }))

let names = 0
/** The ARN of a dead-letter queue of another queue, with `count` messages. */
async function aDeadLetterQueue(count = 0): Promise<string> {
  const name = `dead-${++names}`
  await create(name)
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: queueArn(name), maxReceiveCount: 1 })
  await create(`source-${names}`, { RedrivePolicy })
  await sqs.api.deps.queues.send(
    queueArn(name),
    Array.from({ length: count }, (_, i) => ({ body: `message ${i}` })),
  )
  return queueArn(name)
}

test('[187] the source must be a dead-letter queue', async () => {
  await create('plain')
  await expect(start(queueArn('plain'))).rejects.toMatchObject(
    refused('Source queue must be configured as a Dead Letter Queue.'),
  )
})

test('[187] the dead-letter queue of a subscription will do as well', async () => {
  await create('of-subscription')
  await sqs.api.call('PUT', '/v1/topics/orders')
  const { status } = await sqs.api.call('POST', '/v1/topics/orders/subscriptions', {
    body: {
      endpoint: 'https://example.com/',
      redrivePolicy: { deadLetterTargetArn: queueArn('of-subscription') },
    },
  })
  expect(status).toBe(201)
  expect((await start(queueArn('of-subscription'))).TaskHandle).toMatch(/^[A-Za-z0-9+/]+=*$/)
})

test('queues that are not there or do not fit are refused', async () => {
  const source = await aDeadLetterQueue()
  const format = (parameter: string) =>
    refused(
      `You must use this format to specify the ${parameter}: arn:<partition>:<service>:<region>:<account-id>:<resource-id>`,
    )
  await create('other.fifo', { FifoQueue: 'true' })
  await expect(start(queueArn('nowhere'))).rejects.toMatchObject(missing('SourceArn'))
  await expect(start('nowhere')).rejects.toMatchObject(format('SourceArn'))
  const to = (DestinationArn: string) => start(source, { DestinationArn })
  await expect(to(queueArn('nowhere'))).rejects.toMatchObject(missing('DestinationArn'))
  await expect(to('')).rejects.toMatchObject(format('DestinationArn'))
  await expect(to(source)).rejects.toMatchObject(
    refused('Source queue arn and destination queue arn cannot be the same.'),
  )
  await expect(to(queueArn('other.fifo'))).rejects.toMatchObject(
    refused('The source queue and destination queue must be of the same queue type.'),
  )
  expect(await list(source)).toEqual([])
})

test('a rate is from 1 to 500', async () => {
  const source = await aDeadLetterQueue()
  for (const MaxNumberOfMessagesPerSecond of [0, -1, 501]) {
    await expect(start(source, { MaxNumberOfMessagesPerSecond })).rejects.toMatchObject(
      refused(
        "Value for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: You must enter a number that's between 1 and 500.",
      ),
    )
  }
  await start(source, { MaxNumberOfMessagesPerSecond: 500 })
  expect(await list(source)).toMatchObject([{ MaxNumberOfMessagesPerSecond: 500 }])
})

test('[188] a source has one running task, whose handle is listed while it runs', async () => {
  const source = await aDeadLetterQueue(3)
  await create('destination')
  const before = Date.now()
  const { TaskHandle = '' } = await start(source, { DestinationArn: queueArn('destination') })
  await expect(start(source)).rejects.toMatchObject(
    refused(
      'There is already a task running. Only one active task is allowed for a source queue arn at a given time.',
    ),
  )
  const [running] = (await list(source)) ?? []
  expect(running).toEqual({
    TaskHandle,
    Status: 'RUNNING',
    SourceArn: source,
    DestinationArn: queueArn('destination'),
    ApproximateNumberOfMessagesMoved: 0,
    ApproximateNumberOfMessagesToMove: 3,
    StartedTimestamp: expect.any(Number),
  })
  expect(Math.abs((running?.StartedTimestamp ?? 0) - before)).toBeLessThan(60_000)
  expect((await cancel(TaskHandle)).ApproximateNumberOfMessagesMoved).toBe(0)
  const [canceled] = (await list(source)) ?? []
  expect(canceled).toMatchObject({ Status: 'CANCELLED' })
  expect(canceled).not.toHaveProperty('TaskHandle')
  await expect(cancel(TaskHandle)).rejects.toMatchObject({
    name: 'UnsupportedOperation',
  })
})

test('tasks are listed newest first, one unless more are asked for', async () => {
  const [source, other] = [await aDeadLetterQueue(), await aDeadLetterQueue()]
  const rates = [1, 2, 3]
  for (const MaxNumberOfMessagesPerSecond of rates) {
    const { TaskHandle = '' } = await start(source, { MaxNumberOfMessagesPerSecond })
    await cancel(TaskHandle)
    await cancel((await start(other)).TaskHandle ?? '')
  }
  const listed = async (count?: number) =>
    (await list(source, count))?.map((task) => task.MaxNumberOfMessagesPerSecond)
  expect(await listed()).toEqual([3])
  expect(await listed(2)).toEqual([3, 2])
  expect(await listed(10)).toEqual([3, 2, 1])
  await expect(list(source, 11)).rejects.toMatchObject(
    refused('Value 11 for parameter MaxResults is invalid. Reason: Must be between 1 and 10.'),
  )
  await expect(list(queueArn('nowhere'))).rejects.toMatchObject(missing('SourceArn'))
})

test('handles that name no task are refused', async () => {
  const source = await aDeadLetterQueue()
  const { TaskHandle = '' } = await start(source)
  const handle = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
  const named = JSON.parse(Buffer.from(TaskHandle, 'base64').toString())
  for (const wrong of ['x', '', handle(null), handle({ taskId: 1, sourceArn: source })]) {
    await expect(cancel(wrong)).rejects.toMatchObject(refused('Value for parameter TaskHandle is invalid.'))
  }
  for (const unknown of [
    { ...named, taskId: 'x' },
    { ...named, taskId: '00000000-0000-0000-0000-000000000000' },
    { ...named, sourceArn: await aDeadLetterQueue() },
  ]) {
    await expect(cancel(handle(unknown))).rejects.toMatchObject(notThere('Task does not exist.'))
  }
  await expect(cancel(handle({ ...named, sourceArn: queueArn('nowhere') }))).rejects.toMatchObject(
    missing('SourceArn'),
  )
})

test('a task that was paused natively is still running on the wire', async () => {
  const source = await aDeadLetterQueue(1)
  const { TaskHandle = '' } = await start(source)
  const { taskId } = JSON.parse(Buffer.from(TaskHandle, 'base64').toString())
  await sqs.api.call('POST', `/v1/redrives/${taskId}/pause`)
  expect(await list(source)).toMatchObject([{ Status: 'RUNNING', TaskHandle }])
  expect((await cancel(TaskHandle)).ApproximateNumberOfMessagesMoved).toBe(0)
  const queue = await sqs.api.call('GET', `/v1/redrives/${taskId}`)
  expect(queue.body.status).toBe('canceled')
})

test('AWS Query lists tasks as entries', async () => {
  const source = await aDeadLetterQueue()
  await sqs.query({ Action: 'StartMessageMoveTask', SourceArn: source, MaxNumberOfMessagesPerSecond: '7' })
  const { text } = await sqs.query({ Action: 'ListMessageMoveTasks', SourceArn: source })
  expect(text.match(/<ListMessageMoveTasksResultEntry>/g)).toHaveLength(1)
  expect(text).toContain('<MaxNumberOfMessagesPerSecond>7</MaxNumberOfMessagesPerSecond>')
  await sqs.client.send(new DeleteQueueCommand({ QueueUrl: source.split(':').at(-1) }))
  const gone = await sqs.query({ Action: 'ListMessageMoveTasks', SourceArn: source })
  expect([gone.status, gone.text]).toEqual([
    404,
    expect.stringContaining('<Code>ResourceNotFoundException</Code>'),
  ])
})
