import { once } from 'node:events'
import { connect } from 'node:net'
import { Worker } from 'node:worker_threads'
import { standStill } from '@fantail/test-kit'
import { expect, onTestFinished, test } from 'vitest'
import { createStartCheck, runChecks } from './checks.ts'

test('a service that answers before it works is not ready', async () => {
  const start = createStartCheck()
  expect(await runChecks({ start: start.check })).toEqual({
    ready: false,
    checks: { start: 'still starting' },
  })
  start.done()
  expect(await runChecks({ start: start.check })).toEqual({ ready: true, checks: { start: 'ok' } })
})

test('a check that does not answer in time fails', async () => {
  const never = () => new Promise(() => undefined)
  const { ready, checks } = await runChecks({ never, other: async () => 1 }, 20)
  expect([ready, checks]).toEqual([false, { never: 'no answer within 20 ms', other: 'ok' }])
})

/** Sends back each byte that it gets, and tells its port. */
const ECHO = `
  const { parentPort } = require('node:worker_threads')
  const server = require('node:net').createServer((socket) => socket.pipe(socket))
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`

test('an answer that came while the process stood still past the limit counts', async () => {
  const echo = new Worker(ECHO, { eval: true })
  onTestFinished(async () => void (await echo.terminate()))
  const [port] = await once(echo, 'message')
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const check = () => {
    socket.write('.')
    return once(socket, 'data')
  }
  const checked = runChecks({ check }, 200)
  standStill(400)
  expect(await checked).toEqual({ ready: true, checks: { check: 'ok' } })
  socket.destroy()
})
