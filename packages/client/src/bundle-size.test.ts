/** A program or page that imports the client gets the code that it uses, and little else. */
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

/** @limit Bytes of the client in a page, compressed. Past it: the test fails. */
const GZIP_BYTES_MAX = 12_288
const HERE = fileURLToPath(new URL('.', import.meta.url))

async function bundle(program: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: HERE, loader: 'ts' },
    ...{ bundle: true, write: false, minify: true, format: 'esm', platform: 'browser', target: 'es2022' },
  })
  return outputFiles[0]?.text ?? ''
}

test('the client takes at most 12 KB in a page, and names no module of Node', async () => {
  const text = await bundle("export { Fantail, verifyWebhook } from './index.ts'")
  expect(gzipSync(text).length).toBeLessThan(GZIP_BYTES_MAX)
  expect(text).not.toMatch(/node:|require\(/)
  // The bundle has the operations that the methods use, and no others.
  expect(text).toContain('/v1/topics/{topic}/messages')
  expect(text).not.toContain('/v1/quarantine')
})

test('a function of the core brings itself alone', async () => {
  const text = await bundle("export { listKeys } from './api.ts'")
  expect(text.length).toBeLessThan(500)
})
