/**
 * Gives envelopes their signatures: one per message and distinct text, made when first asked for, kept beside the text.
 */
import { carriesSignature, type Envelope, type EnvelopeText, textFor } from '../envelope/envelope.ts'
import type { Target } from '../envelope/target.ts'
import { stringToSign } from './signature.ts'
import type { SigningKey } from './signing-key.ts'

export class EnvelopeSigning {
  readonly #key: SigningKey
  /** On their way; shared by all who ask meanwhile. */
  readonly #pending = new WeakMap<EnvelopeText, Promise<void>>()

  constructor(key: SigningKey) {
    this.#key = key
  }

  /** Nothing can be signed now: the key could not be had. */
  get down(): boolean {
    return this.#key.down
  }

  /** Signatures that wait for a thread. */
  get waiting(): number {
    return this.#key.signer?.waiting ?? 0
  }

  /** undefined where the target's body can be rendered at once; rejects where no key can be had. */
  prepare(envelope: Envelope, target: Target): Promise<void> | undefined {
    if (!carriesSignature(envelope, target)) return undefined
    const text = textFor(envelope, target.protocol)
    if (text.signature) return undefined
    const pending = this.#pending.get(text) ?? this.#sign(envelope, target, text)
    this.#pending.set(text, pending)
    return pending
  }

  async #sign(envelope: Envelope, target: Target, text: EnvelopeText): Promise<void> {
    try {
      const signer = this.#key.signer ?? (await this.#key.load())
      void this.#key.renew()
      const { signatureVersion: version = '1', publicUrl } = envelope
      const value = await signer.sign(stringToSign(envelope, target), version)
      text.signature = { version, value, certificateUrl: `${publicUrl}${signer.certificatePath}` }
    } finally {
      this.#pending.delete(text)
    }
  }
}
