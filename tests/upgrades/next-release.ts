/**
 * The bundles of the services with another constant. The next release has one more format, and one more capability.
 */
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { OWN_FORMAT } from '@fantail/store'
import { beforeAll } from 'vitest'
import { bundledServices } from '../harness/services/service-bundles.ts'

export const NEXT_FORMAT = {
  ...OWN_FORMAT,
  newest: OWN_FORMAT.newest + 1,
  capabilities: [...OWN_FORMAT.capabilities, 'made-up'],
}

/** Constants, as the bundler writes them. */
const FORMAT = /^const OWN_FORMAT = \{[^}]*\};?$/m
const SILENCE = /^const SILENT_MS = 35e3;?$/m
/** The bound of `hasty`, for tests that freeze processes. */
export const HASTY_SILENT_MS = 1_000

interface Releases {
  next: string
  /** This release. Its processes wait for a report after a second without one. */
  hasty: string
}

/** Folders of bundles, for the tests of a file. */
export function useReleases(): () => Releases {
  let made: Releases | undefined
  beforeAll(async () => {
    const next = await makeRelease('next', FORMAT, `const OWN_FORMAT = ${JSON.stringify(NEXT_FORMAT)}`)
    made = { next, hasty: await makeRelease('hasty', SILENCE, `const SILENT_MS = ${HASTY_SILENT_MS}`) }
  })
  return () => {
    if (!made) throw new Error('the releases exist in tests and hooks only')
    return made
  }
}

/**
 * It is beside the bundles of this release, because they name packages by their place. It stays there, because compiled
 * code is kept by path.
 */
async function makeRelease(name: string, constant: RegExp, written: string): Promise<string> {
  const served = bundledServices()
  if (!served) throw new Error('the services have no bundles in this run')
  const folder = join(dirname(served), name)
  let changed = 0
  await mkdir(folder, { recursive: true })
  for (const file of await readdir(served)) {
    const text = await readFile(join(served, file), 'utf8')
    if (constant.test(text)) changed++
    // Processes of another run may read the same file.
    const path = join(folder, file)
    await writeFile(`${path}.${process.pid}`, text.replace(constant, written))
    await rename(`${path}.${process.pid}`, path)
  }
  if (changed !== 1) throw new Error(`${changed} files of the bundles have the constant of ${name}`)
  return folder
}
