/** The bundles of the services as the next release could have them: with one more format, and one more capability. */
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { OWN_FORMAT } from '@fantail/store'
import { afterAll, beforeAll } from 'vitest'
import { bundledServices } from '../harness/services/service-bundles.ts'

export const NEXT_FORMAT = {
  ...OWN_FORMAT,
  newest: OWN_FORMAT.newest + 1,
  capabilities: [...OWN_FORMAT.capabilities, 'made-up'],
}

/** The constant, as the bundler writes it. */
const WRITTEN = /^const OWN_FORMAT = \{[^}]*\};?$/m

/** The folder of the bundles, for the tests of a file. */
export function useNextRelease(): () => string {
  let made: string | undefined
  beforeAll(async () => {
    made = await makeNextRelease()
  })
  afterAll(async () => {
    if (made) await rm(made, { recursive: true })
  })
  return () => {
    if (!made) throw new Error('the next release exists in tests and hooks only')
    return made
  }
}

/** Beside the bundles of this release, because they name packages by their place. */
async function makeNextRelease(): Promise<string> {
  const served = bundledServices()
  if (!served) throw new Error('the services have no bundles in this run')
  const folder = await mkdtemp(join(dirname(served), 'next-'))
  await cp(served, folder, { recursive: true })
  let changed = 0
  for (const name of await readdir(folder)) {
    const file = join(folder, name)
    const text = await readFile(file, 'utf8')
    if (!WRITTEN.test(text)) continue
    changed++
    await writeFile(file, text.replace(WRITTEN, `const OWN_FORMAT = ${JSON.stringify(NEXT_FORMAT)}`))
  }
  if (changed !== 1) throw new Error(`${changed} files of the bundles have the constant`)
  return folder
}
