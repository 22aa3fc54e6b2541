/** The state that all processes share about mails. The store has it in Redis (packages/store/src/mail). */

export interface MailTools {
  /** The key that unsubscribe links are signed with. Every process has the same one. */
  linkKey(): Promise<Buffer>
  isSuppressed(address: string): Promise<boolean>
  /** The server says that the address does not exist: it gets no further mail. */
  suppress(address: string, detail: string): Promise<void>
  /** Takes one mail of a domain's rate: 0, or the ms until there is one. */
  takeOfDomain(domain: string, ratePerSecond: number): Promise<number>
  /** Called with the end of each attempt, for metrics. */
  onEnd?(end: MailEnd): void
}

export type MailEnd = 'delivered' | 'transient' | 'permanent' | 'misconfigured' | 'suppressed' | 'throttled'
