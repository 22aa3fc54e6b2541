/** A server tree of the sources. It is made once for a run of tests, because it takes seconds of CPU. */
import { rmSync } from 'node:fs'
import { mkdir, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeTreeWithoutNode } from '../../../infra/release/server-tree.mjs'

const FOLDER = fileURLToPath(new URL('../../../node_modules/.cache/', import.meta.url))
const CONSOLE = fileURLToPath(new URL('../../../packages/console/dist/', import.meta.url))
/** Set for the processes of a run. */
const VARIABLE = 'FANTAIL_TEST_TREE'

/**
 * Makes the tree for processes that this process starts from now on. It is removed when this process ends. The console
 * must have been built.
 */
export async function provideServerTree(): Promise<void> {
  await mkdir(FOLDER, { recursive: true })
  const folder = await mkdtemp(join(FOLDER, 'server-tree-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  await writeTreeWithoutNode(folder, CONSOLE)
  process.env[VARIABLE] = folder
}

/** The folder of the tree. A test must not change it. */
export function serverTree(): string {
  const folder = process.env[VARIABLE]
  if (folder === undefined) throw new Error('this run has no server tree')
  return folder
}
