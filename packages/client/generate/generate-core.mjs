// @ts-check
/**
 * Writes the generated core: a function for each operation, types, the code that they need to send a request, and the
 * names of all settings.
 *
 * node packages/client/generate/generate-core.mjs <document.json> <folder>
 *
 * It runs in its own process, because the generator needs the API of an older TypeScript, which this package has as a
 * dependency. TypeScript 7 has no such API.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@hey-api/openapi-ts'

const [document, folder] = process.argv.slice(2)
if (!document || !folder) {
  console.error('usage: node generate-core.mjs <document.json> <folder>')
  process.exit(2)
}

const HEADER = '// Generated from the OpenAPI document. Do not edit: `npm run generate` writes this file.'

await createClient({
  input: document,
  output: {
    path: folder,
    module: { extension: '.ts' },
    header: [HEADER],
  },
  logs: { level: 'silent', file: false },
  plugins: [
    { name: '@hey-api/client-fetch', throwOnError: true },
    '@hey-api/typescript',
    // Callers pass the client, so a program that imports a function does not import a client.
    { name: '@hey-api/sdk', client: false, responseStyle: 'data' },
  ],
})

await writeFile(join(folder, 'settings.gen.ts'), settingsFile(JSON.parse(await readFile(document, 'utf8'))))

/**
 * The settings of a record are the members that a PATCH takes and that its answer shows.
 *
 * @param {any} api the OpenAPI document
 */
function settingsFile({ paths, components }) {
  const lists = Object.values(paths).flatMap(({ patch }) => {
    const input = nameIn(patch?.requestBody)
    const view = nameIn(patch?.responses[200])
    if (!input || !view) return []
    const [given, shown] = [input, view].map((name) => Object.keys(components.schemas[name].properties ?? {}))
    const names = given.filter((name) => shown.includes(name)).map((name) => `    '${name}',\n`)
    return [`  ${view}: [\n${names.join('')}  ],\n`]
  })
  const text = '/** The settings of each kind of record: members that requests change and answers show. */'
  return `${HEADER}\n\n${text}\nexport const SETTINGS = {\n${lists.toSorted().join('')}} as const;\n`
}

/**
 * The name of the schema of a body.
 *
 * @param {any} body a request body or a response
 * @returns {string | undefined}
 */
function nameIn(body) {
  return body?.content['application/json']?.schema.$ref?.split('/').at(-1)
}
