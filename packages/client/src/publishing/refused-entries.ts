/** The messages of a batch that the API refused, each with its own error. */
import { FantailError, type Problem } from '../failures/client-error.ts'

const PLACE = /^messages\[(\d+)\]\.?/

/** The errors by index of the message. Empty if the error names no message. */
export function refusedEntries(error: unknown): Map<number, FantailError> {
  if (!(error instanceof FantailError) || error.status === undefined || error.status >= 500) return new Map()
  const problems = (error.details ?? []).map((problem) => ({ problem, at: PLACE.exec(problem.path) }))
  if (problems.some(({ at }) => at === null)) return new Map()
  const byIndex = Map.groupBy(problems, ({ at }) => Number(at?.[1]))
  return new Map(
    [...byIndex].map(([index, found]) => [
      index,
      errorOf(
        error,
        found.map(({ problem }) => problem),
      ),
    ]),
  )
}

function errorOf({ code, status, requestId, attempts }: FantailError, problems: Problem[]): FantailError {
  const details = problems.map(({ path, message }) => ({ path: path.replace(PLACE, ''), message }))
  const message = details.map(({ path, message }) => `${path} ${message}`).join('; ')
  const error = new FantailError(code, message, { status, requestId, details })
  error.attempts = attempts
  return error
}
