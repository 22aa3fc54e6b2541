/** The delivery of a text message in SNS's delivery status log (checklist 389). */
import type { AttemptErrorCode, AttemptedText, AttemptResult } from '@fantail/contracts'

const ACCEPTED = 'Message has been accepted by phone carrier'
const UNREACHABLE = 'Phone carrier is currently unreachable/unavailable'
/** SNS's words for failures. */
const WORDS: Partial<Record<AttemptErrorCode, string>> = {
  number_refused: 'Invalid phone number',
  text_refused: 'Message body is invalid',
  outcome_unknown: 'Unknown error attempting to reach phone',
}
/** Details of these failures are SNS's words already. */
const WORDED = new Set<AttemptErrorCode>(['opted_out', 'spend_exceeded'])

interface TextDelivery {
  destination: string
  dwellTimeMs: number
  result: AttemptResult | undefined
}

/** SNS also shows the carrier and its codes. Fantail does not know them. */
export function textDelivery(
  { parts, priceUsd, type }: AttemptedText,
  { destination, dwellTimeMs, result }: TextDelivery,
) {
  return {
    numberOfMessageParts: parts,
    destination,
    priceInUSD: priceUsd,
    smsType: type,
    providerResponse: wordsOf(result),
    dwellTimeMs,
  }
}

/** If a provider refuses a message, its own words are shown. */
function wordsOf(result: AttemptResult | undefined): string {
  if (result?.kind === 'response')
    return result.verdict === 'delivered' ? ACCEPTED : (result.text ?? UNREACHABLE)
  if (result?.kind !== 'failure') return UNREACHABLE
  const { error, detail } = result
  return WORDED.has(error) ? detail : (WORDS[error] ?? UNREACHABLE)
}
