/**
 * One message with the data that all its deliveries share. The envelope, its signatures and the stored body are made
 * once, when they are first needed. A sealed message is opened here, and its stored body stays sealed.
 */
import { type Message, type Protocol, parseMessageId } from '@fantail/contracts'
import {
  compileEnvelope,
  type Envelope,
  type Links,
  type SignatureVersion,
  textForProtocol,
} from '@fantail/delivery'
import { type FilterSubject, filterSubject } from '@fantail/policy'
import { type BodySeals, isSealed, messageBody, readContent } from '@fantail/store'

interface BodySubject {
  text: string
  subject: FilterSubject
}

/** Throws an UnreadableRecordError if the body was changed, and a SealKeyError if it cannot be opened. */
export function contextOf(
  body: string,
  { seals, links, lasting }: { seals: BodySeals; links?: Links | undefined; lasting?: boolean },
): MessageContext {
  return new MessageContext(readContent(body, seals), links, body, lasting)
}

export class MessageContext {
  readonly message: Message
  /** The message id, 16 bytes. */
  readonly id: Buffer
  #envelope: Envelope | undefined
  #signed: Partial<Record<SignatureVersion, Envelope>> | undefined
  readonly #links: Links | undefined
  readonly #lasting: boolean
  #body: string | undefined
  #attributesSubject: FilterSubject | undefined
  #bodySubjects: Map<Protocol | undefined, BodySubject> | undefined

  /**
   * Throws if the message has no valid id. `body`: its stored text, if it was read from it. `lasting`: it is cached for
   * a while (lane-bodies.ts), so it must not keep shared buffers in memory.
   */
  constructor(message: Message, links?: Links, body?: string, lasting = false) {
    const id = parseMessageId(message.messageId)
    if (!id) throw new TypeError(`not a message id: ${message.messageId}`)
    this.message = message
    this.id = lasting ? unshared(id) : id
    this.#lasting = lasting
    this.#links = links
    this.#body = body
  }

  /** The message is sealed and could not be opened. Nothing can be matched or sent. */
  get isLocked(): boolean {
    return this.message.sealed !== undefined
  }

  /** Bytes of the message's text and attributes, as the publisher's limit counts them. */
  get sizeBytes(): number {
    let bytes = Buffer.byteLength(this.message.message)
    if (this.message.attributes === undefined) return bytes
    for (const [name, { type, value }] of Object.entries(this.message.attributes)) {
      bytes += Buffer.byteLength(name) + Buffer.byteLength(type) + Buffer.byteLength(value)
    }
    return bytes
  }

  /** The envelope for this kind of signature. Two slices may know different versions of the topic's settings. */
  envelopeFor(signature: SignatureVersion | undefined): Envelope {
    if (signature === undefined) {
      this.#envelope ??= this.#compile()
      return this.#envelope
    }
    this.#signed ??= {}
    this.#signed[signature] ??= this.#compile(signature)
    return this.#signed[signature]
  }

  #compile(signature?: SignatureVersion): Envelope {
    this.#assertOpen()
    const envelope = compileEnvelope(this.message, this.#links, signature)
    envelope.lasting = this.#lasting
    envelope.sealed = isSealed(this.message)
    return envelope
  }

  /** The message in the form for filters: its text for one protocol, or its attributes. */
  subject(protocol: Protocol | undefined): FilterSubject {
    this.#assertOpen()
    return protocol === undefined ? this.#attributes : this.#bodyFor(protocol)
  }

  /**
   * Drops the parsed text. Called when the message is matched or has to wait, because the parsed text of a body of 256
   * KB may take 20 MB.
   */
  forgetSubjects(): void {
    this.#attributesSubject = undefined
    this.#bodySubjects = undefined
  }

  get #attributes(): FilterSubject {
    this.#attributesSubject ??= filterSubject(this.message, 'MessageAttributes')
    return this.#attributesSubject
  }

  /** Only `structure: 'json'` has a text for each protocol. */
  #bodyFor(protocol: Protocol): FilterSubject {
    const key = this.message.structure === 'json' ? protocol : undefined
    this.#bodySubjects ??= new Map()
    const known = this.#bodySubjects.get(key)
    if (known) return known.subject
    const text = textForProtocol(this.message, protocol)
    const { attributes } = this.message
    // Protocols without a text of their own share the default text, and its parsed form.
    const same = [...this.#bodySubjects.values()].find((other) => other.text === text)
    const made = same ?? { text, subject: filterSubject({ message: text, attributes }, 'MessageBody') }
    this.#bodySubjects.set(key, made)
    return made.subject
  }

  /** Its empty text must never be matched or sent. */
  #assertOpen(): void {
    if (this.isLocked) throw new Error('the message is sealed')
  }

  /** The text that lanes store once per shard. */
  get body(): string {
    this.#body ??= messageBody(this.message)
    return this.#body
  }
}

/** Node cuts small buffers from shared ones of 8 KB. A shared buffer lives as long as any piece of it. */
function unshared(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(own)
  return own
}
