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
