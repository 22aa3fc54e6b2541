/** Runs each example as its README says. The command is `npm run test:examples`. */
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@fantail/test-kit'
import { afterEach, beforeAll, describe, expect, onTestFinished, type TestContext, test } from 'vitest'
import { agrees, replacedIn, stepsOf } from '../guides/guide-steps.ts'
import { isInstalled } from '../guides/shell.ts'
import { launcher } from '../harness/services/service-bundles.ts'
import { useStack } from '../harness/services/stack.ts'
import { packTarballs } from '../packages/packed-project.ts'
import { ROOT, textOf } from '../repo/repository.ts'
import { type ExampleProject, installExample } from './example-project.ts'

/** A generator and its compiler are downloaded first. */
const GENERATING = { timeout: 900_000 }
const EXAMPLES = readdirSync(join(ROOT, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

test.each(EXAMPLES)('%s has a README with its commands, and stands in the list', (name) => {
  expect(textOf('examples/README.md')).toContain(`](${name}/README.md)`)
  expect(textOf(`examples/${name}/README.md`)).toMatch(/^# .+\n\n```sh\n[^\n]+\n/)
})

describe.runIf(process.env.FANTAIL_EXAMPLES_LONG)('each example runs', () => {
  const stack = useStack()
  let tarballs: Map<string, string>
  let project: ExampleProject | undefined

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'fantail-tarballs-'))
    tarballs = await packTarballs(['client', 'consumer'], folder)
    return () => rm(folder, { recursive: true })
  }, 300_000)
  afterEach(async () => {
    await project?.remove()
    project = undefined
  })

  async function install(name: string, { skip }: TestContext): Promise<ExampleProject> {
    const env = { FANTAIL_URL: stack().api.url, REDIS_URL: stack().redis.url }
    project = await installExample(name, tarballs, env)
    return project ?? skip('its packages cannot be had here')
  }

  const publishOrder = () => stack().client.post('/v1/topics/orders/messages', { message: { order: 7 } })
  const unsigned = (url: string) =>
    fetch(url, { method: 'POST', body: '{}' }).then(
      ({ status }) => status,
      () => 0,
    )

  test.for(['hono-receiver', 'express-receiver', 'nextjs-route'])(
    '%s receives what is signed, and refuses the rest',
    { timeout: 300_000 },
    async (name, context) => {
      const example = await install(name, context)
      const port = String(await freePort())
      const server = example.start('npm', ['start'], { PORT: port })
      await server.prints(/ready/i)
      await expect.poll(() => unsigned(`http://127.0.0.1:${port}/hooks`), { timeout: 30_000 }).toBe(401)
      await publishOrder()
      await server.prints(/^received \{"order":7\}$/m)
    },
  )

  test('nestjs-consumer handles what is published', async (context) => {
    const example = await install('nestjs-consumer', context)
    const application = example.start('npm', ['start'])
    await application.prints(/^ready$/m)
    await publishOrder()
    await application.prints(/^packed 7$/m)
  }, 300_000)

  test('from-bullmq-fan-out does the same before and after', async (context) => {
    const example = await install('from-bullmq-fan-out', context)
    const both = 'flaky got {"order":7}\nshop got {"order":7}\n'
    expect(await example.finish('npm', ['run', '--silent', 'before'])).toBe(both)
    expect(await example.finish('npm', ['start', '--silent'])).toMatch(
      new RegExp(`^${both.replaceAll(/[{}]/g, '\\$&')}fantail explain `),
    )
  }, 300_000)

  test('from-sqs-consumer does the same before and after', async (context) => {
    const example = await install('from-sqs-consumer', context)
    for (const words of [
      ['run', '--silent', 'before'],
      ['start', '--silent'],
    ])
      expect(await example.finish('npm', words)).toMatch(/failed .*not yet\nhandled \{"order":7\}\n/)
  }, 300_000)

  test('python-boto3 publishes and receives', async (context) => {
    if (!isInstalled('python3')) context.skip('there is no Python')
    const example = await install('python-boto3', context)
    const python = pythonWithBoto(example.folder)
    if (python === undefined) return context.skip('boto3 cannot be had here')
    expect(await example.finish(python, ['main.py'])).toBe('received {"order": 7}\n')
  }, 300_000)

  test('go publishes, and checks the signature of what it receives', async (context) => {
    if (!isInstalled('go')) context.skip('there is no Go')
    const example = await install('go', context)
    expect(await example.finish('go', ['run', '.'])).toBe('received {"order":7}\n')
  }, 300_000)

  test.for([
    ['generated-python', 'python3'],
    ['generated-go', 'go'],
    ['generated-java', 'mvn'],
  ])(
    '%s makes a client that publishes, repeats, lists and reads refusals',
    GENERATING,
    async ([name = '', tool = ''], context) => {
      if (!isInstalled(tool)) context.skip(`there is no ${tool}`)
      const example = await install(name, context)
      const [step] = stepsOf(textOf(`examples/${name}/README.md`))
      const commands = replacedIn(step?.code ?? '', { 'http://127.0.0.1:4100': stack().api.url })
      const output = await example.finish('bash', ['-euo', 'pipefail', '-c', commands], GENERATING.timeout)
      expect([output, agrees(output, step?.expected ?? [], new Map())]).toEqual([output, true])
    },
  )
})

describe.runIf(process.env.FANTAIL_EXAMPLES_LONG)('the portal in a frame', async () => {
  const port = String(await freePort())
  const page = `http://127.0.0.1:${port}`
  const stack = useStack({ workers: 0, env: { FANTAIL_AUTH: 'on', FANTAIL_PORTAL_ORIGINS: page } })

  test('portal-frame serves both pages, and makes a link that works for each frame', async ({ skip }) => {
    const { api, place } = stack()
    const scopes = ['manage', 'read', 'redrive', 'bodies'].flatMap((scope) => ['--scope', scope])
    const words = [launcher(), 'keys', 'create', '--name', 'portal', ...scopes, '--quiet']
    const env = { ...process.env, ...place.env }
    const key = execFileSync(process.execPath, words, { env, encoding: 'utf8' }).trim()
    const example = await installExample('portal-frame', new Map(), { FANTAIL_URL: api.url })
    if (!example) return skip('its packages cannot be had here')
    onTestFinished(() => example.remove())
    await example.start('npm', ['start'], { PORT: port, FANTAIL_KEY: key }).prints(/^ready/m)
    for (const path of ['/', '/plain.js', '/react.html', '/react.js'])
      expect([path, (await fetch(page + path)).status]).toEqual([path, 200])
    for (const path of ['/server.mjs', '/..%2fserver.mjs', '/x.js'])
      expect([path, (await fetch(page + path)).status]).toEqual([path, 404])
    const links = await Promise.all(
      [1, 2].map(async () => (await fetch(`${page}/portal-link`, { method: 'POST' })).json()),
    )
    const tokens = (links as { url: string }[]).map(({ url }) => new URL(url).hash.slice(1))
    expect(new Set(tokens).size).toBe(2)
    const redeemed = await fetch(`${api.url}/v1/portal/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'same-origin' },
      body: JSON.stringify({ token: tokens[0] }),
    })
    expect(redeemed.status).toBe(201)
  }, 300_000)
})

/** The machine's Python if it has boto3, or else one that is made in the folder. undefined: there is none. */
function pythonWithBoto(folder: string): string | undefined {
  try {
    execFileSync('python3', ['-c', 'import boto3'], { stdio: 'ignore' })
    return 'python3'
  } catch {
    return ownPython(folder)
  }
}

function ownPython(folder: string): string | undefined {
  const python = join(folder, 'venv/bin/python')
  try {
    execFileSync('python3', ['-m', 'venv', join(folder, 'venv')], { stdio: 'ignore' })
    execFileSync(python, ['-m', 'pip', 'install', '-r', join(folder, 'requirements.txt')], {
      stdio: 'ignore',
    })
    return python
  } catch {
    return undefined // There is no venv, or no registry.
  }
}
