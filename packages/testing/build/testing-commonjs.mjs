// @ts-check
/** Adds the CommonJS form to `dist`. vitest has none. */
import { fileURLToPath } from 'node:url'
import { writeCommonjs } from '../../../infra/bundle/write-commonjs.mjs'

const dist = fileURLToPath(new URL('../dist', import.meta.url))
await writeCommonjs(dist, {
  entries: ['index.js', 'jest.js'],
  external: ['@fantail/client'],
  leftOut: ['server', 'vitest.d.ts'],
  usesOwnUrl: true,
})
