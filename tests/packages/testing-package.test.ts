/**
 * @fantail/testing as users install it: packed, in an empty project outside of the workspace, with its services. `npm
 * run test:packages` runs this test.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { redisServerPath } from '@fantail/test-kit'
import { beforeAll, describe, expect, test } from 'vitest'
import { textOf } from '../repo/repository.ts'
import { readmeExamples } from '../testing/readme-example.ts'
import { NODE_RELEASES, type PackedProject, packProject } from './packed-project.ts'

/** The matchers must also work in Jest. */
const JEST = '30.5.2'
const STARTS = 5
/** A busy machine needs more time than the defaults give. */
const BUSY = { timeoutMs: 30_000, startTimeoutMs: 60_000 }

const COMMONJS = `
const test = require('node:test')
const assert = require('node:assert/strict')
const { startFantail } = require('@fantail/testing')

test('a message is delivered', async () => {
  const fantail = await startFantail({ timeoutMs: 30_000, startTimeoutMs: 60_000 })
  const receiver = await fantail.receiver()
  await fantail.subscribe('a', receiver)
  const { messageId } = await fantail.publish('a', { a: 1 })
  await fantail.waitUntilDelivered(messageId)
  await fantail.nothingElse()
  assert.deepEqual(receiver.requests.map(({ message }) => message), [{ a: 1 }])
  await fantail.stop()
})`

const JEST_TEST = `
const { startReceiver } = require('@fantail/testing')
require('@fantail/testing/jest')

test('matchers', async () => {
  const receiver = await startReceiver()
  await fetch(receiver.url + '/a', { method: 'POST', body: '{"order":7}' })
  expect(receiver.on('/a')).toHaveReceived({ times: 1, message: { order: expect.any(Number) } })
  expect(receiver.on('/b')).toHaveReceivedNothing()
  await expect(receiver).not.toBeSignedBy('whsec_AAAA')
  await receiver.close()
})`

/**
 * Prints how many milliseconds each start took. The first start may compile code. Also prints how long the process that
 * waited longest had no processor.
 */
const WARM_STARTS = `
import { readdirSync, readFileSync } from 'node:fs'
import { startFantail } from '@fantail/testing'

function waitedMs() {
  const pids = readdirSync('/proc').filter((pid) => /^[0-9]+$/.test(pid))
  return Math.max(0, ...pids.filter((pid) => parentOf(pid) === process.pid).map((pid) => schedstat(pid)[1] / 1e6))
}
const read = (path) => { try { return readFileSync(path, 'utf8') } catch { return '' } }
const schedstat = (pid) => read('/proc/' + pid + '/schedstat').split(' ').map(Number)
const parentOf = (pid) => Number(read('/proc/' + pid + '/stat').split(') ').at(-1).split(' ')[1])

for (let n = 0; n < ${STARTS}; n++) {
  const startedAt = performance.now()
  const fantail = await startFantail({ startTimeoutMs: 60_000 })
  console.log(Math.round(performance.now() - startedAt), Math.round(waitedMs()))
  await fantail.stop()
}`

const TYPES = `
  export async function use(): Promise<string | undefined> {
    const fantail = await startFantail({ timeoutMs: 1 })
    const receiver = await fantail.receiver()
    receiver.on('/a').reply(500).times(2).then({ status: 200, body: { a: 1 } })
    // @ts-expect-error: there is no such reply.
    receiver.on('/a').reply('late')
    const [letter] = await fantail.waitForDeadLetters('a', { count: 1 })
    return letter?.messageId
  }`

describe.runIf(process.env.FANTAIL_PACKAGES_LONG)('the packed library for tests', () => {
  let project: PackedProject
  /** An environment without the folder of the checkout, in which the server would otherwise be found. */
  const env = { PATH: [dirname(redisServerPath()), process.env.PATH].join(delimiter) }

  beforeAll(async () => {
    const { devDependencies } = JSON.parse(textOf('package.json')) as {
      devDependencies: Record<string, string>
    }
    const [vitest, types] = ['vitest', '@types/node'].map((name) => `${name}@${devDependencies[name]}`)
    project = await packProject(
      ['client', 'testing'],
      [vitest ?? '', types ?? '', `jest@${JEST}`, '@types/jest@30'],
    )
    return () => project.remove()
  }, 600_000)

  test('has its modules, types, services, README and licences, and neither tests nor sources', () => {
    const names = project.filesOf('testing')
    const entries = ['index', 'jest'].flatMap((entry) => [`dist/${entry}.js`, `dist/commonjs/${entry}.d.ts`])
    const services = ['publish-api', 'delivery-worker', 'redrive'].map((name) => `dist/server/${name}.mjs`)
    const texts = ['README.md', 'LICENSE', 'dist/server/THIRD-PARTY-LICENSES.txt']
    expect(names).toEqual(expect.arrayContaining([...entries, 'dist/vitest.js', ...services, ...texts]))
    expect(names.filter((name) => /\.test\.|fixture|^src|^build|\.map$/.test(name))).toEqual([])
  })

  test('brings the client along and nothing else, and names no path of the machine that built it', () => {
    const folder = join(project.folder, 'node_modules/@fantail/testing')
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    expect(manifest.dependencies).toEqual({ '@fantail/client': manifest.version })
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /\.m?js$/.test(path),
    )
    expect(files.length).toBeGreaterThan(20)
    expect(files.filter((path) => readFileSync(join(folder, path), 'utf8').includes(process.cwd()))).toEqual(
      [],
    )
  })

  test.each(NODE_RELEASES)('the examples of the README run as written, on the %s Node', async (release) => {
    const config = { test: { include: ['readme/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 } }
    await project.write('vitest.config.mjs', `export default ${JSON.stringify(config)}\n`)
    const examples = readmeExamples(textOf('packages/testing/README.md'), BUSY)
    for (const [at, example] of examples.entries()) await project.write(`readme/${at}.test.ts`, example)
    const printed = await project.runFile(release, 'node_modules/vitest/vitest.mjs', { args: ['run'], env })
    expect(printed).toMatch(/Tests\s+4 passed/)
  })

  test.each(NODE_RELEASES)('CommonJS programs of node:test require it, on the %s Node', async (release) => {
    await project.write('required.test.cjs', COMMONJS)
    expect(await project.runFile(release, 'required.test.cjs', { env })).toMatch(/pass 1\n/)
  })

  test('jest takes its matchers', async () => {
    await project.write('matchers.jest.test.cjs', JEST_TEST)
    const args = ['--rootDir', project.folder, '--testMatch', '**/*.jest.test.cjs']
    const printed = await project.runFile('pinned', 'node_modules/jest/bin/jest.js', { args, env })
    expect(printed).toMatch(/Tests:\s+1 passed/)
  })

  test('a warm start takes at most 2 s, without what the machine gave to others', async () => {
    await project.write('starts.mjs', WARM_STARTS)
    const lines = (await project.runFile('pinned', 'starts.mjs', { env })).trim().split('\n')
    const starts = lines
      .map((line) => line.split(' ').map(Number))
      .map(([took = 0, waited = 0]) => ({ took, waited }))
    console.log(`starts took ${starts.map(({ took, waited }) => `${took} (${waited} waited)`).join(', ')} ms`)
    expect(starts).toHaveLength(STARTS)
    expect(Math.min(...starts.slice(1).map(({ took, waited }) => took - waited))).toBeLessThan(2_000)
  })

  test('its types compile in both forms, with the matchers of vitest and of jest', async () => {
    const load = "import { startFantail } from '@fantail/testing'\n"
    const matchers = `
      import { expect } from 'vitest'
      import '@fantail/testing/vitest'
      expect({}).toHaveReceived({ times: 1 })
      export const signed: Promise<void> = expect({}).toBeSignedBy('whsec_')
      // @ts-expect-error: there is no such member.
      expect({}).toHaveReceived({ time: 1 })`
    const ofJest = `
      import '@fantail/testing/jest'
      expect({}).toHaveReceived({ times: 1 })
      expect({}).not.toHaveReceivedNothing()`
    await project.write('types/a.mts', load + TYPES)
    await project.write('types/b.cts', load + TYPES)
    await project.write('types/c.mts', matchers)
    await project.write('types/d.mts', ofJest)
    await project.compile(['types/a.mts', 'types/b.cts'], 'node')
    await project.compile(['--skipLibCheck', 'types/c.mts'], 'node')
    await project.compile(['types/d.mts'], 'node,jest')
  })
})
