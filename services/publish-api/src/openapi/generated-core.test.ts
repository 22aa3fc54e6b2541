/**
 * The core of @fantail/client is what the generator makes of this document. Nothing here imports the core, so that it
 * can be written again if it is broken.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiDeps } from '../deps/api-deps.ts'
import { endpointsOf } from '../server/app.ts'
import { openApiDocument } from './document.ts'

const CLIENT = fileURLToPath(new URL('../../../../packages/client/', import.meta.url))
const COMMITTED = join(CLIENT, 'src/generated')

let work: string

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'fantail-core-'))
})

afterAll(async () => {
  await rm(work, { recursive: true })
})

test('the committed core is what the generator makes of the document (`npm run generate` writes it)', async () => {
  const asked = { mode: 'server', auth: true, openMetrics: false } as const
  const document = openApiDocument(endpointsOf({ settings: asked } as ApiDeps), asked)
  await writeFile(join(work, 'openapi.json'), JSON.stringify(document))
  const made = join(work, 'generated')
  const generator = join(CLIENT, 'generate/generate-core.mjs')
  await promisify(execFile)(process.execPath, [generator, join(work, 'openapi.json'), made])
  const files = await filesIn(made)
  for (const file of files)
    await expect(await readFile(join(made, file), 'utf8')).toMatchFileSnapshot(join(COMMITTED, file))
  expect(await filesIn(COMMITTED)).toEqual(files)
})

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)).toSorted()
}
