/** Requests to one provider, and the messages that it took, by their texts. */
import { Expiry, ProviderFaults } from './provider-faults.ts'

export class ProviderRecord {
  readonly faults: ProviderFaults
  readonly requested = new Set<string>()
  /** Texts that the provider took, with how often it took each. */
  readonly delivered = new Map<string, number>()

  constructor(expiry = new Expiry()) {
    this.faults = new ProviderFaults(expiry)
  }

  took(text: string): void {
    this.delivered.set(text, (this.delivered.get(text) ?? 0) + 1)
  }
}
