/**
 * Sends one request to the API that served this page, with the generated client. Every failure becomes an `ApiError`.
 */
import { createClient } from '@fantail/client/api'
import type { Call, InputOf, Operation, OutputOf } from './api-calls.ts'
import { ApiError } from './api-error.ts'
import { noteAnswer, noteSilence, watchRead } from './liveness.ts'

/** Time that the console waits for an answer. Past it: the request ends, and the screen says so. */
const ANSWER_TIMEOUT_MS = 20_000

const client = createClient({ baseUrl: location.origin, fetch: answerTo })

export function send<Run extends Operation>(
  operation: Run,
  input: InputOf<Run>,
  signal?: AbortSignal,
): Promise<OutputOf<Run>> {
  const timeout = AbortSignal.timeout(ANSWER_TIMEOUT_MS)
  const given = { ...input, client, signal: signal ? AbortSignal.any([signal, timeout]) : timeout }
  return operation(given as never) as Promise<OutputOf<Run>>
}

async function answerTo(input: RequestInfo | URL): Promise<Response> {
  const response = await ask(withSession(input as Request))
  noteAnswer(response.status)
  if (!response.ok) throw ApiError.of(response.status, await response.text())
  return response
}

async function ask(request: Request): Promise<Response> {
  try {
    return await (request.method === 'GET' ? watchRead(fetch(request)) : fetch(request))
  } catch (cause) {
    // The screen itself has canceled the request. A timeout has another error name.
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    noteSilence()
    throw ApiError.silent(cause)
  }
}

/** The same request as a curl command for a terminal. The client makes the request but does not send it. */
export async function curlOf({ operation, input }: Call): Promise<string> {
  let made: Request | undefined
  const recorder = createClient({
    baseUrl: location.origin,
    fetch: (request) => {
      made = request as Request
      return Promise.resolve(new Response('{}', { headers: { 'content-type': 'application/json' } }))
    },
  })
  await operation({ ...input, client: recorder } as never)
  return made === undefined ? '' : wordsOf(made, await made.text())
}

function wordsOf({ method, url, headers }: Request, body: string): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const words = ['curl', '-sS']
  if (method !== 'GET') words.push('-X', method)
  words.push(quoted(url))
  for (const [name, value] of headers) words.push('-H', quoted(`${name}: ${value}`))
  if (body !== '') words.push('-d', quoted(body))
  return words.join(' ')
}

/**
 * The session of the person who uses the console. It is a cookie that scripts cannot read. A second value protects
 * against forged requests. It is kept only in memory, and every request has it.
 */
let csrfToken: string | null = null
/** The token of a portal session. It takes the place of the cookie, and is kept only in memory. */
let bearer: string | null = null

export function keepCsrfToken(token: string | null): void {
  csrfToken = token
}

export function keepBearer(token: string | null): void {
  bearer = token
}

/** Adds the session to a request. Without a session the request stays unchanged. */
export function withSession(request: Request): Request {
  if (csrfToken !== null) request.headers.set('X-Fantail-CSRF', csrfToken)
  if (bearer !== null) request.headers.set('Authorization', `Bearer ${bearer}`)
  return request
}
