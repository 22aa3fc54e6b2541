/**
 * Reads a request's query and body, and checks them against their schemas. All problems of both are reported at once.
 */
import { isUtf8 } from 'node:buffer'
import {
  FantailError,
  isObject,
  JsonBoundError,
  type Problem,
  parseBounded,
  problemsOf,
} from '@fantail/contracts'
import type { z } from 'zod'
import type { ApiRequest } from './api-request.ts'
import type { Endpoint } from './endpoint.ts'
import { invalid } from './error-answers.ts'

interface Input {
  query: unknown
  body: unknown
}

const NOTHING = Object.freeze({})

/** Returns a promise only if the body must be awaited. */
export function readInput(endpoint: Endpoint, request: ApiRequest): Input | Promise<Input> {
  const problems: Problem[] = []
  const query = endpoint.queryIs === 'own' ? NOTHING : checkQuery(endpoint.query, request.url, problems)
  if (!endpoint.body || endpoint.bodyIs === 'own') return unlessWrong({ query, body: undefined }, problems)
  return readBody(endpoint, request, problems).then((body) => unlessWrong({ query, body }, problems))
}

function unlessWrong(input: Input, problems: Problem[]): Input {
  if (problems.length > 0) throw invalid(problems)
  return input
}

/** Checks a query. Without a schema no parameter is allowed. */
function checkQuery(schema: z.ZodType | undefined, url: string, problems: Problem[]): unknown {
  const start = url.indexOf('?')
  if (start < 0) return schema ? withoutMembers(schema, problems) : NOTHING
  const members = queryMembers(url.slice(start + 1), problems)
  if (schema) return checked(schema, members, problems)
  for (const path of Object.keys(members)) problems.push({ path, message: 'is not a known member' })
  return NOTHING
}

/** The results of an empty query by schema. They are the same for every request. */
const emptyQueries = new WeakMap<z.ZodType, unknown>()

function withoutMembers(schema: z.ZodType, problems: Problem[]): unknown {
  const known = emptyQueries.get(schema)
  if (known !== undefined) return known
  const query = checked(schema, {}, problems)
  if (query !== undefined) emptyQueries.set(schema, Object.freeze(query))
  return query
}

function queryMembers(search: string, problems: Problem[]): Record<string, string> {
  const members = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(search.split('#', 1)[0])) {
    if (members.has(name)) problems.push({ path: name, message: 'is given more than once' })
    members.set(name, value)
  }
  return Object.fromEntries(members)
}

async function readBody(endpoint: Endpoint, request: ApiRequest, problems: Problem[]): Promise<unknown> {
  const text = await readJsonText(request)
  const value = text === '' && endpoint.bodyIs === 'optional' ? {} : parseJson(text)
  if (!isObject(value)) return checked(endpoint.body as z.ZodType, value, problems)
  for (const path of endpoint.fixed ?? []) {
    if (!Object.hasOwn(value, path)) continue
    problems.push({ path, message: 'cannot be changed' })
    delete value[path]
  }
  problems.push(...(endpoint.check?.(value) ?? []))
  return checked(endpoint.body as z.ZodType, value, problems)
}

/** The schema's output. undefined: the value is invalid, and its problems were added. */
function checked(schema: z.ZodType, value: unknown, problems: Problem[]): unknown {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  problems.push(...problemsOf(result.error))
  return undefined
}

const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i

/** The text of a body. Throws `malformed_json` if it is not UTF-8. */
export function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new FantailError('malformed_json', 'the request’s body is not UTF-8')
  return bytes.toString()
}

/** A body's JSON text; '' if there is none. Throws `unsupported_media_type` if the content type is another one. */
export function jsonTextOf(request: ApiRequest, bytes: Buffer): string {
  const text = textOf(bytes)
  if (text !== '' && !JSON_TYPE.test(request.header('content-type') ?? '')) {
    throw new FantailError('unsupported_media_type', 'the body must be JSON: Content-Type: application/json')
  }
  return text
}

export async function readJsonText(request: ApiRequest): Promise<string> {
  return jsonTextOf(request, await request.bytes())
}

/** Throws `malformed_json`. `valuesMax` is given by routes that publish JSON of any number of values. */
export function parseJson(text: string, valuesMax?: number): unknown {
  try {
    return parseBounded(text, valuesMax)
  } catch (error) {
    const detail = error instanceof Error ? error.message : ''
    const message = error instanceof JsonBoundError ? detail : `the body is not JSON: ${detail}`
    throw new FantailError('malformed_json', message, { cause: error })
  }
}
