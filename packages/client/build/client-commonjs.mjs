// @ts-check
/** Adds the CommonJS form to `dist`. */
import { fileURLToPath } from 'node:url'
import { writeCommonjs } from '../../../infra/bundle/write-commonjs.mjs'

const dist = fileURLToPath(new URL('../dist', import.meta.url))
await writeCommonjs(dist, { entries: ['index.js', 'api.js'], platform: 'neutral' })
