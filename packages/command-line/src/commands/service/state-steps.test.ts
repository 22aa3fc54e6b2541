import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { afterEach, expect, test } from 'vitest'
import { connectApi } from '../../frame/api-client.ts'
import { ApiRefusal } from '../../output/exit-codes.ts'
import { Output } from '../../output/output.ts'
import type { Step } from './state-plan.ts'
import { applySteps } from './state-steps.ts'

const open: { close(): void }[] = []
afterEach(() => {
  for (const { close } of open.splice(0)) close()
})

/** Applies topics at a server that refuses the one named `refused` at once, and makes the others after that. */
async function applyTopics(names: string[]) {
  const refusal = Promise.withResolvers<void>()
  const server = createServer(async (request, response) => {
    const isRefused = request.url === '/v1/topics/refused'
    if (isRefused) response.once('finish', refusal.resolve)
    else await refusal.promise
    const error = { code: 'refused', message: 'no' }
    response.writeHead(isRefused ? 403 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isRefused ? { error } : {}))
  })
  open.push({
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const { signal } = new AbortController()
  const client = connectApi({ url: `http://127.0.0.1:${port}`, apiKey: undefined, signal })
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const out = new Output({ json: false, quiet: false, color: false, stdout, stderr })
  const steps = names.map((name): Step => ({ act: 'create', kind: 'topic', name, settings: {} }))
  const exit = await applySteps({ out, signal }, client, steps)
  return { exit, stdout: String(stdout.read()), stderr: String(stderr.read()) }
}

test('a refusal before the steps beside it have ended is told with what they have made', async () => {
  const slow = Array.from({ length: 7 }, (_, n) => `slow-${n}`)
  const { exit, stdout, stderr } = await applyTopics(['refused', ...slow, 'never-begun'])
  expect(exit).toBe('partlyDone')
  expect(stdout.trim().split('\n').toSorted()).toEqual(slow.map((name) => `+ topic ${name}`))
  expect(stderr).toContain('create topic refused: no')
  expect(stderr).toContain('7 of 9 changes were made. Run it again to go on.')
})

test('a refusal ends with its own error if nothing was made', async () => {
  await expect(applyTopics(['refused', 'refused'])).rejects.toThrow(ApiRefusal)
})
