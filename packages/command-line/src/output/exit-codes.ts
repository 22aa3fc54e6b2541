/** The exit codes of `fantail`, and which failure has which code. docs/command-line-output.md explains them. */

export const EXIT_CODES = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  conflict: 5,
  unreachable: 6,
  timedOut: 7,
  partlyDone: 8,
  /** `--plan` or a comparison shows differences. A failure has another code, so that a schedule knows which it was. */
  differs: 9,
  /** A service must not use the data. Only services end with it (run-process.ts). */
  unknownData: 78,
  interrupted: 130,
} as const

export type ExitName = keyof typeof EXIT_CODES

/** A failure that the command itself has found. */
export class CommandError extends Error {
  readonly exit: ExitName
  /** A sentence that says how the caller can solve it. */
  readonly hint: string | undefined

  constructor(exit: ExitName, message: string, hint?: string) {
    super(message)
    this.exit = exit
    this.hint = hint
  }
}

interface Refusal {
  code: string
  message: string
  details: { path: string; message: string }[]
  requestId: string | undefined
}

export class ApiRefusal extends Error {
  readonly status: number
  readonly code: string
  readonly details: Refusal['details']
  readonly requestId: string | undefined

  constructor(status: number, { code, message, details, requestId }: Refusal) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
    this.requestId = requestId
  }
}

/** There was no answer: no address, no connection, or a connection that broke. */
export class Unreachable extends Error {}

const BY_STATUS: Record<number, ExitName> = {
  400: 'usage',
  401: 'refused',
  403: 'refused',
  404: 'notFound',
  409: 'conflict',
  413: 'usage',
  415: 'usage',
  422: 'usage',
  502: 'unreachable',
  503: 'unreachable',
  504: 'unreachable',
}

export function exitOf(error: unknown): ExitName {
  if (error instanceof CommandError) return error.exit
  if (error instanceof Unreachable) return 'unreachable'
  if (error instanceof ApiRefusal) return BY_STATUS[error.status] ?? 'failed'
  return 'failed'
}
