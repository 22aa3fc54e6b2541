/** Settings of mail, with the names of their rows in packages/config. */
import type { KeyObject } from 'node:crypto'
import type { MailSender } from '@fantail/policy'

export interface MailSettings {
  /** Deadline of one attempt. */
  attemptTimeoutMs?: number | undefined
  /** `smtp:` or `smtps:`, with user name and password if needed. Undefined: no mail is sent. */
  smtpUrl?: string | undefined
  /** required: no mail is sent without TLS. offered: TLS is used if the server offers it. */
  smtpTls?: 'required' | 'offered' | undefined
  smtpConnections?: number | undefined
  /** The sender. Its name is used for topics without a display name. */
  emailFrom?: MailSender | undefined
  emailDomainRate?: number | undefined
  emailDkimDomain?: string | undefined
  emailDkimSelector?: string | undefined
  /** The private key in PEM. */
  emailDkimKey?: string | undefined
}

const SENDER: MailSender = { name: 'Notifications', address: 'no-reply@localhost' }

export function senderOf({ emailFrom }: MailSettings): MailSender {
  return emailFrom ?? SENDER
}

/** The part of a sender's address after the @. Message-IDs and list ids end with it. */
export function hostOfSender({ address }: MailSender): string {
  return address.slice(address.lastIndexOf('@') + 1)
}

/** The data about mails that all processes share. Redis stores it (packages/store/src/mail). */
export interface MailTools {
  /** The key that signs unsubscribe links. Every process has the same one. */
  linkKey(): Promise<KeyObject>
  isSuppressed(address: string): Promise<boolean>
  /** Called if the server answers that the address does not exist. The address then gets no further mail. */
  suppress(address: string, detail: string): Promise<void>
  /**
   * Asks to send one mail to the domain. Returns 0 if the domain's rate allows it now, else the ms until the rate
   * allows the next mail.
   */
  takeOfDomain(domain: string, ratePerSecond: number): Promise<number>
  /** Called with the result of each attempt, for metrics. */
  onResult?(result: MailResult): void
}

export type MailResult =
  | 'delivered'
  | 'transient'
  | 'permanent'
  | 'misconfigured'
  | 'suppressed'
  | 'throttled'
