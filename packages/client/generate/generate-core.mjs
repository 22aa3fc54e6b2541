// @ts-check
/**
 * Writes the generated core: a function for each operation, types, and the code that they need to send a request.
 *
 * node packages/client/generate/generate-core.mjs <document.json> <folder>
 *
 * It runs in its own process, because the generator needs the API of an older TypeScript, which this package has as a
 * dependency. TypeScript 7 has no such API.
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
    // Callers pass the client, so a program that imports a function does not import a client.
    { name: '@hey-api/sdk', client: false, responseStyle: 'data' },
  ],
})
