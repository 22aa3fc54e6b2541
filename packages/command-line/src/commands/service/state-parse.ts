/** Reads the file of `fantail apply`, in YAML or JSON. A problem names its line and column. */
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml'
import { CommandError } from '../../output/exit-codes.ts'
import type { State } from './state-file.ts'

export type Path = (string | number)[]
export type PlacedProblem = [path: Path, message: string]

/** Throws at the first problem. `file` names the text in the error. */
export function parseState(text: string, file: string): State {
  const { document, refusal } = read(text, file)
  const json = jsonOf(text)
  // JSON may be indented by tabs, which YAML refuses.
  const wrong = document.errors.find(({ code }) => json === undefined || code === 'DUPLICATE_KEY')
  if (wrong) throw refusal(wrong.pos[0], wrong.message)
  const value = json ?? plainOf(document, refusal)
  for (const problem of problemsOf(value)) throw refusalOf(problem, document, refusal)
  return value as State
}

/** The refusal of a file that can be parsed. */
export function refusalAt(problem: PlacedProblem, text: string, file: string): Error {
  const { document, refusal } = read(text, file)
  return refusalOf(problem, document, refusal)
}

function read(text: string, file: string): { document: Document; refusal: Refusal } {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const refusal: Refusal = (offset, message) => {
    const { line, col } = lines.linePos(offset)
    const hint = '`fantail export` writes such a file, as JSON. YAML may have the same members.'
    return new CommandError('usage', `${file}, line ${line}, column ${col}: ${message}`, hint)
  }
  return { document, refusal }
}

function refusalOf([path, message]: PlacedProblem, document: Document, refusal: Refusal): Error {
  return refusal(offsetOf(nodeOf(document, path)), `${pathText(path)} ${message}`)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Refusal = (offset: number, message: string) => Error

/** Too many aliases are refused, because a small text could fill the memory. */
function plainOf(document: Document, refusal: Refusal): unknown {
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document) === undefined)
        throw refusal(offsetOf(alias), `&${alias.source} is not defined before`)
    },
  })
  try {
    return document.toJS()
  } catch (error) {
    throw refusal(0, (error as Error).message)
  }
}

const SUBSCRIPTION_NAMES = ['endpoint', 'name', 'settings']

function* problemsOf(state: unknown): Generator<PlacedProblem> {
  yield* mapProblems(state, [], ['version', 'queues', 'topics', '$schema'])
  const { version, queues, topics } = state as Record<string, unknown>
  if (version !== 1) yield [['version'], 'must be 1']
  yield* listProblems(queues, ['queues'], (queue, path) => namedProblems(queue, path, ['name', 'settings']))
  yield* listProblems(topics, ['topics'], topicProblems)
}

function* topicProblems(topic: unknown, path: Path): Generator<PlacedProblem> {
  yield* namedProblems(topic, path, ['name', 'settings', 'eventTypes', 'subscriptions'])
  const { subscriptions, eventTypes = [] } = topic as Record<string, unknown>
  yield* listProblems(eventTypes, [...path, 'eventTypes'], (type, at) =>
    namedProblems(type, at, ['name', 'settings']),
  )
  yield* listProblems(subscriptions, [...path, 'subscriptions'], function* (subscription, at) {
    yield* namedProblems(subscription, at, SUBSCRIPTION_NAMES)
    const { name } = subscription as Record<string, unknown>
    if (name != null && typeof name !== 'string') yield [[...at, 'name'], 'must be a text or null']
  })
}

/** A map whose first member is its name. */
function* namedProblems(value: unknown, path: Path, names: string[]): Generator<PlacedProblem> {
  yield* mapProblems(value, path, names)
  const [first = ''] = names
  const { [first]: name, settings } = value as Record<string, unknown>
  if (typeof name !== 'string' || name === '') yield [[...path, first], 'must be a text']
  if (settings !== undefined && !isObject(settings)) yield [[...path, 'settings'], 'must be a map']
}

function* mapProblems(value: unknown, path: Path, names: string[]): Generator<PlacedProblem> {
  if (!isObject(value)) yield [path, `must be a map with ${names.join(', ')}`]
  for (const name of Object.keys(value as object)) {
    if (!names.includes(name)) yield [[...path, name], `is unknown; the members are ${names.join(', ')}`]
  }
}

function* listProblems(
  value: unknown,
  path: Path,
  itemProblems: (item: unknown, path: Path) => Generator<PlacedProblem>,
): Generator<PlacedProblem> {
  if (!Array.isArray(value)) yield [path, 'must be a list']
  for (const [at, item] of (value as unknown[]).entries()) yield* itemProblems(item, [...path, at])
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

/** The name of a member where it is written. For a missing one, the map in which it is missing. */
function nodeOf(document: Document, path: Path): unknown {
  const parent = document.getIn(path.slice(0, -1), true)
  const pair =
    isMap(parent) && parent.items.find(({ key }) => isScalar(key) && String(key.value) === path.at(-1))
  return pair ? pair.key : (document.getIn(path, true) ?? parent)
}

function offsetOf(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0
}

/** `topics[0].name`. */
function pathText(path: Path): string {
  if (path.length === 0) return 'the file'
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    return text === '' ? part : `${text}.${part}`
  }, '')
}
