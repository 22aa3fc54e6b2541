/**
 * The same rules on an SQS that is not ours: moto's server. It runs if FANTAIL_MOTO_PYTHON names a Python that has it
 * (`pip install 'moto[server]'`).
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { SQSClient } from '@aws-sdk/client-sqs'
import { freePort, waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { afterAll, beforeAll, describe } from 'vitest'
import { sqsQueues } from './consumed-queues.fixture.ts'
import { describeConsumer } from './consumer-rules.fixture.ts'

const python = process.env.FANTAIL_MOTO_PYTHON

describe.skipIf(python === undefined)('a foreign SQS, which moto serves', async () => {
  const { redis } = await useRedis()
  let server: ChildProcess | undefined
  let sqs: SQSClient | undefined
  beforeAll(async () => {
    const port = await freePort()
    server = spawn(python ?? '', ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], {
      stdio: 'ignore',
    })
    const endpoint = `http://127.0.0.1:${port}`
    await waitFor(
      () =>
        fetch(`${endpoint}/moto-api/`).then(
          ({ ok }) => ok,
          () => false,
        ),
      { what: 'moto' },
    )
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
    sqs = new SQSClient({ endpoint, region: 'us-east-1', credentials })
  })
  afterAll(async () => {
    sqs?.destroy()
    if (!server) return
    const ended = once(server, 'exit')
    server.kill()
    await ended
  })
  describeConsumer({ ...sqsQueues(() => sqs as SQSClient, "moto's SQS"), waitSeconds: 1 }, () => redis)
})
