/** The document as other programs read it: an independent validator, and a generator of clients. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import openapiTS, { astToString } from 'openapi-typescript'
import { beforeAll, expect, test } from 'vitest'
import { startTestApi } from '../fixtures/test-api.fixture.ts'

const documents: Record<string, string> = {}

beforeAll(async () => {
  for (const [mode, auth] of [
    ['local', false],
    ['server', true],
  ] as const) {
    const api = await startTestApi({ auth })
    documents[mode] = (await api.call('GET', '/openapi.json')).text
    await api.stop()
  }
})

test.each(['local', 'server'])('Redocly finds nothing wrong with the document of %s mode', async (mode) => {
  const config = await createConfig({ extends: ['recommended-strict'] })
  const problems = await lintFromString({ source: documents[mode] ?? '', config })
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
})

const CLIENT = `
import type { components, operations, webhooks } from './api.ts'
type Publish = operations['publish']
const body: Publish['requestBody']['content']['application/json'] = { message: { order: 42 }, attributes: { color: 'red' } }
const receipt: Publish['responses'][202]['content']['application/json'] = { messageId: 'x' }
const page: operations['listTopics']['responses'][200]['content']['application/json'] = { topics: [], nextCursor: null }
const code: components['schemas']['Error']['error']['code'] = 'not_found'
type Notice = webhooks['notification']['post']['requestBody']['content']['application/json']
const text = (notice: Notice): string => notice.Message
// @ts-expect-error: there is no such code.
const wrong: components['schemas']['Error']['error']['code'] = 'no_such_code'
export { body, code, page, receipt, text, wrong }
`
const COMPILER = fileURLToPath(new URL('../../../../node_modules/.bin/tsc', import.meta.url))
const OPTIONS = [
  ...['--strict', '--noEmit', '--allowImportingTsExtensions'],
  ...['--module', 'esnext', '--moduleResolution', 'bundler', '--target', 'es2022', '--lib', 'es2022'],
]

test('openapi-typescript makes types that compile, and that a client can be written by', async () => {
  const types = astToString(await openapiTS(documents.server ?? ''))
  expect(await problemsOf({ 'api.ts': types, 'client.ts': CLIENT })).toEqual([])
})

/** The findings of the repository's own compiler. `openapi-typescript` uses an older one, which is slower. */
async function problemsOf(files: Record<string, string>): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'fantail-types-'))
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
    const compiling = promisify(execFile)(COMPILER, [...OPTIONS, ...Object.keys(files)], { cwd: folder })
    return await compiling.then(
      () => [],
      ({ message, stdout }: { message: string; stdout: string }) => [message, stdout],
    )
  } finally {
    await rm(folder, { recursive: true })
  }
}
