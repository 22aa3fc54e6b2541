/**
 * Converts Zod's errors into Fantail's texts: one problem per member, `messages[3].subject must have at most 99
 * characters`.
 */
import type { z } from 'zod'
import type { Problem } from './fantail-error.ts'

type Issue = z.core.$ZodIssue

/** All problems. Each path begins with `prefix`. */
export function problemsOf(error: z.core.$ZodError, prefix: PropertyKey[] = []): Problem[] {
  return error.issues.flatMap((issue) => problemsOfIssue(issue, [...prefix, ...issue.path]))
}

function problemsOfIssue(issue: Issue, path: PropertyKey[]): Problem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: formatPath([...path, key]), message: 'is not a known member' }))
  }
  return [{ path: formatPath(path), message: messageOf(issue) }]
}

/** `['messages', 3, 'subject']` as `messages[3].subject`. */
export function formatPath(path: PropertyKey[]): string {
  let text = ''
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`
    else text += text === '' ? String(part) : `.${String(part)}`
  }
  return text
}

const TYPES = new Map([
  ['string', 'text'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
  ['object', 'an object'],
  ['record', 'an object'],
  ['array', 'an array'],
])

function messageOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.message.endsWith('received undefined')) return 'is required'
      if (!issue.message.startsWith('Invalid input')) return issue.message
      return `must be ${TYPES.get(issue.expected) ?? issue.expected}`
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`
    case 'too_small':
      return issue.message.startsWith('Too small')
        ? boundText(issue.inclusive === false ? 'more than' : 'at least', issue.minimum, issue.origin)
        : issue.message
    case 'too_big':
      return issue.message.startsWith('Too big')
        ? boundText(issue.inclusive === false ? 'less than' : 'at most', issue.maximum, issue.origin)
        : issue.message
    default:
      return issue.message
  }
}

function boundText(words: string, bound: number | bigint, origin: string): string {
  if (origin === 'string') return `must have ${words} ${bound} character${bound === 1 ? '' : 's'}`
  if (origin === 'array') return `must have ${words} ${bound} element${bound === 1 ? '' : 's'}`
  return `must be ${words} ${bound}`
}
