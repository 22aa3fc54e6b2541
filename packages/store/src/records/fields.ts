/**
 * Fields of stored records. Each kind of record has one table with a row per member: its name in Redis, how its value
 * is stored, what a record that lacks it means, and who sees it. Readers, writers, views and Lua scripts
 * (lua-names.ts) take all that from the table, so a new field is one row and its type in the contracts.
 */
import type { Codec } from './codecs.ts'
import { CorruptRecordError } from './stored-json.ts'

/**
 * Who sees a member. `asItIs`: the API shows callers the value, or the default. `inOtherForm`: the API shows callers
 * what the view makes of it, such as a time as text or a URL without its password. `never`: only Fantail reads it.
 */
type Shown = 'asItIs' | 'inOtherForm' | 'never'

interface Row<T> {
  /** Name in Redis. Absent: the member's own. */
  stored?: string
  codec?: Codec<T>
  shown: Shown
  /** Callers set it; `null` resets it to the default. */
  setting?: true
}

/** Without it a record is corrupt. */
interface RequiredRow<T> extends Row<T> {
  required: true
  /** What the stored value must be. */
  type: 'string' | 'number'
}

/** A record that lacks it, as one does that was written before the field existed, means the default. */
interface DefaultedRow<T> extends Row<T> {
  default: T
}

/** As above, and the member is absent in memory too. */
interface OptionalRow<T> extends Row<T> {
  optional: true
  default: T | null | false
}

/** The default follows from members that stand before it in the table. */
interface DerivedRow<T, R> extends Row<T> {
  defaultOf(record: Partial<R>): T
}

type FieldOf<R, K extends keyof R> = undefined extends R[K]
  ? OptionalRow<Exclude<R[K], undefined>>
  : RequiredRow<R[K]> | DefaultedRow<R[K]> | DerivedRow<R[K], R>

/** One row for every member of R; the compiler names one that is missing. */
export type FieldTable<R> = { [K in keyof R]-?: FieldOf<R, K> }

type AnyRow = Row<unknown> & {
  required?: true
  type?: 'string' | 'number'
  optional?: true
  default?: unknown
  defaultOf?(record: object): unknown
}
type AnyTable = Record<string, AnyRow>

/** Members of a table that have a property, as of one that are settings. */
type MembersWith<Table, Property> = {
  [K in keyof Table]: Table[K] extends Property ? K : never
}[keyof Table]

/** Members that the API shows as they are. */
export type ShownMember<Table> = MembersWith<Table, { shown: 'asItIs' }>
/** Members that callers set. */
type SettingMember<Table> = MembersWith<Table, { setting: true }>
/** Settings that no record lacks. */
type InitialMember<Table> = Exclude<SettingMember<Table>, MembersWith<Table, { optional: true }>>
/** Values of all settings, with nothing absent. */
export type SettingsOf<Table, R> = {
  [K in SettingMember<Table> & keyof R]-?: Exclude<R[K], undefined>
}

type Json = Record<string, unknown>

/** A table as a list, made once. */
interface ListedField extends AnyRow {
  member: string
  stored: string
}

/** What reads and writes the records of a table. */
export class RecordFields<R extends object, Table extends object = FieldTable<R>> {
  readonly #fields: ListedField[]
  readonly #shown: ListedField[]
  /** Every setting, with the value that a reset gives it. */
  readonly settingDefaults: SettingsOf<Table, R>
  /** Those of a new record: without optional ones. */
  readonly initialSettings: Pick<SettingsOf<Table, R>, InitialMember<Table> & keyof R>

  constructor(table: Table) {
    const rows = Object.entries(table as AnyTable)
    this.#fields = rows.map(([member, row]) => ({ ...row, member, stored: row.stored ?? member }))
    this.#shown = this.#fields.filter(({ shown }) => shown === 'asItIs')
    const settings = this.#fields.filter(({ setting }) => setting === true)
    this.settingDefaults = defaultsOf(settings) as SettingsOf<Table, R>
    this.initialSettings = defaultsOf(settings.filter(({ optional }) => optional !== true)) as never
  }

  /** Member → name in Redis. */
  get storedNames(): Record<string, string> {
    return Object.fromEntries(this.#fields.map(({ member, stored }) => [member, stored]))
  }

  /** By the names in Redis, in the order of the table; without members that have their default. */
  pack(record: Partial<R>): Json {
    const members = record as Json
    const packed: Json = {}
    for (const field of this.#fields) {
      const value = members[field.member]
      if (value === undefined || value === null || value === defaultFor(field, members)) continue
      packed[field.stored] = field.codec ? field.codec.encode(value) : value
    }
    return packed
  }

  /** The members that the table names; a CorruptRecordError that names `key` where a required one is missing. */
  unpack(packed: Json, key: string): R {
    const record: Json = {}
    for (const field of this.#fields) {
      const stored = packed[field.stored]
      if (field.required && typeof stored !== field.type) throw lacking(field, key)
      if (stored !== undefined) record[field.member] = field.codec ? field.codec.decode(stored) : stored
      else if (!field.optional) record[field.member] = copied(defaultFor(field, record))
    }
    return record as R
  }

  /**
   * The same for records that are stored by their members' own names: members that the table does not name, those of a
   * later release, are kept.
   */
  complete(stored: Json, key: string): R {
    return { ...stored, ...this.unpack(stored, key) }
  }

  /** The settings that are given. */
  givenSettings(set: Partial<R>): Partial<SettingsOf<Table, R>> {
    const names = Object.keys(this.settingDefaults).filter((name) => (set as Json)[name] !== undefined)
    return Object.fromEntries(names.map((name) => [name, (set as Json)[name]])) as Partial<
      SettingsOf<Table, R>
    >
  }

  /** What callers see as it is, absent members as their default. */
  shown(record: R): { [K in ShownMember<Table> & keyof R]-?: Exclude<R[K], undefined> } {
    const members = record as Json
    return Object.fromEntries(
      this.#shown.map((field) => [field.member, members[field.member] ?? field.default ?? null]),
    ) as never
  }
}

function defaultsOf(fields: ListedField[]): Json {
  return Object.fromEntries(fields.map((field) => [field.member, field.default]))
}

function defaultFor(field: ListedField, record: object): unknown {
  return field.defaultOf ? field.defaultOf(record) : field.default
}

/** Records do not share their empty objects and lists. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return [...value]
  return typeof value === 'object' && value !== null ? { ...value } : value
}

function lacking({ stored, type }: ListedField, key: string): CorruptRecordError {
  return new CorruptRecordError(key, new TypeError(`${stored} is not a ${type}`))
}
