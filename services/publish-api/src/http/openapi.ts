/** The OpenAPI 3.1 document, made from the same endpoints that are mounted. */
import { ERROR_STATUS, ErrorAnswer, type ErrorCode, namedSchemas } from '@fantail/contracts'
import { z } from 'zod'
import { ruleOf } from '../auth/native-rules.ts'
import type { AnswerDoc, Endpoint } from './endpoint.ts'

export interface ApiInfo {
  title: string
  version: string
  description: string
}

/** What of the settings shows in the document. */
export interface Asked {
  /** Keys are asked for. */
  auth: boolean
  /** But not for `/metrics`. */
  openMetrics: boolean
}

/** What any route may answer, whatever it is asked. */
const EVERYWHERE: ErrorCode[] = ['storage_unavailable', 'internal']
/** Of what asks for a key, where keys are asked for. */
const WITH_KEY: ErrorCode[] = ['unauthorized', 'forbidden', 'rate_limited']
/** Of the same, where none are: to pages of other sites. */
const WITHOUT_KEY: ErrorCode[] = ['forbidden']
const SECURITY_SCHEMES = {
  key: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key, `ft_…`; `fantail keys create` makes one.',
  },
}
const COMPONENTS = '#/components/schemas/'

type Json = Record<string, unknown>

export function openApiDocument(endpoints: Endpoint[], info: ApiInfo, asked: Asked): Json {
  const paths: Record<string, Json> = {}
  for (const endpoint of endpoints) {
    const operations = paths[endpoint.path] ?? {}
    operations[endpoint.method.toLowerCase()] = operation(endpoint, asked)
    paths[endpoint.path] = operations
  }
  const tags = [...new Set(endpoints.map(({ tag }) => tag))].map((name) => ({ name }))
  const components = {
    schemas: componentSchemas(),
    ...(asked.auth && { securitySchemes: SECURITY_SCHEMES }),
  }
  return { openapi: '3.1.0', info, servers: [{ url: '/' }], tags, paths, components }
}

function componentSchemas(): Json {
  const { schemas } = z.toJSONSchema(namedSchemas, { uri: (id) => COMPONENTS + id, unrepresentable: 'any' })
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, withoutMeta(schema)]))
}

function withoutMeta({ $schema: _schema, $id: _id, ...schema }: Json): Json {
  return schema
}

/** A reference where the schema has a name, else its JSON Schema. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const name = namedSchemas.get(schema)?.id
  if (name !== undefined) return { $ref: COMPONENTS + name }
  return withoutMeta(z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json)
}

function operation(endpoint: Endpoint, asked: Asked): Json {
  const { method, path, tag, summary, description, body, bodyIs, answers, errors } = endpoint
  const { need, isMetrics } = ruleOf(endpoint)
  const guarded = need !== 'public' && need !== 'own' && !(isMetrics && asked.openMetrics)
  const withKey = guarded && asked.auth
  const scopes = Array.isArray(need)
    ? `A key needs the scope ${need.map((one) => `\`${one}\``).join(' or ')}.`
    : undefined
  const refusals = withKey ? WITH_KEY : guarded ? WITHOUT_KEY : []
  const text = [description, scopes].filter((one) => one !== undefined).join(' ')
  return {
    operationId: operationId(method, path),
    tags: [tag],
    summary,
    ...(text !== '' && { description: text }),
    ...(withKey && { security: [{ key: [] }] }),
    parameters: [...pathParameters(path), ...queryParameters(endpoint)],
    ...(body && {
      requestBody: {
        required: bodyIs !== 'optional',
        content: { 'application/json': { schema: schemaOf(body, 'input') } },
      },
    }),
    responses: {
      ...answerResponses(answers),
      ...errorResponses([...errors, ...refusals, ...EVERYWHERE], answers),
    },
  }
}

/** `PUT /v1/topics/{topic}` is `putTopicsTopic`. */
function operationId(method: string, path: string): string {
  const [, ...words] = path.replace(/^\/v1/, '').split(/[^A-Za-z]+/)
  return [method.toLowerCase(), ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('')
}

function pathParameters(path: string): Json[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryParameters({ query }: Endpoint): Json[] {
  if (!query) return []
  const { properties, required } = z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' })
  return Object.entries(properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required?.includes(name) ?? false,
    schema: typeof schema === 'object' ? withoutMeta(schema as Json) : schema,
  }))
}

function answerResponses(answers: Record<number, AnswerDoc>): Json {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, schema, contentType }]) => {
      const type = contentType ?? (schema && 'application/json')
      const content = type && { [type]: { schema: schema ? schemaOf(schema, 'output') : { type: 'string' } } }
      return [status, { description, ...(content && { content }) }]
    }),
  )
}

/** One response per status, naming the codes it may carry. */
function errorResponses(errors: ErrorCode[], answers: Record<number, AnswerDoc>): Json {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of new Set(errors)) {
    const status = ERROR_STATUS[code]
    if (!(status in answers)) byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const content = { 'application/json': { schema: schemaOf(ErrorAnswer, 'output') } }
  return Object.fromEntries(
    Array.from(byStatus, ([status, codes]) => [
      status,
      { description: codes.map((code) => `\`${code}\``).join(', '), content },
    ]),
  )
}
