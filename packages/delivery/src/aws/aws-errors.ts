/** Names of errors in answers of AWS's services. */

/** https://docs.aws.amazon.com/lambda/latest/api/CommonErrors.html, without `Exception` at the end of the names. */
const CREDENTIAL_ERRORS = new Set([
  'ExpiredToken',
  'IncompleteSignature',
  'InvalidClientTokenId',
  'InvalidSignature',
  'MissingAuthenticationToken',
  'RequestExpired',
  'SignatureDoesNotMatch',
  'UnrecognizedClient',
])
const UNAUTHORIZED = 401

/** Whether AWS refuses our own credentials, so that no call with them can succeed. */
export function isCredentialError(statusCode: number, name: string | undefined): boolean {
  return statusCode === UNAUTHORIZED || CREDENTIAL_ERRORS.has(name?.replace(/Exception$/, '') ?? '')
}

/** In the header, a colon and a URL may follow the name. In the body, a namespace and a hash may precede it. */
export function errorNameOf(
  headers: Readonly<Record<string, string>>,
  body: Record<string, unknown> | undefined,
): string | undefined {
  const named = headers['x-amzn-errortype'] ?? body?.__type
  return typeof named === 'string' ? named.replace(/^.*#/, '').replace(/:.*$/, '') : undefined
}
