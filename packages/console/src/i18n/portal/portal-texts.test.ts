/** The texts of the portal: all come from its tables, which have the same keys, and none is that of the console. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync, Visitor } from 'vite'
import { expect, test } from 'vitest'
import { portalDe } from './portal-de.ts'
import { portalEn } from './portal-en.ts'

const SRC = fileURLToPath(new URL('../../', import.meta.url))
const SHOWN = ['title', 'label', 'alt', 'placeholder', 'hint', 'action', 'aria-label', 'summary']
const WORD = /\p{L}{2}/u
/** Two words: no name of a class, a key or a member looks like this. */
const SENTENCE = /\p{L}{2,} \p{L}{2,}/u

type Table = { [key: string]: string | ((...given: never[]) => string) | Table }

/** Each text by its path. A function is called with sevens, which are numbers and texts. */
function textsOf(table: Table, path = ''): [path: string, text: string][] {
  return Object.entries(table).flatMap(([key, value]): [string, string][] => {
    const own = path === '' ? key : `${path}.${key}`
    if (typeof value === 'string') return [[own, value]]
    if (typeof value === 'function') return [[own, value(...(Array(4).fill(7) as never[]))]]
    return textsOf(value, own)
  })
}

test('the tables of all languages have the same keys, and each a text of its own', () => {
  const [english, german] = [textsOf(portalEn), textsOf(portalDe)]
  expect(english.length).toBeGreaterThan(150)
  expect(german.map(([path]) => path).toSorted()).toEqual(english.map(([path]) => path).toSorted())
  const germanOf = new Map(german)
  const same = english.filter(([path, text]) => germanOf.get(path) === text).map(([, text]) => text)
  // These are the same word in both languages.
  expect(new Set(same)).toEqual(new Set(['Name', 'Webhooks']))
})

/** Texts of a source that a reader would see. */
function textsIn(path: string, source: string): string[] {
  const { program, errors } = parseSync(path, source)
  expect(errors).toEqual([])
  const found: string[] = []
  const note = (text: unknown, pattern: RegExp) => {
    if (typeof text === 'string' && pattern.test(text)) found.push(text.trim())
  }
  new Visitor({
    JSXText: ({ value }) => note(value, WORD),
    JSXAttribute: ({ name, value }) => {
      if (SHOWN.includes(String(name.name)) && value?.type === 'Literal') note(value.value, WORD)
    },
    Literal: ({ value }) => note(value, SENTENCE),
    TemplateElement: ({ value }) => note(value.cooked, SENTENCE),
  }).visit(program)
  return found
}

test('a text in a component is found, as a child, an attribute and a value', () => {
  const source = `const a = <p title="Hello" rel="x">World {b ? 'so far' : \`\${c} or not\`}</p>`
  expect(textsIn('a.tsx', source)).toEqual(['Hello', 'World', 'so far', 'or not'])
})

/** Values of attributes that browsers read, and nobody else. */
const FOR_BROWSERS = new Set(['noopener noreferrer'])

test('no component of the portal has a text of its own', () => {
  const paths = globSync('portal/**/*.tsx', { cwd: SRC })
  const found = paths.flatMap((path) =>
    textsIn(path, readFileSync(join(SRC, path), 'utf8')).map((text) => `${path}: ${text}`),
  )
  expect(paths.length).toBeGreaterThan(15)
  expect(found.filter((text) => !FOR_BROWSERS.has(text.split(': ')[1] ?? ''))).toEqual([])
})

/** All sources that a source needs, directly or through others. */
function sourcesOf(path: string, known = new Set<string>()): Set<string> {
  if (known.has(path) || !/\.tsx?$/.test(path)) return known
  known.add(path)
  const { staticImports, dynamicImports } = parseSync(path, readFileSync(path, 'utf8')).module
  const source = readFileSync(path, 'utf8')
  const names = [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...dynamicImports.map(({ moduleRequest: { start, end } }) => source.slice(start + 1, end - 1)),
  ]
  for (const name of names) if (name.startsWith('.')) sourcesOf(join(dirname(path), name), known)
  return known
}

test('the portal loads no words of the console', () => {
  const sources = [...sourcesOf(join(SRC, 'portal/portal-main.tsx'))].map((path) => path.slice(SRC.length))
  expect(sources).toContain('i18n/portal/portal-de.ts')
  expect(sources).toContain('parts/dialogs/dialog-box.tsx')
  expect(sources).not.toContain('i18n/en.ts')
})
