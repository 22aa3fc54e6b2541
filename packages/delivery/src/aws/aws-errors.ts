/** Names of errors that AWS's services answer with. */

/** https://docs.aws.amazon.com/lambda/latest/api/CommonErrors.html, without `Exception` at their ends. */
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

/** Our own credentials are refused, so that nothing can be called with them. */
export function isCredentialError(statusCode: number, name: string | undefined): boolean {
  return statusCode === UNAUTHORIZED || CREDENTIAL_ERRORS.has(name?.replace(/Exception$/, '') ?? '')
}

/** A colon and a URL may follow the name in the header. A namespace and a hash may precede it in the body. */
export function errorNameOf(
  headers: Readonly<Record<string, string>>,
  body: Record<string, unknown> | undefined,
): string | undefined {
  const named = headers['x-amzn-errortype'] ?? body?.__type
  return typeof named === 'string' ? named.replace(/^.*#/, '').replace(/:.*$/, '') : undefined
}
