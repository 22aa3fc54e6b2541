/** Event types in the form of the REST API, and their changes. */
import { isDeepStrictEqual } from 'node:util'
import {
  EVENT_SCHEMA_BYTES_MAX,
  EVENT_TYPE_VERSIONS_MAX,
  type EventTypeRecord,
  type EventTypeVersion,
  FantailError,
} from '@fantail/contracts'
import type {
  EventTypeInput,
  EventTypeList,
  EventTypeView,
} from '@fantail/contracts/schemas/event-type-schemas'
import type { z } from 'zod'

export type GivenType = z.output<typeof EventTypeInput>

export function eventTypeSummary({
  name,
  description,
  deprecated,
  versions,
  modifiedAt,
}: EventTypeRecord): z.input<typeof EventTypeList>['eventTypes'][number] {
  return {
    name,
    description,
    deprecated,
    version: versions.at(-1)?.version ?? null,
    modifiedAt: new Date(modifiedAt).toISOString(),
  }
}

/** `shown`: the version whose schema is shown. */
export function eventTypeView(
  record: EventTypeRecord,
  shown: EventTypeVersion | undefined = record.versions.at(-1),
): z.input<typeof EventTypeView> {
  return {
    ...eventTypeSummary(record),
    schema: shown ? JSON.parse(shown.schema) : null,
    schemaVersion: shown?.version ?? null,
    versions: record.versions.map(({ version, createdAt }) => ({
      version,
      createdAt: new Date(createdAt).toISOString(),
    })),
    examples: record.examples.map((text) => JSON.parse(text) as unknown),
    createdAt: new Date(record.createdAt).toISOString(),
  }
}

/** The type with the given members. `null` resets one. A schema that differs from the newest becomes a new version. */
export function changedType(
  before: EventTypeRecord | null,
  { name, given, now }: { name: string; given: GivenType; now: number },
): EventTypeRecord {
  const { description, deprecated, examples } = given
  const versions = changedVersions(before, given, now)
  const last = lastVersionOf(before)
  const record = {
    name,
    description: description === undefined ? (before?.description ?? null) : description,
    deprecated: deprecated === undefined ? (before?.deprecated ?? false) : (deprecated ?? false),
    versions,
    // Messages name versions, so a number is never used again.
    ...(versions.length === 0 && last > 0 && { lastVersion: last }),
    examples:
      examples === undefined
        ? (before?.examples ?? [])
        : (examples ?? []).map((value) => JSON.stringify(value)),
    createdAt: before?.createdAt ?? now,
    modifiedAt: before?.modifiedAt ?? now,
  }
  return before && isDeepStrictEqual(record, before) ? before : { ...record, modifiedAt: now }
}

function changedVersions(
  record: EventTypeRecord | null,
  { schema }: GivenType,
  now: number,
): EventTypeVersion[] {
  const before = record?.versions ?? []
  if (schema === undefined) return [...before]
  if (schema === null) return []
  const text = JSON.stringify(schema)
  if (before.at(-1)?.schema === text) return [...before]
  const added = { version: lastVersionOf(record) + 1, schema: text, createdAt: now }
  return [...before, added].slice(-EVENT_TYPE_VERSIONS_MAX)
}

function lastVersionOf(record: EventTypeRecord | null): number {
  return record?.versions.at(-1)?.version ?? record?.lastVersion ?? 0
}

/** Throws `validation_failed` if a text is too long. `path`: the place of the type in the request. */
export function checkTexts({ schema, examples }: GivenType, path = ''): void {
  const texts: [string, unknown][] = [
    ['schema', schema],
    ['examples', examples],
  ]
  for (const [member, value] of texts) {
    if (value === undefined || value === null) continue
    if (Buffer.byteLength(JSON.stringify(value)) > EVENT_SCHEMA_BYTES_MAX)
      throw FantailError.invalid(path + member, `must have at most ${EVENT_SCHEMA_BYTES_MAX} bytes`)
  }
}
