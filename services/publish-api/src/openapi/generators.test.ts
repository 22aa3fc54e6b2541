/** The document as other programs read it: an independent validator, and a generator of clients. */
import { createConfig, lintFromString } from '@redocly/openapi-core'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'
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

test('openapi-typescript makes types that compile, and that a client can be written by', async () => {
  const types = astToString(await openapiTS(documents.server ?? ''))
  expect(problemsOf({ '/api.ts': types, '/client.ts': CLIENT })).toEqual([])
})

/** The compiler's errors for files in memory. */
function problemsOf(files: Record<string, string>): string[] {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts'],
    types: [],
  }
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = (name) => name in files || fileExists(name)
  host.readFile = (name) => files[name] ?? readFile(name)
  host.getSourceFile = (name, ...rest) => {
    const text = files[name]
    return text === undefined
      ? getSourceFile(name, ...rest)
      : ts.createSourceFile(name, text, ts.ScriptTarget.ES2022)
  }
  const program = ts.createProgram(Object.keys(files), options, host)
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}
