/**
 * The format of the data in Redis: a number, and the capabilities that are in effect. Both only grow:
 *
 *   unknown ─ a process reports that it knows it ─▶ pending ─ every report of a minute has known it ─▶ in effect
 *                                                     └── a report does not know it ──▶ unknown
 *
 * The first process that uses an empty Redis stores all that it knows. Later only reports change the format
 * (report-process-1.lua), so that nothing takes effect beside a process that does not know it. Afterwards such a
 * process is refused. The format lies in the data, so that backups and moves have it.
 */
import { isObject } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { dataFormatKey } from '../keys/keys.ts'
import { parseStored, UnreadableRecordError } from '../records/stored-json.ts'
import { ifReadable, whenReadable } from '../redis/unreadable.ts'
import { UnusableDataError } from '../redis/unusable-data.ts'
import { OWN_FORMAT, type OwnFormat } from './own-format.ts'

export interface DataFormat {
  format: number
  /** Names of the capabilities that are in effect, sorted. */
  capabilities: string[]
}

/** This release does not know the format of the data, or a capability that is in effect. It must not use the data. */
export class UnknownDataError extends UnusableDataError {
  constructor(data: DataFormat, own: OwnFormat) {
    super(unknownText(data, own))
    this.name = 'UnknownDataError'
  }
}

/**
 * For commands that may make the first data. They are no processes of the list. Data without a format get the one of
 * this release. Throws an UnknownDataError.
 */
export async function useData(redis: Redis, own: OwnFormat = OWN_FORMAT): Promise<void> {
  if (await refuseUnknownData(redis, own)) return
  await redis.set(dataFormatKey(), firstData(own), 'NX')
  await refuseUnknownData(redis, own)
}

/** Throws an UnknownDataError. Writes nothing. undefined: the data have no format. */
export async function refuseUnknownData(
  redis: Redis,
  own: OwnFormat = OWN_FORMAT,
): Promise<DataFormat | undefined> {
  const data = await readDataFormat(redis)
  if (data && !isKnown(data, own)) throw new UnknownDataError(data, own)
  return data
}

/** undefined: there is none, or it cannot be read. The next report then stores it again. */
export async function readDataFormat(redis: Redis): Promise<DataFormat | undefined> {
  const key = dataFormatKey()
  const text = await whenReadable(
    key,
    () => undefined,
    () => redis.get(key),
  )
  return text ? ifReadable(() => parseDataFormat(text))[0] : undefined
}

export function parseDataFormat(text: string): DataFormat {
  const { format, capabilities } = parseStored(text, dataFormatKey())
  if (!Number.isInteger(format) || !isObject(capabilities) || !Object.values(capabilities).every(isNumber))
    throw new UnreadableRecordError(dataFormatKey(), new TypeError('no format'), text)
  return { format: format as number, capabilities: Object.keys(capabilities).sort() }
}

const isNumber = (value: unknown) => typeof value === 'number'

/** The text that the script, too, stores for data that this release makes (include/data-format.lua). */
function firstData({ newest, capabilities }: OwnFormat): string {
  const inEffect = Object.fromEntries(capabilities.map((name) => [name, 0]))
  return JSON.stringify({ format: newest, capabilities: inEffect, pending: {} })
}

function isKnown({ format, capabilities }: DataFormat, own: OwnFormat): boolean {
  const { oldest, newest } = own
  return format >= oldest && format <= newest && unknownOf(capabilities, own).length === 0
}

function unknownOf(capabilities: string[], own: OwnFormat): string[] {
  return capabilities.filter((name) => !own.capabilities.includes(name))
}

function unknownText({ format, capabilities }: DataFormat, own: OwnFormat): string {
  const { oldest, newest } = own
  const reads = oldest === newest ? `format ${newest}` : `formats ${oldest} to ${newest}`
  const known = `the data in this Redis have format ${format}, and this release reads ${reads}`
  if (format < oldest) return `${known}: upgrade by way of a release that reads format ${format} too`
  const unknown = unknownOf(capabilities, own)
  const names = unknown.length > 0 ? `; it does not know ${unknown.join(', ')}, which the data use` : ''
  return `${known}${names}: start the newer release that has used this Redis, or restore a backup from before it`
}
