/**
 * Maps the error of an attempt to one of a few codes. Logs and the API show them, and retry policies decide by them.
 */
import { AssertionError } from 'node:assert'
import type { AttemptErrorCode, AttemptResult, AttemptStage } from '@fantail/contracts'
import { errors } from 'undici'
import { ForbiddenAddressError } from '../connections/connector.ts'
import { ProxyError } from '../connections/proxy-tunnel.ts'
import { NameError } from '../outbound/resolver.ts'

/** Text that explains a failed attempt. Past it: the text is cut. */
const FAILURE_CHARS_MAX = 200

type Failure = Extract<AttemptResult, { kind: 'failure' }>

/** A failure is `permanent` if no further attempt can succeed while configuration and subscription stay as they are. */
export function failure(
  error: AttemptErrorCode,
  detail: string,
  durationMs: number,
  permanent = false,
): Failure {
  return { kind: 'failure', error, detail: detail.slice(0, FAILURE_CHARS_MAX), durationMs, permanent }
}

/** Details name hosts and addresses. They never contain URLs, which may hold credentials. */
export function failureOf(error: Error, durationMs: number): AttemptResult {
  if (error instanceof ForbiddenAddressError)
    return failure('forbidden_address', error.message, durationMs, true)
  if (error instanceof NameError) return failure('dns', error.message, durationMs)
  if (error instanceof ProxyError) return failure('proxy', error.message, durationMs)
  const code = codeOf(error)
  if (code === NO_COMMON_PROTOCOL) return failure('tls', ONLY_HTTP1, durationMs)
  if (code === 'UND_ERR_INVALID_ARG') return failure('connection_failed', error.message, durationMs, true)
  return failure(attemptErrorCode(error), detailOf(error) || code, durationMs)
}

/** OpenSSL's text also has the id of a thread and a path of its source, and undici's assertions show code. */
function detailOf(error: Error): string {
  const { reason } = error as { reason?: unknown }
  if (error instanceof AssertionError) return 'the answer breaks the rules of HTTP'
  if (error instanceof errors.HTTPParserError && HTTP2_START.test(refusedBytes(error))) return ONLY_HTTP1
  return TLS_CODE.test(codeOf(error)) && typeof reason === 'string' ? reason : error.message
}

/** undici's types do not name the bytes that its parser has refused. */
function refusedBytes(error: errors.HTTPParserError): string {
  return String((error as { data?: unknown }).data)
}

/** The stages of errors that say where they happened. */
const STAGES: Partial<Record<AttemptErrorCode, AttemptStage>> = {
  dns: 'dns',
  forbidden_address: 'dns',
  proxy: 'proxy',
  tls: 'tls',
}

/** `stage`: the part of the attempt that was under way. Some errors say it themselves. */
export function stagedFailure(error: Error, durationMs: number, stage: AttemptStage): AttemptResult {
  const result = failureOf(error, durationMs)
  return result.kind === 'failure' ? { ...result, stage: STAGES[result.error] ?? stage } : result
}

/**
 * Whether the peer closed the connection. On a reused connection without any byte of an answer, a fresh one is tried.
 */
export function isReset(error: Error): boolean {
  return attemptErrorCode(error) === 'connection_reset'
}

/** The error's code. An AggregateError of several addresses has the code of the first. */
function codeOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException
  return typeof code === 'string' ? code : ''
}

const BY_CODE = new Map(
  Object.entries<AttemptErrorCode>({
    ECONNREFUSED: 'connection_refused',
    ECONNRESET: 'connection_reset',
    ECONNABORTED: 'connection_reset',
    EPIPE: 'connection_reset',
    ETIMEDOUT: 'timeout',
    EPROTO: 'tls',
    UND_ERR_HEADERS_OVERFLOW: 'invalid_response',
    UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'invalid_response',
  }),
)

/** The server accepts none of the protocols that ALPN offers it (RFC 7301 §3.2). It probably speaks HTTP/2 only. */
const NO_COMMON_PROTOCOL = 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL'
/** An empty or short frame of settings, with which an HTTP/2 server begins (RFC 9113 §3.4). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a frame is binary.
const HTTP2_START = /^\0\0.\x04[\0\x01]\0{4}/s
const ONLY_HTTP1 = 'the server does not offer HTTP/1.1, which is the only version that attempts use'

/** Codes of OpenSSL and Node for a refused certificate or a failed handshake. */
const TLS_CODE =
  /^(ERR_SSL_|ERR_TLS_|ERR_OSSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_)/

function attemptErrorCode(error: Error): AttemptErrorCode {
  const code = codeOf(error)
  const known = BY_CODE.get(code)
  if (known) return known
  if (error instanceof errors.HTTPParserError || error instanceof AssertionError) return 'invalid_response'
  // undici uses this code when the peer closed, and also for invalid answers ("bad response", "bad upgrade").
  if (code === 'UND_ERR_SOCKET')
    return error.message.startsWith('bad ') ? 'invalid_response' : 'connection_reset'
  return TLS_CODE.test(code) ? 'tls' : 'connection_failed'
}
