// @ts-check
/** Writes `dist`: the launcher, and next to it the command line, the services, the console and their licences. */
import { fileURLToPath } from 'node:url'
import { writePacked } from '../../../infra/bundle/write-packed.mjs'

await writePacked(fileURLToPath(new URL('../dist', import.meta.url)))
