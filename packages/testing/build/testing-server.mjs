// @ts-check
/** Writes the services into `dist/server`, so that the package runs without a checkout. */
import { fileURLToPath } from 'node:url'
import { writeServer } from '../../../infra/bundle/write-server.mjs'

await writeServer(fileURLToPath(new URL('../dist/server', import.meta.url)))
