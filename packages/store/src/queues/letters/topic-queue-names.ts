/**
 * Names of a topic's own dead-letter queue, in order of preference. A name is skipped if a queue that the topic did not
 * make has it.
 */
import { createHash } from 'node:crypto'
import { isFifoName, parseArn, queueArn } from '@fantail/contracts'

const SUFFIX = '-dead-letters'
const FIFO_SUFFIX = '.fifo'
/** @limit Name of a queue, as in SQS. Past it: a topic's own queue has a shorter name with a digest. */
const QUEUE_NAME_CHARS_MAX = 80
const DIGEST_CHARS = 8
/** Names that a topic's own queue may have. Past it: dead letters wait until one of them is free. */
const TOPIC_QUEUE_NAMES_MAX = 8

/** The ARNs of these names in the topic's account and region. */
export function topicQueueArns(topicArn: string): string[] {
  const place = parseArn(topicArn)
  if (!place) throw new TypeError(`not a topic's ARN: ${topicArn}`)
  return Array.from({ length: TOPIC_QUEUE_NAMES_MAX }, (_, n) =>
    queueArn(nameOf(topicArn, place.name, n), place),
  )
}

function nameOf(topicArn: string, topicName: string, n: number): string {
  const fifo = isFifoName(topicName) ? FIFO_SUFFIX : ''
  const stem = topicName.slice(0, topicName.length - fifo.length)
  const plain = `${stem}${SUFFIX}${fifo}`
  if (n === 0 && plain.length <= QUEUE_NAME_CHARS_MAX) return plain
  const digest = createHash('sha256').update(`${topicArn} ${n}`).digest('hex').slice(0, DIGEST_CHARS)
  const end = `${SUFFIX}-${digest}${fifo}`
  return `${stem.slice(0, QUEUE_NAME_CHARS_MAX - end.length)}${end}`
}
