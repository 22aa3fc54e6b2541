/** An endpoint as an operation of the document. */
import { type ErrorCode, KEY_COMMAND } from '@fantail/contracts'
import { z } from 'zod'
import { ruleOf } from '../auth/native-rules.ts'
import type { RouteRule } from '../auth/route-rule.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { described, describedMembers, examplesOf, type Json, referenceTo } from './component-schemas.ts'
import { answerResponses, errorResponses, type Shared } from './responses.ts'

/** The settings that change the document. */
export interface Asked {
  /** Local mode answers only to its own host names. */
  mode: 'local' | 'server'
  /** Keys are asked for. */
  auth: boolean
  /** But not for `/metrics`. */
  openMetrics: boolean
}

/** Codes that any route may answer. */
const EVERYWHERE: ErrorCode[] = ['storage_unavailable', 'internal']
/** Further codes of routes that take JSON. */
const OF_BODIES: ErrorCode[] = ['malformed_json', 'validation_failed', 'too_large', 'unsupported_media_type']
/** Further codes of routes that need a key. */
const WITH_KEY: ErrorCode[] = ['unauthorized', 'forbidden', 'rate_limited']
/** Codes of routes that need no key in local mode. Other hosts and pages of other sites are refused. */
const WITHOUT_KEY: ErrorCode[] = ['forbidden']

export const SECURITY_SCHEMES = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'ft_<id>_<secret>',
    description: `An API key. \`${KEY_COMMAND}\` or \`createKey\` makes one; local mode asks for none.`,
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-fantail',
    description:
      'A session of the console, which `logIn` makes. It counts from pages of this server only, with `X-Fantail-CSRF`.',
  },
  portalSession: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'fps_<secret>',
    description:
      'A session of the portal, which `redeemPortalLink` makes from a link. It may call these routes only.',
  },
  awsSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description:
      'Signature Version 4 with an access key, as AWS SDKs make it; in the query of presigned URLs.',
    'x-amazon-apigateway-authtype': 'awsSigv4',
  },
}

const OPTIONAL_KEY = [{}, { apiKey: [] }]
const OPTIONAL_SIGNATURE = [{}, { awsSignature: [] }]

/** The operation. Components that it refers to are added to `shared`. */
export function operation(endpoint: Endpoint, asked: Asked, shared: Shared): Json {
  const { id, tag, summary, description, answers } = endpoint
  const { need, portal } = ruleOf(endpoint)
  const body = requestBody(endpoint)
  const { query = NO_MEMBERS, headers = {} } = endpoint
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [description, ...scopesText(need, portal ? 'portal session' : 'key')].join('\n\n'),
    security: security(endpoint, asked),
    parameters: [
      ...pathParameters(endpoint),
      ...parameters('query', describedMembers(query)),
      ...parameters('header', describedMembers(z.object(headers))),
    ],
    ...(body && { requestBody: body }),
    responses: {
      ...answerResponses(answers),
      ...errorResponses(codesOf(endpoint, asked), answers, shared),
    },
  }
}

const NO_MEMBERS = z.object({})

/** Every error code of the route. */
export function codesOf(endpoint: Endpoint, asked: Asked): ErrorCode[] {
  const { errors = [], queryIs, body } = endpoint
  // Unknown query parameters are refused, except by routes that read the query themselves.
  const ofQuery: ErrorCode[] = queryIs === 'own' ? [] : ['validation_failed']
  const ofBody = body === undefined ? [] : OF_BODIES
  return [...errors, ...ofQuery, ...ofBody, ...refusals(endpoint, asked), ...EVERYWHERE]
}

function refusals(endpoint: Endpoint, asked: Asked): ErrorCode[] {
  if (asked.auth && isGuarded(endpoint, asked)) return WITH_KEY
  return ruleOf(endpoint).need !== 'own' && asked.mode === 'local' ? WITHOUT_KEY : []
}

function isGuarded(endpoint: Endpoint, { openMetrics }: Asked): boolean {
  const { need, isMetrics } = ruleOf(endpoint)
  return need !== 'public' && need !== 'own' && !(isMetrics && openMetrics)
}

function scopesText(need: RouteRule['need'], who: string): string[] {
  if (typeof need === 'string') return []
  return [`A ${who} needs the scope ${need.map((one) => `\`${one}\``).join(' or ')}.`]
}

function security(endpoint: Endpoint, asked: Asked): Json[] {
  if (ruleOf(endpoint).need === 'own') return OPTIONAL_SIGNATURE
  if (!isGuarded(endpoint, asked)) return []
  if (ruleOf(endpoint).portal) return [{ portalSession: [] }]
  return asked.auth ? [{ apiKey: [] }, { session: [] }] : OPTIONAL_KEY
}

function pathParameters({ path, params = {}, where = {} }: Endpoint): Json[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => {
    const documented = params[name]
    if (!documented) throw new Error(`nothing describes {${name}} of ${path}`)
    const { description, schema } = described(documented)
    const pattern = where[name] === undefined ? {} : { pattern: `^${where[name]}$` }
    return { name, in: 'path', required: true, description, schema: { ...schema, ...pattern } }
  })
}

function parameters(place: 'query' | 'header', members: ReturnType<typeof describedMembers>): Json[] {
  return Object.entries(members).map(([name, { description, required, schema }]) => ({
    name,
    in: place,
    required,
    description,
    schema,
  }))
}

function requestBody({ body, bodyIs, otherBodies = {} }: Endpoint): Json | undefined {
  const others = Object.entries(otherBodies).map(([type, schema]) => [type, otherContent(schema)])
  if (!body && others.length === 0) return undefined
  return {
    required: bodyIs !== 'optional',
    content: { ...(body && { 'application/json': jsonContent(body) }), ...Object.fromEntries(others) },
  }
}

function jsonContent(schema: z.ZodType): Json {
  const examples = examplesOf(schema).map((value, at) => [`example${at + 1}`, { value }])
  return {
    schema: referenceTo(schema),
    ...(examples.length > 0 && { examples: Object.fromEntries(examples) }),
  }
}

function otherContent(schema: z.ZodType): Json {
  const { description, schema: shape } = described(schema)
  const [example] = examplesOf(schema)
  const { examples: _, ...rest } = shape
  return { schema: { ...rest, description }, ...(example !== undefined && { example }) }
}
