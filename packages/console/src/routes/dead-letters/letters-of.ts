/** Dead-letter queues are queues like others. These are known by what sends to them. */
import type { Queue } from '../../api/api-types.ts'

export function takesDeadLetters({ deadLettersOf, deadLetterSources }: Queue): boolean {
  return deadLettersOf !== null || deadLetterSources.length > 0
}

export function lettersIn({ counts }: Queue): number {
  return counts.visible + counts.inFlight + counts.delayed
}
