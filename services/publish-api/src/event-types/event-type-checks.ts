/**
 * Checks messages against the catalogue of their topic before they are stored. Types and the checks of their schemas
 * are cached, so nearly every message costs a look-up and its check. A topic that checks nothing costs nothing.
 */
import { hash } from 'node:crypto'
import {
  type EventTypeRecord,
  eventTypeOf,
  eventTypeVersionOf,
  FantailError,
  type Message,
} from '@fantail/contracts'
import type { EventTypes } from '@fantail/store'
import { LRUCache } from 'lru-cache'
import type { KnownTopic } from '../caches/topic-cache.ts'
import type { Log } from '../http/log.ts'
import { type SchemaCheck, schemaCheck } from './check-schema.ts'
import type { SchemaCompiler } from './schema-compiler.ts'

/** A problem of a message. `isNotice`: only that its type is deprecated. */
export interface Finding {
  /** Number of the message in its batch. */
  index: number
  path: 'message' | 'eventType' | 'eventTypeVersion'
  message: string
  isNotice?: true
}

type CheckedMessage = Pick<Message, 'message' | 'attributes' | 'structure'>

interface KnownType {
  /** Revision of the catalogue when the type was read. */
  revision: string
  /** null: the catalogue has no such type. */
  type: EventTypeRecord | null
}

/**
 * @limit memory (API) Event types that the API caches, by their texts. Past it: the least recently used one is dropped.
 */
const TYPES_BYTES_MAX = 16_777_216
const TYPE_BYTES = 500
/**
 * @limit memory (API) Code of schemas' checks that the API caches. Past it: the least recently used one is dropped.
 */
const CHECKS_BYTES_MAX = 67_108_864
const CHECK_BYTES = 2_000
/** The code as text, and what V8 makes of it. */
const BYTES_PER_CODE_CHAR = 8

/** After a failure, a schema is not compiled again for this time, so that others get the thread. */
const FAILED_SECONDS = 10

const NOTHING: Finding[] = []

interface ChecksOptions {
  eventTypes: Pick<EventTypes, 'of'>
  compiler: Pick<SchemaCompiler, 'compile'>
  log: Pick<Log, 'warn'>
}

export class EventTypeChecks {
  readonly #options: ChecksOptions
  /** By uid of the topic and name. */
  readonly #types = new LRUCache<string, KnownType>({
    maxSize: TYPES_BYTES_MAX,
    sizeCalculation: ({ type }) => TYPE_BYTES + (type ? JSON.stringify(type).length : 0),
  })
  /** Digests of the schemas of the cached types. */
  readonly #digests = new WeakMap<Version, string>()
  /** By the digest of the schema. */
  readonly #checks = new LRUCache<string, { check: SchemaCheck; bytes: number }>({
    maxSize: CHECKS_BYTES_MAX,
    sizeCalculation: ({ bytes }) => bytes,
  })
  /** By the digest of the schema. A failure stays for a while. */
  readonly #compiling = new Map<string, Promise<SchemaCheck>>()

  constructor(options: ChecksOptions) {
    this.#options = options
  }

  /**
   * Returns a promise only if a type or its check is not cached. The promise rejects if a message cannot be checked at
   * present, unless the topic only warns.
   */
  findings(topic: KnownTopic, messages: readonly CheckedMessage[]): Finding[] | Promise<Finding[]> {
    let found: Finding[] = NOTHING
    for (let index = 0; index < messages.length; index++) {
      const findings = this.#ofMessage(topic, messages[index] as CheckedMessage, index)
      if (findings instanceof Promise) return this.#later(topic, messages, { index, findings, found })
      if (findings !== NOTHING) found = [...found, ...findings]
    }
    return found
  }

  /** The rest of the messages, from `index`, whose findings are awaited. */
  async #later(
    topic: KnownTopic,
    messages: readonly CheckedMessage[],
    { index, findings, found }: { index: number; findings: Promise<Finding[]>; found: Finding[] },
  ): Promise<Finding[]> {
    const all = [...found, ...(await this.#settled(topic, index, findings))]
    for (const [i, message] of messages.entries())
      if (i > index) all.push(...(await this.#settled(topic, i, this.#ofMessage(topic, message, i))))
    return all
  }

  /** A topic that only warns never refuses, also if a message cannot be checked. */
  async #settled(
    { record }: KnownTopic,
    index: number,
    findings: Finding[] | Promise<Finding[]>,
  ): Promise<Finding[]> {
    try {
      return await findings
    } catch (error) {
      if (record.eventTypeCheck === 'refuse') throw error
      if (!(error instanceof FantailError))
        this.#options.log.warn({ topicArn: record.arn, err: error }, 'event_type.read_failed')
      return [{ index, path: 'message', message: 'was not checked, because the server could not do it' }]
    }
  }

  #ofMessage(topic: KnownTopic, message: CheckedMessage, index: number): Finding[] | Promise<Finding[]> {
    const name = eventTypeOf(message.attributes)
    if (name === undefined)
      return [{ index, path: 'eventType', message: 'is missing, and the topic checks event types' }]
    const known = this.#types.get(`${topic.uid} ${name}`)
    if (known?.revision === topic.eventTypes) return this.#ofType(known.type, { name, message, index })
    return this.#read(topic, name).then((type) => this.#ofType(type, { name, message, index }))
  }

  /** Callers at the same time may read it more than once, which is rare. */
  async #read(
    { uid, eventTypes: revision, record }: KnownTopic,
    name: string,
  ): Promise<EventTypeRecord | null> {
    const type = revision === '' ? null : await this.#options.eventTypes.of(record.arn, uid, name)
    this.#types.set(`${uid} ${name}`, { revision, type })
    return type
  }

  #ofType(type: EventTypeRecord | null, given: Given): Finding[] | Promise<Finding[]> {
    const { name, message, index } = given
    if (!type) return [{ index, path: 'eventType', message: `names ${name}, which the topic does not have` }]
    const wanted = eventTypeVersionOf(message.attributes)
    const chosen = wanted === undefined ? type.versions.at(-1) : versionOf(type, wanted)
    if (!chosen && wanted !== undefined)
      return [{ index, path: 'eventTypeVersion', message: `names no version of ${name}` }]
    const notices = type.deprecated ? [deprecation(name, index)] : NOTHING
    if (!chosen) return notices
    const digest = this.#digestOf(chosen)
    const check = this.#checks.get(digest)?.check
    const ofContent = (checked: SchemaCheck) => {
      const problem = checked(contentOf(message))
      if (problem === undefined) return notices
      const text = `does not fit version ${chosen.version} of ${name}: ${problem}`
      return [...notices, { index, path: 'message' as const, message: text }]
    }
    return check ? ofContent(check) : this.#compiled(digest, chosen.schema).then(ofContent)
  }

  #digestOf(version: Version): string {
    const known = this.#digests.get(version)
    if (known !== undefined) return known
    const digest = hash('sha256', version.schema)
    this.#digests.set(version, digest)
    return digest
  }

  #compiled(digest: string, schema: string): Promise<SchemaCheck> {
    const running = this.#compiling.get(digest)
    if (running) return running
    const forget = () => this.#compiling.delete(digest)
    const compiled = this.#compile(digest, schema)
    this.#compiling.set(digest, compiled)
    compiled.then(forget, () => void setTimeout(forget, FAILED_SECONDS * 1_000).unref())
    return compiled
  }

  /**
   * A schema that is stored was compiled before. So if it fails, the process lacks time or memory at present, and the
   * message may be fine.
   */
  async #compile(digest: string, schema: string): Promise<SchemaCheck> {
    try {
      const reply = await this.#options.compiler.compile(schema)
      if ('problem' in reply) throw new Error(`the schema ${reply.problem.message}`)
      const check = schemaCheck(reply.code)
      this.#checks.set(digest, { check, bytes: CHECK_BYTES + BYTES_PER_CODE_CHAR * reply.code.length })
      return check
    } catch (cause) {
      if (cause instanceof FantailError) throw cause
      this.#options.log.warn({ err: cause }, 'event_type.compile_failed')
      const message = 'the schema of the event type cannot be compiled at present; nothing was stored'
      throw new FantailError('storage_unavailable', message, { retryAfterSeconds: FAILED_SECONDS, cause })
    }
  }
}

type Version = EventTypeRecord['versions'][number]

interface Given {
  name: string
  message: CheckedMessage
  index: number
}

function versionOf({ versions }: EventTypeRecord, wanted: number | null) {
  return versions.find(({ version }) => version === wanted)
}

function deprecation(name: string, index: number): Finding {
  return { index, path: 'eventType', message: `is deprecated: ${name}`, isNotice: true }
}

/** The message, or the default one of texts for protocols. Its presence was checked before. */
function contentOf({ message, structure }: CheckedMessage): string {
  return structure === 'json' ? (JSON.parse(message) as { default: string }).default : message
}
