/** The text of a failed command: the problem and its remedy. */
import { ApiRefusal, CommandError, Unreachable } from '../output/exit-codes.ts'

const HINTS = new Map([
  [
    'unauthorized',
    'Set FANTAIL_API_KEY, or run `fantail login URL`. `fantail keys create --help` says how to make a key.',
  ],
  ['forbidden', 'Use a key that has the scope. `fantail keys create --help` says how to make one.'],
  ['rate_limited', 'The key or the server has a limit of requests. Try again later, or with --rate.'],
  [
    'storage_full',
    'Redis has no memory left for more. `fantail dlq list` and `fantail queues list` show what waits.',
  ],
  ['storage_unavailable', 'Redis does not answer the API. `fantail doctor` shows more. Try again later.'],
])

export function failureText(error: unknown): string {
  if (error instanceof ApiRefusal) return refusalText(error)
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof CommandError) return [message, error.hint].filter(Boolean).join('\n')
  if (error instanceof Unreachable) {
    return `${message}\nIs Fantail running there? \`npm start\` or \`fantail dev\` starts it. --url names another address.`
  }
  return message
}

function refusalText({ message, details, code, status, requestId }: ApiRefusal): string {
  const more = details.slice(1).map((detail) => `${detail.path} ${detail.message}`)
  const request = requestId === undefined ? '' : `, request ${requestId}`
  const hint = HINTS.get(code)
  return [`${message} (${code}, ${status}${request})`, ...more, ...(hint ? [hint] : [])].join('\n')
}
