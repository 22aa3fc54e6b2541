/**
 * Mail addresses as endpoints: one address in ASCII, in the dot-atom form of RFC 5321 §4.1.2. Lists, display names,
 * quoted local parts, comments and address literals are refused, because each could let one subscription name several
 * recipients or headers.
 */

export interface MailSender {
  name: string
  address: string
}

/** @limit A mail address, by RFC 5321 §4.5.3.1.3. Past it: the endpoint is refused. */
const MAIL_ADDRESS_CHARS_MAX = 254
/** @limit The part of a mail address before the @, by RFC 5321 §4.5.3.1.1. Past it: the endpoint is refused. */
const LOCAL_PART_CHARS_MAX = 64

const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
const LOCAL_PART = new RegExp(`^${ATOM}(?:\\.${ATOM})*$`)
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})+$`)

/** Whether the text is exactly one address that mail can be sent to. */
export function isMailAddress(text: string): boolean {
  if (text.length > MAIL_ADDRESS_CHARS_MAX) return false
  const at = text.lastIndexOf('@')
  const localPart = text.slice(0, Math.max(at, 0))
  if (localPart.length > LOCAL_PART_CHARS_MAX) return false
  return LOCAL_PART.test(localPart) && DOMAIN.test(text.slice(at + 1))
}

/** In lower case, so that all spellings of a domain share one limit. */
export function domainOfAddress(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase()
}

/**
 * The form of an address in limits and in the suppression list. It is in lower case, because mail providers ignore case
 * in both parts.
 */
export function comparableAddress(address: string): string {
  return address.toLowerCase()
}
