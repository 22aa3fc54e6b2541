/**
 * Decides where the records of a stream are written. That is the place that the operator has set for the stream
 * (FANTAIL_STREAMS). Without such a place it is Firehose at AWS, if the operator's patterns allow the stream. Callers
 * of the API can name streams, but never a place.
 */
import { parseStreamArn, type StreamArn } from '@fantail/policy'
import type { AwsSigner } from '../aws/aws-signer.ts'

/** Key of the map's entry for every stream without its own entry. */
const ANY = '*'

export interface StreamSettings {
  /** Place by name or ARN. */
  streams?: Readonly<Record<string, string>> | undefined
  aws?: Pick<AwsSigner, 'allows' | 'sign' | 'nameIn'> | undefined
}

/** `aws`: Firehose at AWS. Otherwise a URL that the operator has set. */
export type StreamPlace = { arn: StreamArn } & ({ kind: 'aws' } | { kind: 'mapped'; url: URL })

/** Undefined if no setting names such a stream, or if it may not be written to. */
export function placeOfStream(text: string, { streams = {}, aws }: StreamSettings): StreamPlace | undefined {
  const arn = parseStreamArn(text)
  if (!arn) return undefined
  const mapped = [text, arn.name, ANY].find((key) => Object.hasOwn(streams, key))
  if (mapped !== undefined) return { kind: 'mapped', url: new URL(streams[mapped] ?? ''), arn }
  return aws?.allows(text) ? { kind: 'aws', arn } : undefined
}
