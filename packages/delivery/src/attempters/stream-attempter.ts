/** Makes attempts at streams. An attempt sends several deliveries of one subscription in one batch. */
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { ATTEMPT_DEADLINE_MS, type AttemptResult } from '@fantail/contracts'
import { LRUCache } from 'lru-cache'
import { type AwsCredentials, awsHost } from '../aws/aws-credentials.ts'
import { AwsSigner } from '../aws/aws-signer.ts'
import { ProvidersUnderWay, refusedBy } from '../bounds/under-way.ts'
import type { EndpointTarget } from '../envelope/target.ts'
import { failure } from '../http/attempt-failure.ts'
import type { HttpSender } from '../http/http-sender.ts'
import { BucketSink } from '../streams/bucket-sink.ts'
import { FirehoseSink } from '../streams/firehose-sink.ts'
import { FolderSink } from '../streams/folder-sink.ts'
import { type OpenStreamWriter, RedisSink } from '../streams/redis-sink.ts'
import { objectLingerMs } from '../streams/sink-objects.ts'
import {
  bucketOf,
  bucketSigner,
  placeOfStream,
  type RedisStreamPlace,
  redisStreamOf,
  type StreamPlace,
  type StreamSettings,
} from '../streams/stream-places.ts'
import { putRecords, renderStreamRecord } from '../streams/stream-record.ts'
import type { StreamRecord, StreamSink } from '../streams/stream-sink.ts'
import type { Attempt, AttemptDone, Attempter, Batching, BatchLimits, Outgoing } from './attempter.ts'

export interface StreamEndpointSettings {
  /** FANTAIL_STREAMS */
  streams?: Readonly<Record<string, string>> | undefined
  /** FANTAIL_AWS_CREDENTIALS */
  awsClientCredentials?: AwsCredentials | undefined
  /** FANTAIL_AWS_TARGETS */
  awsTargets?: readonly string[] | undefined
  /** FANTAIL_ATTEMPT_TIMEOUT_MS */
  attemptTimeoutMs?: number
}

export interface StreamTools {
  /** Absent: no stream may be a Redis Stream. */
  openStreamWriter?: OpenStreamWriter
  sender: Pick<HttpSender, 'send'>
  clock: () => number
  itemIdOf(subscriptionId: string, delivery: Buffer): string
}

/**
 * Streams whose sinks a process keeps. Past it: the least recently used sink is dropped, and made again when it is
 * needed.
 */
const STREAMS_MAX = 1_000

/** The first bytes of a delivery are the time of its message, as in UUIDs. */
const TIME_BYTES = 6
const UNKNOWN_BOUNDS = { recordsMax: 1, bytesMax: 1, lingerMs: 0 }
const NO_RESULT = failure('invalid_response', 'the stream has no result for the record', 0)

/** Undefined if the settings name no stream. */
export function createStreamAttempter(
  tools: StreamTools,
  settings: StreamEndpointSettings,
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
  readonly #underWay = new ProvidersUnderWay()
  readonly #sinks = new LRUCache<string, StreamSink>({
    max: STREAMS_MAX,
    dispose: (sink) => sink.close?.(),
  })
  readonly batching: Batching = {
    limitsOf: ({ url }) => this.#limitsOf(url),
    render: ({ envelope, delivery }, target) => renderStreamRecord(envelope, target, delivery),
    attempt: ({ target, records, textBytesMax }, done) => {
      const named = records.map(({ bytes, delivery }) => ({
        data: bytes,
        id: this.#tools.itemIdOf(target.subscriptionId, delivery),
        publishedAt: delivery.readUIntBE(0, TIME_BYTES),
      }))
      void this.#put(target.url, named, textBytesMax !== undefined).then(done)
    },
  }

  constructor(tools: StreamTools, settings: AttempterSettings) {
    this.#tools = tools
    this.#settings = settings
  }

  contentOf({ envelope }: Outgoing, target: EndpointTarget): string {
    return renderStreamRecord(envelope, target).toString()
  }

  refusalOf(endpoint: string): string | undefined {
    if (placeOfStream(endpoint, this.#settings)) return undefined
    return 'must be a stream that FANTAIL_STREAMS or FANTAIL_AWS_TARGETS names'
  }

  credentialOf({ url }: EndpointTarget): string {
    return this.#sinkAt(url)?.credential ?? credentialOfUnknown(url)
  }

  /** Does nothing. Records wait for a batch, so there is time to connect then. */
  openAhead(): void {}

  attempt({ envelope, target, textBytesMax }: Attempt, done: AttemptDone): void {
    const { publishedAt } = envelope.message
    const record = { data: renderStreamRecord(envelope, target), id: randomUUID(), publishedAt }
    void this.#put(target.url, [record], textBytesMax !== undefined).then(([result = NO_RESULT]) =>
      done(result),
    )
  }

  /** The creator of the sender closes the sender. */
  async close(): Promise<void> {
    this.#sinks.clear()
  }

  async #put(arn: string, records: StreamRecord[], withText: boolean): Promise<AttemptResult[]> {
    const sink = this.#sinkAt(arn)
    if (!sink) return records.map(() => unknownStream(arn))
    const underWay = this.#underWay.of(sink.provider)
    if (!underWay.begin()) return records.map(() => refusedBy(underWay))
    const results = await putRecords(sink, records, this.#settings.timeoutMs)
    if (results.some(isAnswer)) underWay.answered()
    underWay.end()
    return withText ? results : results.map(withoutText)
  }

  /** A stream that no setting names gets default bounds. Its attempts then fail with the reason. */
  #limitsOf(arn: string): BatchLimits {
    const { recordsMax: records, bytesMax: bytes, lingerMs } = this.#sinkAt(arn) ?? UNKNOWN_BOUNDS
    return { records, bytes, lingerMs }
  }

  #sinkAt(arn: string): StreamSink | undefined {
    const known = this.#sinks.get(arn)
    if (known) return known
    const place = placeOfStream(arn, this.#settings)
    if (!place) return undefined
    const sink = this.#sinkOf(place)
    this.#sinks.set(arn, sink)
    return sink
  }

  #sinkOf(place: StreamPlace): StreamSink {
    const { sender, clock } = this.#tools
    const streamName = place.arn.name
    if (place.kind === 'aws') return this.#awsSink(place)
    const { url } = place
    const lingerMs = objectLingerMs(url)
    if (url.protocol === 'file:') return new FolderSink({ folder: fileURLToPath(url), streamName, lingerMs })
    const redis = redisStreamOf(url)
    if (redis) return this.#redisSink(redis)
    const bucket = bucketOf(url)
    const aws = bucketSigner(url, this.#settings.credentials)
    if (bucket) return new BucketSink({ ...bucket, aws, sender, clock, streamName, lingerMs })
    const credential = `streams:${url.host}${url.pathname}`
    const { region } = place.arn
    const at = { url: url.href, region, isMapped: true, signer: undefined, credential }
    return new FirehoseSink({ sender, clock, ...at, streamName })
  }

  #redisSink(place: RedisStreamPlace): StreamSink {
    const { openStreamWriter } = this.#tools
    if (!openStreamWriter) throw new Error('the client for Redis Streams is missing')
    return new RedisSink(place, openStreamWriter({ ...place, timeoutMs: this.#settings.timeoutMs }))
  }

  #awsSink({ arn }: StreamPlace): StreamSink {
    const { sender, clock } = this.#tools
    const { aws } = this.#settings
    if (!aws) throw new Error('AWS credentials are not set')
    const url = `https://${awsHost('firehose', arn)}/`
    const { region, name: streamName } = arn
    const at = { url, region, isMapped: false, signer: aws, credential: aws.nameIn(region) }
    return new FirehoseSink({ sender, clock, ...at, streamName })
  }
}

function isAnswer(result: AttemptResult): boolean {
  return result.kind === 'response' || (result.kind === 'failure' && result.error === 'invalid_response')
}

function unknownStream(arn: string): AttemptResult {
  const detail = `neither FANTAIL_STREAMS nor FANTAIL_AWS_TARGETS names ${arn}`
  return { kind: 'misconfigured', credential: credentialOfUnknown(arn), detail, durationMs: 0 }
}

function credentialOfUnknown(arn: string): string {
  return `stream:${arn}`
}

function withoutText(result: AttemptResult): AttemptResult {
  if (result.kind !== 'response') return result
  const { text: _, ...plain } = result
  return plain
}
