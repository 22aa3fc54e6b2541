/**
 * The error for a refused attribute of a platform application or platform endpoint (mobile push). The native API and
 * the AWS API each make their own message from it.
 */

type AttributeErrorKind = 'name' | 'value' | 'credential'

export class AttributeError extends Error {
  readonly kind: AttributeErrorKind
  /** The name of the attribute in SNS, such as `PlatformCredential`. */
  readonly attribute: string

  /** `message` is the rest of a sentence that begins with the attribute's name, such as `must be true or false`. */
  constructor(kind: AttributeErrorKind, attribute: string, message: string) {
    super(message)
    this.name = 'AttributeError'
    this.kind = kind
    this.attribute = attribute
  }
}
