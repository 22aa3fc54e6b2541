// @ts-check
/** Writes `dist`: the launcher, and next to it the command line, the services, the console and their licences. */
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { writeServer } from '../../../infra/bundle/write-server.mjs'

/** @param {string} path */
const at = (path) => fileURLToPath(new URL(path, import.meta.url))

await writeServer(at('../dist/server'), {
  mains: { cli: 'packages/command-line/src/main.ts', build: 'packages/runtime/src/health/build.ts' },
  copied: ['packages/console/dist'],
})
// In a checkout the launcher runs sources, which need flags of Node.
const launcher = await readFile(at('../../../infra/bin/fantail.mjs'), 'utf8')
await mkdir(at('../dist/bin'), { recursive: true })
await writeFile(at('../dist/bin/fantail.mjs'), launcher.replace(/^#!.*/, '#!/usr/bin/env node'))
await chmod(at('../dist/bin/fantail.mjs'), 0o755)
