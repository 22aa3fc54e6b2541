import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { standStill } from '@fantail/test-kit'
import { expect, onTestFinished, test } from 'vitest'
import { createTestSender } from './http-sender.fixture.ts'

/** Answers each request 20 ms after it arrived, and tells its port and each arrival. */
const RECEIVER = `
  const { createServer } = require('node:http')
  const { parentPort } = require('node:worker_threads')
  const server = createServer((request, response) => {
    parentPort.postMessage('arrived')
    setTimeout(() => response.end(), 20)
  })
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`

async function answering() {
  const receiver = new Worker(RECEIVER, { eval: true })
  onTestFinished(async () => void (await receiver.terminate()))
  const [port] = await once(receiver, 'message')
  const sender = createTestSender({ allowPrivate: true, timeoutMs: 2_000 })
  onTestFinished(() => sender.close(0))
  const attempt = () => sender.attempt({ url: `http://127.0.0.1:${port}/`, headers: [], body: 'hello' })
  return { receiver, sender, attempt }
}

test('a request that is overdue after a stall gets the connection of an answer that came meanwhile', async () => {
  const { receiver, sender, attempt } = await answering()
  const first = attempt()
  await once(receiver, 'message')
  const second = attempt()
  standStill(200)
  expect(await Promise.all([first, second])).toMatchObject([{ statusCode: 200 }, { statusCode: 200 }])
  expect(sender.stats()).toMatchObject({ connections: 1 })
})

test('an answer that came while the process stood still past the deadline counts', async () => {
  const { receiver, attempt } = await answering()
  const result = attempt()
  await once(receiver, 'message')
  standStill(2_300)
  expect(await result).toMatchObject({ kind: 'response', statusCode: 200 })
})
