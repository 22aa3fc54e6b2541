// @ts-check
/**
 * Writes the generated core: a function for each operation, types, and what they need to send a request.
 *
 * node packages/client/generate/generate-core.mjs <document.json> <folder>
 *
 * A process of its own: the generator needs the compiler's API of an older TypeScript, which this package brings along
 * (TypeScript 7 has none, and the generator fails on it).
 */
import { createClient } from '@hey-api/openapi-ts'

const [document, folder] = process.argv.slice(2)
if (!document || !folder) {
  console.error('usage: node generate-core.mjs <document.json> <folder>')
  process.exit(2)
}

await createClient({
  input: document,
  output: {
    path: folder,
    module: { extension: '.ts' },
    header: ['// Generated from the OpenAPI document. Do not edit: `npm run generate` writes this file.'],
  },
  logs: { level: 'silent', file: false },
  plugins: [
    { name: '@hey-api/client-fetch', throwOnError: true },
    '@hey-api/typescript',
    // Callers give the client, so that importing a function brings no client along.
    { name: '@hey-api/sdk', client: false, responseStyle: 'data' },
  ],
})
