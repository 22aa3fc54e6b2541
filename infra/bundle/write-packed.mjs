// @ts-check
/**
 * Writes Fantail in the form that runs without a checkout and without packages: `bin/fantail.mjs`, and next to `bin`
 * the folder `server` with the command line, the services and the console. The npm package and the server tree have it.
 */
import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeServer } from './write-server.mjs'

const LAUNCHER = fileURLToPath(new URL('../bin/fantail.mjs', import.meta.url))
/** The module of the API's documentation page, which has its only package next to itself in a bundle. */
const DOCS = 'services/publish-api/src/openapi'

/** The console must have been built. @param {string} folder */
export async function writePacked(folder) {
  await writeServer(join(folder, 'server'), {
    mains: { cli: 'packages/command-line/src/main.ts', build: 'packages/runtime/src/health/build.ts' },
    copied: ['packages/console/dist'],
  })
  const { resolve } = createRequire(new URL(`../../${DOCS}/docs-routes.ts`, import.meta.url))
  const scalar = resolve('@scalar/api-reference').replace(/dist\/.*$/, 'dist/browser/standalone.js')
  await cp(scalar, join(folder, 'server', DOCS, 'scalar.js'))
  // In a checkout the launcher runs sources, which need flags of Node.
  const launcher = await readFile(LAUNCHER, 'utf8')
  const file = join(folder, 'bin', 'fantail.mjs')
  await mkdir(join(folder, 'bin'), { recursive: true })
  await writeFile(file, launcher.replace(/^#!.*/, '#!/usr/bin/env node'))
  await chmod(file, 0o755)
}
