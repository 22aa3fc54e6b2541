/** Recorded attempts of one delivery as lines, oldest first. */
import { type Attempt, type Client, listDeliveryAttempts } from '@fantail/client/api'
import { printable } from '@fantail/policy'
import { durationText } from '../../output/durations.ts'
import { exitOf } from '../../output/exit-codes.ts'

/** Characters of an answer's body in a line. Past them: the body is cut. */
const BODY_CHARS_SHOWN_MAX = 100

/** A deleted subscription has none. */
export async function readAttempts(client: Client, messageId: string, id: string): Promise<Attempt[]> {
  try {
    const { attempts } = await listDeliveryAttempts({ client, path: { messageId, id } })
    return attempts.toReversed()
  } catch (error) {
    if (exitOf(error) === 'notFound') return []
    throw error
  }
}

export function attemptLine(attempt: Attempt): string {
  const { startedAt, phase, statusCode, error, durationMs, because, waited, responseBody } = attempt
  const late = waited !== null && waited.because !== null && waited.because !== because
  const parts = [
    `${startedAt.slice(11, 23)} attempt ${attempt.attempt}`,
    phase,
    `${statusCode ?? printable(error ?? 'no answer')} in ${durationText(durationMs)}`,
    ...(late ? [`waited ${durationText(waited.ms)} for ${waited.because}`] : []),
    ...(responseBody === null ? [] : [`"${printable(responseBody.slice(0, BODY_CHARS_SHOWN_MAX))}"`]),
  ]
  return `    ${parts.join(' · ')}`
}
