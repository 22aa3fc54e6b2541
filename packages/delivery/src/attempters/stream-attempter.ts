/** Attempts at streams: records of one stream that come at the same time share a request. */
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { ATTEMPT_DEADLINE_MS, type AttemptResult } from '@fantail/contracts'
import { LRUCache } from 'lru-cache'
import { awsHost } from '../aws/aws-hosts.ts'
import { type AwsCredentials, AwsSigner } from '../aws/aws-signer.ts'
import type { Target } from '../envelope/target.ts'
import type { HttpSender } from '../http/http-sender.ts'
import { bucketOf, bucketSigner } from '../streams/bucket-place.ts'
import { BucketSink } from '../streams/bucket-sink.ts'
import { FirehoseSink } from '../streams/firehose-sink.ts'
import { FolderSink } from '../streams/folder-sink.ts'
import { RecordBatches } from '../streams/record-batches.ts'
import { placeOfStream, type StreamPlace, type StreamSettings } from '../streams/stream-places.ts'
import { renderStreamRecord } from '../streams/stream-record.ts'
import type { StreamSink } from '../streams/stream-sink.ts'
import type { Attempt, AttemptDone, Attempter } from './attempter.ts'

export interface StreamKindSettings {
  /** FANTAIL_STREAMS */
  streams?: Readonly<Record<string, string>> | undefined
  /** FANTAIL_AWS_CREDENTIALS */
  awsClientCredentials?: AwsCredentials | undefined
  /** FANTAIL_AWS_TARGETS */
  awsTargets?: readonly string[] | undefined
  /** FANTAIL_ATTEMPT_TIMEOUT_MS */
  attemptTimeoutMs?: number
}

interface StreamTools {
  sender: Pick<HttpSender, 'send'>
  clock: () => number
  itemIdOf(subscriptionId: string, delivery: Buffer): string
}

/** @limit Streams whose batches a process remembers. Past it: the least recently used one is made anew. */
const STREAMS_MAX = 1_000

/** Undefined: the settings name no stream. */
export function createStreamAttempter(
  tools: StreamTools,
  settings: StreamKindSettings,
): StreamAttempter | undefined {
  const { streams, awsClientCredentials: credentials, awsTargets: targets = [] } = settings
  if (!streams && !credentials) return undefined
  const aws = credentials && new AwsSigner({ credentials, targets })
  const { attemptTimeoutMs: timeoutMs = ATTEMPT_DEADLINE_MS } = settings
  return new StreamAttempter(tools, { streams, aws, credentials, timeoutMs })
}

interface AttempterSettings extends StreamSettings {
  credentials: AwsCredentials | undefined
  timeoutMs: number
}

class StreamAttempter implements Attempter {
  readonly #tools: StreamTools
  readonly #settings: AttempterSettings
  /** By the stream's ARN. */
  readonly #batches = new LRUCache<string, RecordBatches>({ max: STREAMS_MAX })

  constructor(tools: StreamTools, settings: AttempterSettings) {
    this.#tools = tools
    this.#settings = settings
  }

  refusalOf(endpoint: string): string | undefined {
    if (placeOfStream(endpoint, this.#settings)) return undefined
    return 'must be a stream that FANTAIL_STREAMS or FANTAIL_AWS_TARGETS names'
  }

  credentialOf({ url }: Target): string {
    return this.#batchesOf(url)?.credential ?? credentialOfUnknown(url)
  }

  /** Records wait for each other anyway. */
  openAhead(): void {}

  attempt({ envelope, target, delivery, textBytesMax, onRequest }: Attempt, done: AttemptDone): void {
    const batches = this.#batchesOf(target.url)
    if (!batches) {
      const detail = `neither FANTAIL_STREAMS nor FANTAIL_AWS_TARGETS names ${target.url}`
      const credential = credentialOfUnknown(target.url)
      setImmediate(done, { kind: 'misconfigured', credential, detail, durationMs: 0 })
      return
    }
    const id = delivery ? this.#tools.itemIdOf(target.subscriptionId, delivery) : randomUUID()
    const { publishedAt } = envelope.message
    const record = { data: renderStreamRecord(envelope, target), id, publishedAt }
    const ended = (result: AttemptResult) => done(textBytesMax === undefined ? withoutText(result) : result)
    batches.add(record, { done: ended, onPut: () => onRequest?.(undefined) })
  }

  /** Sinks hold nothing open, and the sender's creator closes it. */
  async close(): Promise<void> {}

  #batchesOf(arn: string): RecordBatches | undefined {
    const known = this.#batches.get(arn)
    if (known) return known
    const place = placeOfStream(arn, this.#settings)
    if (!place) return undefined
    const batches = new RecordBatches({ sink: this.#sinkOf(place), timeoutMs: this.#settings.timeoutMs })
    this.#batches.set(arn, batches)
    return batches
  }

  #sinkOf(place: StreamPlace): StreamSink {
    const { sender, clock } = this.#tools
    const streamName = place.arn.name
    if (place.kind === 'aws') return this.#awsSink(place)
    const { url } = place
    if (url.protocol === 'file:') return new FolderSink({ folder: fileURLToPath(url), streamName })
    const bucket = bucketOf(url)
    const aws = bucketSigner(url, this.#settings.credentials)
    if (bucket) return new BucketSink({ ...bucket, aws, sender, clock, streamName })
    const credential = `streams:${url.host}${url.pathname}`
    return new FirehoseSink({ sender, clock, url: url.href, streamName, credential, signing: undefined })
  }

  #awsSink({ arn }: StreamPlace): StreamSink {
    const { sender, clock } = this.#tools
    const { aws } = this.#settings
    if (!aws) throw new Error('there are no credentials')
    const url = `https://${awsHost('firehose', arn)}/`
    const signing = { aws, region: arn.region }
    const credential = aws.nameIn(arn.region)
    return new FirehoseSink({ sender, clock, url, streamName: arn.name, credential, signing })
  }
}

function credentialOfUnknown(arn: string): string {
  return `stream:${arn}`
}

function withoutText(result: AttemptResult): AttemptResult {
  if (result.kind !== 'response') return result
  const { text: _, ...plain } = result
  return plain
}
