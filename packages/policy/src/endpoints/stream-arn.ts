/** ARNs of Firehose delivery streams. */
import type { ArnDefaults } from '@fantail/contracts'

export interface StreamArn extends ArnDefaults {
  name: string
}

const NAME = '[A-Za-z0-9_.-]{1,64}'
const ARN = new RegExp(`^arn:([a-z-]{1,32}):firehose:([a-z0-9-]{1,32}):(\\d{12}):deliverystream/(${NAME})$`)
const SHORT = new RegExp(`^${NAME}$`)

/** Undefined if the text is not the ARN of a delivery stream. */
export function parseStreamArn(text: string): StreamArn | undefined {
  const [, partition, region, account, name] = ARN.exec(text) ?? []
  return partition && region && account && name ? { partition, region, account, name } : undefined
}

export function isStreamName(text: string): boolean {
  return SHORT.test(text)
}

export function streamArn(name: string, { partition, region, account }: ArnDefaults): string {
  return `arn:${partition}:firehose:${region}:${account}:deliverystream/${name}`
}
