/** State of mail that all processes share. The store keeps it in Redis (packages/store/src/mail). */

export interface MailTools {
  /** The key that unsubscribe links are signed with. Every process has the same one. */
  linkKey(): Promise<Buffer>
  isSuppressed(address: string): Promise<boolean>
  /** To be called if the server says that the address does not exist. The address gets no further mail. */
  suppress(address: string, detail: string): Promise<void>
  /** Takes one mail from a domain's rate. Returns 0, or the ms until the next mail may be sent. */
  takeOfDomain(domain: string, ratePerSecond: number): Promise<number>
  /** Called with the end of each attempt, for metrics. */
  onEnd?(end: MailEnd): void
}

export type MailEnd = 'delivered' | 'transient' | 'permanent' | 'misconfigured' | 'suppressed' | 'throttled'
