/**
 * Decides whether a queue is outside of this Fantail. It is outside if the operator has set a URL for it
 * (FANTAIL_AWS_QUEUES), or if the operator's patterns allow to call it at AWS (FANTAIL_AWS_TARGETS).
 */
import { type ArnDefaults, parseArn } from '@fantail/contracts'
import { matchesArn } from '@fantail/policy'
import type { AwsPlace } from '../aws/aws-call.ts'
import { awsHost } from '../aws/aws-credentials.ts'
import { AwsSigner } from '../aws/aws-signer.ts'

export interface QueueSettings {
  /** URL by pattern of ARNs. The first pattern that matches decides. */
  queues?: Readonly<Record<string, string>> | undefined
  aws?: Pick<AwsSigner, 'allows' | 'sign' | 'nameIn'> | undefined
}

export interface QueuePlace extends AwsPlace {
  queueUrl: string
  /** Queues with the same host belong to one service. If the service hangs, all of them hang. */
  host: string
}

/** Undefined: the queue is one of this Fantail. */
export function placeOfQueue(arn: string, { queues = {}, aws }: QueueSettings): QueuePlace | undefined {
  const parsed = parseArn(arn)
  if (parsed?.service !== 'sqs') return undefined
  const mapped = Object.entries(queues).find(([pattern]) => matchesArn(arn, [pattern]))
  if (mapped) return mappedPlace(new URL(mapped[1]), parsed)
  if (!aws?.allows(arn)) return undefined
  const at = apiOf(new URL(`https://${awsHost('sqs', parsed)}`), parsed)
  return { ...at, isMapped: false, signer: aws, credential: aws.nameIn(parsed.region) }
}

type Named = ArnDefaults & { name: string }

function mappedPlace(url: URL, named: Named): QueuePlace {
  const { username, password, host, pathname } = url
  const accessKeyId = decodeURIComponent(username)
  const credentials = { accessKeyId, secretAccessKey: decodeURIComponent(password) }
  const signer = username === '' ? undefined : new AwsSigner({ credentials, targets: [] })
  const credential = `queues:${accessKeyId && `${accessKeyId}@`}${host}${pathname}`
  return { ...apiOf(url, named), isMapped: true, signer, credential }
}

function apiOf({ origin, host, pathname }: URL, { region, account, name }: Named) {
  const base = `${origin}${pathname.replace(/\/+$/, '')}`
  return { url: `${base}/`, queueUrl: `${base}/${account}/${name}`, host, region }
}
