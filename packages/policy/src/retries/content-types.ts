/** Content types that a policy may give its requests (checklist 18). */

/** `plain`: for topics, and for subscriptions without raw delivery. `raw`: for subscriptions with raw delivery. */
export type ContentTypes = 'plain' | 'raw'

const ALLOWED: Record<ContentTypes, readonly string[]> = {
  plain: ['application/json', 'text/plain'],
  raw: [
    'text/css',
    'text/csv',
    'text/html',
    'text/plain',
    'text/xml',
    'application/atom+xml',
    'application/json',
    'application/octet-stream',
    'application/soap+xml',
    'application/x-www-form-urlencoded',
    'application/xhtml+xml',
    'application/xml',
  ],
}

/** A media type with at most a charset after it. The text is sent as it is, so nothing else is allowed in it. */
const CONTENT_TYPE = /^([a-z0-9.+-]+\/[a-z0-9.+-]+)(?: *; *charset=(?:[a-z0-9._-]+|"[a-z0-9._-]+"))?$/i

/** Why a content type is refused, or undefined if it may be used. */
export function contentTypeProblem(value: unknown, contentTypes: ContentTypes): string | undefined {
  if (typeof value !== 'string') return 'must be a string'
  const mediaType = CONTENT_TYPE.exec(value)?.[1]?.toLowerCase()
  const allowed = ALLOWED[contentTypes]
  if (mediaType !== undefined && allowed.includes(mediaType)) return undefined
  return `must be one of ${allowed.join(', ')}, with or without a charset`
}
