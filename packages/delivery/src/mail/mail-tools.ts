/** The data about mails that all processes share. They are stored in Redis (packages/store/src/mail). */

export interface MailTools {
  /** The key that signs unsubscribe links. Every process has the same one. */
  linkKey(): Promise<Buffer>
  isSuppressed(address: string): Promise<boolean>
  /** Called if the server answers that the address does not exist. The address then gets no further mail. */
  suppress(address: string, detail: string): Promise<void>
  /**
   * Asks to send one mail to the domain. Returns 0 if the domain's rate allows it now, else the ms until the rate
   * allows the next mail.
   */
  takeOfDomain(domain: string, ratePerSecond: number): Promise<number>
  /** Called with the end of each attempt, for metrics. */
  onEnd?(end: MailEnd): void
}

export type MailEnd = 'delivered' | 'transient' | 'permanent' | 'misconfigured' | 'suppressed' | 'throttled'
