/**
 * Verifies Signature Version 4: the request was signed with the secret of its access key, and the signature is valid
 * now. https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
import { timingSafeEqual } from 'node:crypto'
import { Sha256 } from '@aws-crypto/sha256-js'
import { SignatureV4 } from '@smithy/signature-v4'
import type { Authorization, CredentialScope } from './authorization.ts'
import { AwsError } from './aws-error.ts'
import type { AwsService } from './aws-service.ts'
import { canonicalRequest, type SignedRequest, sha256 } from './canonical-request.ts'

/** @limit Difference between a signature's time and the server's. Past it: the request is refused. */
const SKEW_MS = 15 * 60_000
/** @limit Validity that a presigned URL may ask for. Past it: the request is refused. */
const EXPIRES_SECONDS_MAX = 604_800
const TERMINATOR = 'aws4_request'
const DATE = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/

interface Verification {
  request: SignedRequest
  /** The URL's query, decoded. */
  query: ReadonlyMap<string, string>
  authorization: Authorization | undefined
  service: AwsService
  /** undefined: there is no such access key. */
  secretOf(accessKeyId: string): string | undefined
  /** Epoch ms. */
  now: number
}

/** Rejects with the error that explains why the request is refused. Session tokens are not checked. */
export async function verifySignature(verification: Verification): Promise<void> {
  const { authorization, request, service, now } = verification
  if (!authorization) {
    throw new AwsError('MissingAuthenticationToken', 'Request is missing Authentication Token', {
      status: 403,
    })
  }
  const { scope, signedHeaders, signature, date } = complete(authorization, verification)
  const secret = verification.secretOf(scope.accessKeyId)
  if (secret === undefined) {
    const message = 'The security token included in the request is invalid.'
    throw new AwsError('InvalidClientTokenId', message, { status: 403 })
  }
  checkScope(scope, date, service)
  checkTime({ date, now, authorization })
  checkCoverage(signedHeaders, request)
  const canonical = canonicalRequest({ request, signedHeaders, presigned: authorization.presigned })
  const expected = await signatureOf(canonical, { scope, secret, date })
  if (!equal(expected, signature)) throw mismatch(MISMATCH)
}

const MISMATCH =
  'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key ' +
  'and signing method. Consult the service documentation for details.'

function mismatch(message: string): AwsError {
  return new AwsError('SignatureDoesNotMatch', message, { status: 403 })
}

interface Complete {
  scope: CredentialScope
  signedHeaders: string[]
  signature: string
  /** The date as the signer wrote it: `20260101T000000Z`. */
  date: string
}

function complete(authorization: Authorization, { request, query }: Verification): Complete {
  const { scope, signedHeaders, signature, presigned } = authorization
  const date = presigned ? query.get('X-Amz-Date') : dateOf(request)
  const where = presigned ? 'AWS query-string parameters must include' : 'Authorization header requires'
  const missing = [
    !scope && `${where} 'Credential' parameter.`,
    !signature && `${where} 'Signature' parameter.`,
    !signedHeaders && `${where} 'SignedHeaders' parameter.`,
    !DATE.test(date ?? '') && `${where} existence of either a 'X-Amz-Date' or a 'Date' header.`,
  ].filter((text) => text !== false)
  if (!scope || !signedHeaders || !signature || !date || missing.length > 0) {
    throw new AwsError('IncompleteSignature', missing.join(' '))
  }
  return { scope, signedHeaders, signature, date }
}

/** A request without X-Amz-Date may have a Date header instead. */
function dateOf({ header }: SignedRequest): string | undefined {
  const given = header('x-amz-date')
  if (given !== undefined) return given
  const date = new Date(header('date') ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? undefined : basicIso(date)
}

function basicIso(date: Date): string {
  return date.toISOString().replace(/[-:]|\.\d+/g, '')
}

function checkScope(
  { date: day, service: given, terminator }: CredentialScope,
  date: string,
  service: AwsService,
) {
  if (terminator !== TERMINATOR) {
    throw mismatch(`Credential should be scoped with a valid terminator: '${TERMINATOR}'.`)
  }
  if (given !== service) throw mismatch(`Credential should be scoped to correct service: '${service}'.`)
  if (!date.startsWith(day)) {
    throw mismatch(
      `Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '${date}'.`,
    )
  }
}

interface Timing {
  date: string
  now: number
  authorization: Authorization
}

/**
 * A header's signature is valid for 15 minutes before and after its date. A presigned one is valid from its date for
 * the time it states.
 */
function checkTime({ date, now, authorization: { presigned, expires } }: Timing): void {
  const signedAt = Date.parse(date.replace(DATE, '$1-$2-$3T$4:$5:$6Z'))
  const lifeMs = presigned ? lifeOf(expires) : SKEW_MS
  const nowText = basicIso(new Date(now))
  if (Number.isNaN(signedAt) || signedAt + lifeMs < now) {
    throw new AwsError(
      'RequestExpired',
      `Signature expired: ${date} is now earlier than ${nowText} less what it may be old.`,
    )
  }
  if (signedAt - SKEW_MS > now) {
    throw new AwsError(
      'RequestExpired',
      `Signature not yet current: ${date} is still later than ${nowText} and 15 min.`,
    )
  }
}

function lifeOf(expires = ''): number {
  const seconds = Number(expires)
  if (/^\d{1,6}$/.test(expires) && seconds >= 1 && seconds <= EXPIRES_SECONDS_MAX) return seconds * 1_000
  throw new AwsError(
    'IncompleteSignature',
    `X-Amz-Expires must be a number of seconds up to ${EXPIRES_SECONDS_MAX}.`,
  )
}

/**
 * Every header that changes the request's meaning must be signed. Otherwise the signature could be used for another
 * request.
 */
function checkCoverage(signedHeaders: string[], { header }: SignedRequest): void {
  for (const name of ['host', 'x-amz-target', 'x-amz-date']) {
    if (name !== 'host' && header(name) === undefined) continue
    if (!signedHeaders.includes(name)) {
      throw mismatch(`'${name}' must be a 'SignedHeader' in the AWS Authorization.`)
    }
  }
}

interface SigningKey {
  scope: CredentialScope
  secret: string
  date: string
}

async function signatureOf(canonical: string, { scope, secret, date }: SigningKey): Promise<string> {
  const { accessKeyId, region, service } = scope
  const credentials = { accessKeyId, secretAccessKey: secret }
  const signer = new SignatureV4({ credentials, region, service, sha256: Sha256 })
  const scopeText = [scope.date, region, service, TERMINATOR].join('/')
  const toSign = ['AWS4-HMAC-SHA256', date, scopeText, sha256(canonical)].join('\n')
  return signer.sign(toSign, { signingDate: new Date(date.replace(DATE, '$1-$2-$3T$4:$5:$6Z')) })
}

function equal(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}
