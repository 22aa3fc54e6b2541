/**
 * Reads an AWS request as far as possible without its operation: service, protocol, Action, signature, parameters.
 *
 * The service is known from the target of AWS JSON, the Version of AWS Query, the credential scope, or a queue's path.
 */
import { isUtf8 } from 'node:buffer'
import {
  type Authorization,
  AwsError,
  type AwsService,
  parseParameters,
  type QueryParameters,
  readAuthorization,
  VERSIONS,
} from '@fantail/aws-wire'
import { FantailError } from '@fantail/contracts'
import type { ApiRequest } from '../../http/api-request.ts'

/**
 * The largest message of 1 MiB, with every byte escaped by form encoding, and the names of its attributes.
 * @limit Body of an AWS request. Past it: the request is refused.
 */
export const AWS_REQUEST_BYTES_MAX = 4 * 1_048_576
const NO_BODY = Buffer.alloc(0)
const JSON_BODY = /^application\/(?:x-amz-)?json/i
const FORM_BODY = /^application\/x-www-form-urlencoded\s*(?:;|$)/i
const TARGET = /^AmazonSQS\.(\w+)$/
const ACCEPTED = /application\/json|(?:text|application)\/(?:xml|html)/i
const QUEUE_PATH = /^\/\d{12}\/[^/]+\/?$/

/** A queue's URL, which is also an endpoint: `/{account}/{name}`. */
export function isQueuePath(path: string): boolean {
  return QUEUE_PATH.test(path)
}

/** Known before the body is read. It is enough for an error in the caller's protocol. */
export interface WireForm {
  service: AwsService
  protocol: 'query' | 'json'
  /** The caller chooses: AWS Query answers in JSON if that is the first type which the caller accepts. */
  answers: 'xml' | 'json'
}

export interface WireHead extends WireForm {
  authorization: Authorization | undefined
  /** Without the query. */
  path: string
  search: string
}

export interface WireRequest extends WireHead {
  body: Buffer
  /** Undefined: the request names no Action. */
  action: string | undefined
  parameters: QueryParameters
  version: string | undefined
}

/** Reads the head of a request. Throws `MalformedQueryString` if its URL cannot be read. */
export function readHead(request: ApiRequest): WireHead {
  const { path, search } = targetOf(request.url)
  const query = parseParameters(search)
  const authorization = readAuthorization({ header: (name) => request.header(name), query })
  if (isJson(request))
    return { service: 'sqs', protocol: 'json', answers: 'json', authorization, path, search }
  const version = query.get('Version')
  return {
    service: serviceOf({ version, authorization, path }),
    protocol: 'query',
    answers: answersOf(request),
    authorization,
    path,
    search,
  }
}

/** The form of an answer if not even the head can be read. */
export function formOf(request: ApiRequest): WireForm {
  if (isJson(request)) return { service: 'sqs', protocol: 'json', answers: 'json' }
  const service = isQueuePath(targetOf(request.url).path) ? 'sqs' : 'sns'
  return { service, protocol: 'query', answers: answersOf(request) }
}

/** Reads a request whose body has at most `bytesMax` bytes. */
export async function readWireRequest(
  request: ApiRequest,
  head: WireHead,
  bytesMax = AWS_REQUEST_BYTES_MAX,
): Promise<WireRequest> {
  const body = request.method === 'POST' ? await bytesOf(request, bytesMax) : NO_BODY
  if (head.protocol === 'json') {
    const action = TARGET.exec(request.header('x-amz-target') ?? '')?.[1]
    return { ...head, body, action, parameters: new Map(), version: undefined }
  }
  const parameters = parseParameters(formTextOf(request, body), head.search)
  const version = parameters.get('Version')
  const action = parameters.get('Action') || undefined
  // The library boto 2 requests JSON in this way.
  const answers = parameters.get('ContentType') === 'JSON' ? 'json' : head.answers
  return { ...head, answers, service: serviceOf({ ...head, version }), body, action, parameters, version }
}

export function withoutBody(head: WireHead): WireRequest {
  return { ...head, body: NO_BODY, action: undefined, parameters: new Map(), version: undefined }
}

export function jsonTextOf({ body }: WireRequest): string {
  if (isUtf8(body)) return body.toString()
  throw new AwsError('SerializationException', 'The request is not UTF-8.')
}

async function bytesOf(request: ApiRequest, bytesMax: number): Promise<Buffer> {
  try {
    return await request.bytes(bytesMax)
  } catch (error) {
    if (!(error instanceof FantailError) || error.code !== 'too_large') throw error
    const message = `HTTP content length exceeded ${bytesMax} bytes.`
    throw new AwsError('RequestEntityTooLarge', message, { status: 413, cause: error })
  }
}

function formTextOf(request: ApiRequest, body: Buffer): string {
  if (body.length === 0) return ''
  if (!FORM_BODY.test(request.header('content-type') ?? '')) {
    const message =
      'The body must be application/x-www-form-urlencoded; AWS JSON is application/x-amz-json-1.0 and has X-Amz-Target.'
    throw new AwsError('UnsupportedMediaType', message, { status: 415 })
  }
  if (isUtf8(body)) return body.toString()
  throw new AwsError('MalformedQueryString', 'The query string contains a syntax error.')
}

/** The first accepted type that Fantail can write. The order of the header counts, not the weights. */
function answersOf(request: ApiRequest): WireForm['answers'] {
  const first = ACCEPTED.exec(request.header('accept') ?? '')?.[0]
  return first?.toLowerCase() === 'application/json' ? 'json' : 'xml'
}

function isJson(request: ApiRequest): boolean {
  return request.header('x-amz-target') !== undefined || JSON_BODY.test(request.header('content-type') ?? '')
}

interface Hints {
  version: string | undefined
  authorization: Authorization | undefined
  path: string
}

function serviceOf({ version, authorization, path }: Hints): AwsService {
  if (version === VERSIONS.sns) return 'sns'
  if (version === VERSIONS.sqs || isQueuePath(path)) return 'sqs'
  if (version === VERSIONS.sts) return 'sts'
  const signedFor = authorization?.scope?.service
  return signedFor === 'sqs' || signedFor === 'sts' ? signedFor : 'sns'
}

function targetOf(url: string): { path: string; search: string } {
  const origin = url.indexOf('://') + 3
  const [target = ''] = url.slice(Math.max(url.indexOf('/', origin), 0)).split('#', 1)
  const query = target.indexOf('?')
  return query < 0
    ? { path: target, search: '' }
    : { path: target.slice(0, query), search: target.slice(query + 1) }
}
