/** Decides which topics' messages are signed, and with which version (checklist 67, 73). */
import type { TopicRecord } from '@fantail/contracts'

/** `1` is SHA-1, `2` SHA-256. */
export type SignatureVersion = '1' | '2'

export interface Signature {
  version: SignatureVersion
  /** Base64. */
  value: string
  certificateUrl: string
}

/** undefined: the topic's messages are not signed. Messages of FIFO topics never are. */
export function signatureVersionOf({
  signing,
  fifo,
  attributes,
}: Pick<TopicRecord, 'signing' | 'fifo' | 'attributes'>): SignatureVersion | undefined {
  if (signing !== 'sns' || fifo) return undefined
  return attributes.SignatureVersion === '2' ? '2' : '1'
}
