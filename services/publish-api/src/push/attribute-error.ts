/** A refused attribute of mobile push. Each API words it in its own way. */

type AttributeErrorKind = 'name' | 'value' | 'credential'

export class AttributeError extends Error {
  readonly kind: AttributeErrorKind
  /** The name of SNS, such as `PlatformCredential`. */
  readonly attribute: string

  /** `message` follows the name of the attribute. */
  constructor(kind: AttributeErrorKind, attribute: string, message: string) {
    super(message)
    this.name = 'AttributeError'
    this.kind = kind
    this.attribute = attribute
  }
}
