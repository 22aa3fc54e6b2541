/** Words that are names of members that every object inherits, such as `constructor`. They name nothing here. */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { commandLine } from './command-line.ts'
import { listenSecret } from './commands/listen/listen-secret.ts'

const INHERITED = Object.getOwnPropertyNames(Object.prototype)
let home: string

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'fantail-words-'))
})

afterAll(() => rm(home, { recursive: true }))

async function run(...words: string[]) {
  const written = { stdout: '', stderr: '' }
  const to = (name: keyof typeof written) =>
    new Writable({
      write(chunk, _, done) {
        written[name] += chunk
        done()
      },
    })
  const given = {
    env: { XDG_CONFIG_HOME: home },
    stdin: Readable.from([]),
    ...{ stdout: to('stdout'), stderr: to('stderr') },
  }
  const code = await commandLine(words, given as unknown as NodeJS.Process)
  return { code, ...written }
}

test.each(INHERITED)('%s is no command, sub-command, profile, shell or preset', async (name) => {
  const unknown = { code: 2, stdout: '', stderr: expect.stringContaining(`command ${name} does not exist.`) }
  for (const words of [[name], [name, '--help'], ['--json', name]])
    expect(await run(...words)).toEqual(unknown)
  const usage = { code: 0, stdout: expect.stringMatching(/^usage: fantail COMMAND/), stderr: '' }
  for (const words of [
    ['help', name],
    ['--help', name],
    ['worker', '--help', name],
  ])
    expect(await run(...words)).toEqual(usage)
  const noProfile = { code: 3, stdout: '', stderr: expect.stringContaining(`profile ${name} does not exist`) }
  expect(await run('topics', 'list', '--profile', name)).toEqual(noProfile)
  expect(await run('use', name)).toEqual(noProfile)
  expect(await run('completion', 'words', '--', name, '')).toEqual({ code: 0, stdout: '', stderr: '' })
  const refused = { code: 2, stdout: '', stderr: expect.stringMatching(/must be|must look|unknown command/) }
  for (const words of [
    ['topics', name],
    ['completion', name],
    ['curve', '--preset', name],
    ['curve', '--outage', name],
    ['topics', 'list', '--url', name],
    ['topics', 'list', '--timeout', name],
  ])
    expect([words, await run(...words)]).toEqual([words, refused])
})

test('they have no secret of `fantail listen`, and no hint as the code of a refusal', async () => {
  const env = { XDG_CONFIG_HOME: home }
  for (const profile of INHERITED) {
    const secret = await listenSecret({ profile, url: '', apiKey: undefined }, env)
    expect(secret).toMatch(/^whsec_/)
    expect(await listenSecret({ profile, url: '', apiKey: undefined }, env)).toBe(secret)
  }
  const server = createServer((_, response) => {
    response.writeHead(400, { 'Content-Type': 'application/json' })
    response.end('{"error":{"code":"constructor","message":"no"},"requestId":"r"}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const { stderr } = await run('topics', 'list', '--url', `http://127.0.0.1:${port}`)
  expect(stderr).toBe('fantail topics: no (constructor, 400, request r)\n')
})
