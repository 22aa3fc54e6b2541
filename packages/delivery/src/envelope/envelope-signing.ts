/**
 * Signs envelopes. Each distinct text of a message is signed once, when its signature is first needed. The signature is
 * kept next to the text.
 */
import { shownIdOf } from '@fantail/contracts'
import type { SigningKey } from '../signing/signing-key.ts'
import {
  carriesSignature,
  confirmationText,
  type Envelope,
  type EnvelopeText,
  publishedIso,
  subscribeUrl,
  textFor,
} from './envelope.ts'
import type { EndpointTarget } from './target.ts'

export class EnvelopeSigning {
  readonly #key: SigningKey
  /** Signatures that are being made. Everyone who needs the same one waits for the same promise. */
  readonly #pending = new WeakMap<EnvelopeText, Promise<void>>()

  constructor(key: SigningKey) {
    this.#key = key
  }

  /** Nothing can be signed now, because the key could not be loaded. */
  get down(): boolean {
    return this.#key.down
  }

  /** Number of signatures that wait for a thread. */
  get waiting(): number {
    return this.#key.signer?.waiting ?? 0
  }

  /**
   * Returns undefined if the target's body can be rendered at once. Otherwise resolves when it can, and rejects if the
   * key cannot be loaded.
   */
  prepare(envelope: Envelope, target: EndpointTarget): Promise<void> | undefined {
    if (!carriesSignature(envelope, target)) return undefined
    const text = textFor(envelope, target.protocol)
    if (text.signature) return undefined
    const pending = this.#pending.get(text) ?? this.#sign(envelope, target, text)
    this.#pending.set(text, pending)
    return pending
  }

  async #sign(envelope: Envelope, target: EndpointTarget, text: EnvelopeText): Promise<void> {
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

/**
 * The text that a signature covers (checklist 67 to 69): the signed members in byte order of their names, each as name,
 * LF, value, LF. An UnsubscribeConfirmation names its subscription. All other kinds have the same text for every
 * subscription of the protocol.
 */
function stringToSign(envelope: Envelope, target: EndpointTarget): string {
  const { message, kind } = envelope
  const { subject, topicArn, token = '' } = message
  const messageId = shownIdOf(message)
  const timestamp = publishedIso(message)
  if (kind === 'Notification') {
    const { text } = textFor(envelope, target.protocol)
    const subjectLines = subject === undefined ? '' : `Subject\n${subject}\n`
    return `Message\n${text}\nMessageId\n${messageId}\n${subjectLines}Timestamp\n${timestamp}\nTopicArn\n${topicArn}\nType\n${kind}\n`
  }
  const text = confirmationText(envelope, target.subscriptionArn)
  return `Message\n${text}\nMessageId\n${messageId}\nSubscribeURL\n${subscribeUrl(envelope)}\nTimestamp\n${timestamp}\nToken\n${token}\nTopicArn\n${topicArn}\nType\n${kind}\n`
}
