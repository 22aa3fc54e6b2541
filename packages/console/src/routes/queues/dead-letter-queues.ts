/**
 * Dead-letter queues, and how many letters they hold. They are ordinary queues, and can be recognised by the topics and
 * queues that send to them.
 */
import type { Queue } from '@fantail/client/api'

export function takesDeadLetters({ deadLettersOf, deadLetterSources }: Queue): boolean {
  return deadLettersOf !== null || deadLetterSources.length > 0
}

export function lettersIn({ counts }: Queue): number {
  return counts.visible + counts.inFlight + counts.delayed
}
