/**
 * @fantail/consumer as users install it: packed, in an empty project outside of the workspace. `npm run test:packages`
 * runs this test.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { useStack } from '../harness/services/stack.ts'
import { textOf } from '../repo/repository.ts'
import { NODE_RELEASES, type PackedProject, packProject } from './packed-project.ts'

const ROUND = `
const requester = await createRequester()
const responder = respond('asked', ({ body }) => ({ doubled: 2 * JSON.parse(body).number }))
console.log(await requester.request('asked', { number: 21 }))
await Promise.all([requester.close(), responder.stop()])`

const FORMS = [
  ['mjs', `import { createRequester, respond } from '@fantail/consumer'\n${ROUND}`],
  [
    'cjs',
    `const { createRequester, respond } = require('@fantail/consumer')\nvoid (async () => {${ROUND}\n})()`,
  ],
] as const

describe.runIf(process.env.FANTAIL_PACKAGES_LONG)('the packed consumer', () => {
  const stack = useStack({ workers: 0 })
  let project: PackedProject

  beforeAll(async () => {
    const { devDependencies } = JSON.parse(textOf('package.json')) as {
      devDependencies: Record<string, string>
    }
    project = await packProject(['consumer'], [`@types/node@${devDependencies['@types/node']}`])
    await stack().client.put('/v1/queues/asked', {})
    return () => project.remove()
  }, 300_000)

  test('has its modules, types, README and licence, and brings no package along', () => {
    const names = project.filesOf('consumer')
    const entries = ['dist/index.js', 'dist/commonjs/index.js', 'dist/commonjs/index.d.ts']
    expect(names).toEqual(expect.arrayContaining([...entries, 'README.md', 'LICENSE', 'package.json']))
    expect(names.filter((name) => /\.test\.|fixture|^src|^build|\.map$/.test(name))).toEqual([])
    const path = join(project.folder, 'node_modules/@fantail/consumer/package.json')
    expect(JSON.parse(readFileSync(path, 'utf8')).dependencies ?? {}).toEqual({})
  })

  test.each(NODE_RELEASES.flatMap((release) => FORMS.map(([form, program]) => ({ release, form, program }))))(
    'runs as $form on the $release Node',
    async ({ release, form, program }) => {
      await project.write(`${release}.${form}`, program)
      const env = { FANTAIL_URL: stack().api.url }
      expect(await project.runFile(release, `${release}.${form}`, { env })).toBe('{"doubled":42}\n')
    },
  )

  test('its types compile in both forms', async () => {
    const types = `
      export const consumer = consume('a', async ({ body }, { signal }) => { void [body, signal] }, { concurrency: 2 })
      // @ts-expect-error: there is no such option.
      consume('a', () => undefined, { concurency: 2 })`
    const program = `import { consume } from '@fantail/consumer'\n${types}`
    await project.write('types/a.mts', program)
    await project.write('types/b.cts', program)
    await project.compile(['--skipLibCheck', 'types/a.mts', 'types/b.cts'], 'node')
  })
})
