/** Checks a request's query and body against their schemas. All problems of both are reported at once. */
import { isObject, type Problem, problemsOf } from '@fantail/contracts'
import type { z } from 'zod'
import type { ApiRequest } from './api-request.ts'
import type { Endpoint } from './endpoint.ts'
import { invalid } from './error-answers.ts'
import { parseJson, readJsonText } from './read-body.ts'

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
