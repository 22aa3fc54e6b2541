/** The behaviour that a path names: `/ok`, `/status/503`, `/flaky/3`, `/slow/5000`, `/hang`, `/sms`. */

export interface Behaviour {
  /** null: never answers. */
  status: number | null
  delayMs: number
}

export const ANSWER: Behaviour = { status: 200, delayMs: 0 }
const DELAY_MS_MAX = 600_000

/** `attempt` counts the requests of this message to this path, from 1. Returns undefined if there is no such path. */
export function behaviourOf(path: string, attempt: number): Behaviour | undefined {
  const [, name, argument = '', ...more] = path.split('/')
  if (more.length > 0) return undefined
  const value = /^\d{1,9}$/.test(argument) ? Number(argument) : undefined
  switch (name) {
    case 'ok':
    case 'sms':
      return argument === '' ? ANSWER : undefined
    case 'hang':
      return argument === '' ? { status: null, delayMs: 0 } : undefined
    case 'status':
      return value !== undefined && value >= 200 && value <= 599 ? { status: value, delayMs: 0 } : undefined
    case 'flaky':
      return value === undefined ? undefined : { status: attempt <= value ? 503 : 200, delayMs: 0 }
    case 'slow':
      return value === undefined ? undefined : { status: 200, delayMs: Math.min(value, DELAY_MS_MAX) }
    default:
      return undefined
  }
}
