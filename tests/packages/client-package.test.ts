/**
 * @fantail/client as users install it: packed, in an empty project outside of the workspace. `npm run test:packages`
 * runs this test.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { useStack } from '../harness/services/stack.ts'
import { textOf } from '../repo/repository.ts'
import { NODE_RELEASES, type NodeRelease, type PackedProject, packProject } from './packed-project.ts'

/** Runtimes beside Node: npm packages with their releases, and the flags that run a file. */
const RUNTIMES = [
  ['deno', '2.9.6', ['run', '--node-modules-dir=manual', '--allow-net', '--allow-env']],
  ['bun', '1.4.5', ['run']],
] as const

/** Publishes one message and a batch, fails once, and checks the signature of a webhook. */
const PUBLISHING = `
import { createHmac } from 'node:crypto'
import { Fantail, verifyWebhook } from '@fantail/client'

const fantail = new Fantail()
const topic = fantail.topics(process.argv.at(-1))
await topic.create()
console.log((await topic.publish({ order: 7 }, { attributes: { event: 'order.created' } })).messageId)
const publisher = topic.batch()
const stored = await Promise.all(Array.from({ length: 250 }, (_, n) => publisher.publish({ n })))
await publisher.close()
console.log(new Set(stored.map(({ messageId }) => messageId)).size + ' stored')
await fantail.topics('nothing').get().catch(({ code, status }) => console.log(code + ' ' + status))

const key = Buffer.alloc(24, 1)
const timestamp = Math.floor(Date.now() / 1000)
const body = JSON.stringify({ Type: 'Notification', MessageId: 'm1', Message: '{"order":7}' })
const signature = 'v1,' + createHmac('sha256', key).update('m1.' + timestamp + '.' + body).digest('base64')
const headers = { 'webhook-id': 'm1', 'webhook-timestamp': String(timestamp), 'webhook-signature': signature }
const request = new Request('http://localhost/', { method: 'POST', headers, body })
await verifyWebhook(request, { keys: ['whsec_' + key.toString('base64')] })
console.log('verified')
`

describe.runIf(process.env.FANTAIL_PACKAGES_LONG)('the packed client', () => {
  const stack = useStack({ workers: 0 })
  let project: PackedProject

  beforeAll(async () => {
    project = await packProject(['client'])
    return () => project.remove()
  }, 300_000)

  async function runProgram(release: NodeRelease, name: string, program: string): Promise<string> {
    await project.write(name, program)
    return project.runFile(release, name, { env: { FANTAIL_URL: stack().api.url } })
  }

  test('has its modules, types, README and licence, and neither tests nor sources', () => {
    const names = project.filesOf('client')
    const entries = ['index', 'api'].flatMap((entry) => [`dist/${entry}.js`, `dist/commonjs/${entry}.d.ts`])
    expect(names).toEqual(expect.arrayContaining([...entries, 'README.md', 'LICENSE', 'package.json']))
    expect(names.filter((name) => /\.test\.|fixture|^src|^generate|\.map$/.test(name))).toEqual([])
  })

  test('brings no package along', async () => {
    const path = join(project.folder, 'node_modules/@fantail/client/package.json')
    const manifest = JSON.parse(await readFile(path, 'utf8'))
    expect(manifest.dependencies ?? {}).toEqual({})
  })

  test.each(NODE_RELEASES)('the examples of the README run as written, on the %s Node', async (node) => {
    const blocks = [...textOf('packages/client/README.md').matchAll(/^```js\n([\s\S]*?)^```$/gm)]
    const printed = await runProgram(node, `${node}.mjs`, blocks.map(([, code]) => code).join('\n'))
    expect(printed).toMatch(/^published [0-9a-f-]{36}$/m)
    expect(printed).toMatch(/^https:\/\/shop\.example\.com\/hook active$/m)
    expect(printed).toMatch(/^stored 250$/m)
    expect(printed).toMatch(/^not_found 404 1 false$/m)
    expect(printed).toMatch(/^0 keys$/m)
  })

  test.each(NODE_RELEASES)('CommonJS programs require it, on the %s Node', async (node) => {
    const program = `
      const { Fantail } = require('@fantail/client')
      const { listTopics } = require('@fantail/client/api')
      const fantail = new Fantail()
      fantail.topics('c').create().then(() => listTopics({ client: fantail.client, query: { prefix: 'c' } }))
        .then(({ topics }) => console.log(topics[0].name))`
    expect(await runProgram(node, `${node}.cjs`, program)).toBe('c\n')
  })

  test.for(RUNTIMES)(
    'it publishes in %s',
    { timeout: 300_000 },
    async ([runtime, release, flags], { skip }) => {
      if (!(await project.install(`${runtime}@${release}`))) return skip(`npm cannot install ${runtime} here`)
      await project.write('runtime.mjs', PUBLISHING)
      const args = [...flags, 'runtime.mjs', runtime]
      const printed = await project.runCommand(runtime, args, { FANTAIL_URL: stack().api.url })
      expect(printed).toMatch(/^[0-9a-f-]{36}\n250 stored\nnot_found 404\nverified\n$/)
    },
  )

  test('its types compile in both forms, and refuse what the API would', async () => {
    const program = (load: string) => `${load}
      const fantail = new Fantail({ retryMode: 'adaptive' })
      export const id: Promise<string> = fantail.topics('a').publish({ a: 1 }).then(({ messageId }) => messageId)
      // @ts-expect-error: there is no such member.
      void fantail.topics('a').subscribe({ endpoint: 'https://a', protocl: 'https' })
    `
    await project.write('types/a.mts', program("import { Fantail } from '@fantail/client'"))
    await project.write('types/b.cts', program("import { Fantail } from '@fantail/client'"))
    await project.compile(['types/a.mts', 'types/b.cts'], '')
  })
})
