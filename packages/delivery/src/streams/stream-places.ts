/**
 * Where the records of a stream go: to the place that the operator maps (FANTAIL_STREAMS), else to Firehose at AWS, if
 * the operator's patterns allow the stream. Callers of the API name streams, and never a place.
 */
import { parseStreamArn, type StreamArn } from '@fantail/policy'
import type { AwsSigner } from '../aws/aws-signer.ts'

/** The key of the map that stands for every stream without one of its own. */
const ANY = '*'

export interface StreamSettings {
  /** Place by name or ARN. */
  streams?: Readonly<Record<string, string>> | undefined
  aws?: Pick<AwsSigner, 'allows' | 'sign' | 'nameIn'> | undefined
}

/** `aws`: Firehose at AWS. Otherwise a URL of the operator. */
export type StreamPlace = { arn: StreamArn } & ({ kind: 'aws' } | { kind: 'mapped'; url: URL })

/** Undefined if nothing is known of such a stream, or it may not be written to. */
export function placeOfStream(text: string, { streams = {}, aws }: StreamSettings): StreamPlace | undefined {
  const arn = parseStreamArn(text)
  if (!arn) return undefined
  const mapped = [text, arn.name, ANY].find((key) => Object.hasOwn(streams, key))
  if (mapped !== undefined) return { kind: 'mapped', url: new URL(streams[mapped] ?? ''), arn }
  return aws?.allows(text) ? { kind: 'aws', arn } : undefined
}
