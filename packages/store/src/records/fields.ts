/**
 * Fields of stored records. Each kind of record has one table with a row per member. A row gives its name in Redis, how
 * its value is stored, its default, and who sees it. Readers, writers, views and Lua scripts (lua-names.ts) use the
 * table. A new field therefore needs one row, and its type in the contracts. If the API shows it, the API's tests ask
 * for its schema, too.
 */
import type { Codec } from './codecs.ts'
import { UnreadableRecordError } from './stored-json.ts'

/**
 * Who sees a member. `asItIs`: the API shows the value, or the default. `inOtherForm`: the API shows a form that the
 * view makes, such as a time as text or a URL without its password. `never`: only Fantail reads it.
 */
type Shown = 'asItIs' | 'inOtherForm' | 'never'

interface Row<T> {
  /** Name in Redis. Absent: the member's own. */
  stored?: string
  codec?: Codec<T>
  shown: Shown
  /** Callers may set it. `null` resets it to the default. */
  setting?: true
}

/** A record without this member is corrupt. */
interface RequiredRow<T> extends Row<T> {
  required: true
  /** The type that the stored value must have. */
  type: 'string' | 'number'
}

/** A record without this member has the default, also a record that is older than the field. */
interface DefaultedRow<T> extends Row<T> {
  default: T
}

/** Like DefaultedRow, but the member is absent in memory too. */
interface OptionalRow<T> extends Row<T> {
  optional: true
  default: T | null | false
}

/** The default depends on members that come before it in the table. */
interface DerivedRow<T, R> extends Row<T> {
  defaultOf(record: Partial<R>): T
}

type FieldOf<R, K extends keyof R> = undefined extends R[K]
  ? OptionalRow<Exclude<R[K], undefined>>
  : RequiredRow<R[K]> | DefaultedRow<R[K]> | DerivedRow<R[K], R>

/** One row for every member of R. The compiler reports a missing one. */
export type FieldTable<R> = { [K in keyof R]-?: FieldOf<R, K> }

type AnyRow = Row<unknown> & {
  required?: true
  type?: 'string' | 'number'
  optional?: true
  default?: unknown
  defaultOf?(record: object): unknown
}
type AnyTable = Record<string, AnyRow>

/** Members of a table whose rows have this property, such as `setting`. */
type MembersWith<Table, Property> = {
  [K in keyof Table]: Table[K] extends Property ? K : never
}[keyof Table]

/** Members that the API shows as they are. */
export type ShownMember<Table> = MembersWith<Table, { shown: 'asItIs' }>
/** Members that callers set. */
type SettingMember<Table> = MembersWith<Table, { setting: true }>
/** Settings that every record has. */
type InitialMember<Table> = Exclude<SettingMember<Table>, MembersWith<Table, { optional: true }>>
/** Values of all settings. None of them is missing. */
export type SettingsOf<Table, R> = {
  [K in SettingMember<Table> & keyof R]-?: Exclude<R[K], undefined>
}

type Json = Record<string, unknown>

/** A row of a table as an item of a list. */
interface ListedField extends AnyRow {
  member: string
  stored: string
}

/** Reads and writes the records of a table. */
export class RecordFields<R extends object, Table extends object = FieldTable<R>> {
  readonly #fields: ListedField[]
  readonly #shown: ListedField[]
  readonly #byStored: ReadonlyMap<string, ListedField>
  readonly #required: ListedField[]
  /** Fields whose default depends on the record, or must be copied for it. */
  readonly #ownDefaults: ListedField[]
  /** All members that are never absent. They have their defaults, or undefined until they are read. */
  readonly #blank: Json
  /** Every setting, with the value after a reset. */
  readonly settingDefaults: SettingsOf<Table, R>
  /** Settings of a new record, without optional ones. */
  readonly initialSettings: Pick<SettingsOf<Table, R>, InitialMember<Table> & keyof R>

  constructor(table: Table) {
    const rows = Object.entries(table as AnyTable)
    this.#fields = rows.map(([member, row]) => ({ ...row, member, stored: row.stored ?? member }))
    this.#shown = this.#fields.filter(({ shown }) => shown === 'asItIs')
    this.#byStored = new Map(this.#fields.map((field) => [field.stored, field]))
    this.#required = this.#fields.filter(({ required }) => required === true)
    this.#blank = defaultsOf(this.#fields.filter(({ optional }) => optional !== true))
    this.#ownDefaults = this.#fields.filter(
      (field) => field.defaultOf || (!field.optional && typeof field.default === 'object' && field.default),
    )
    const settings = this.#fields.filter(({ setting }) => setting === true)
    this.settingDefaults = defaultsOf(settings) as SettingsOf<Table, R>
    this.initialSettings = defaultsOf(settings.filter(({ optional }) => optional !== true)) as never
  }

  /** Member → name in Redis. */
  get storedNames(): Record<string, string> {
    return Object.fromEntries(this.#fields.map(({ member, stored }) => [member, stored]))
  }

  /**
   * The stored form: members by their names in Redis, in the order of the table. Members with their default value are
   * left out.
   */
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

  /**
   * Reads the stored form. Throws an UnreadableRecordError that names `key` if a required member is missing. Most
   * members are not stored, so a copy of all defaults costs half of what a look at each field would.
   */
  unpack(packed: Json, key: string): R {
    for (const field of this.#required)
      if (typeof packed[field.stored] !== field.type) throw lacking(field, key, packed)
    const record = { ...this.#blank }
    for (const name of Object.keys(packed)) {
      const field = this.#byStored.get(name)
      const stored = packed[name]
      if (field && stored !== undefined)
        record[field.member] = field.codec ? decoded(field, stored, key) : stored
    }
    for (const field of this.#ownDefaults)
      if (packed[field.stored] === undefined) record[field.member] = copied(defaultFor(field, record))
    return record as R
  }

  /**
   * Like `unpack`, for records that are stored by their members' own names. Unknown members, which a later release has
   * written, are kept.
   */
  complete(stored: Json, key: string): R {
    return { ...stored, ...this.unpack(stored, key) }
  }

  /** The settings among the given members. */
  givenSettings(set: Partial<R>): Partial<SettingsOf<Table, R>> {
    const names = Object.keys(this.settingDefaults).filter((name) => (set as Json)[name] !== undefined)
    return Object.fromEntries(names.map((name) => [name, (set as Json)[name]])) as Partial<
      SettingsOf<Table, R>
    >
  }

  /** The members that callers see as they are. An absent member has its default. */
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

/** A copy, because records must not share an empty object or list. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return [...value]
  return typeof value === 'object' && value !== null ? { ...value } : value
}

function decoded({ codec, stored: name }: ListedField, stored: unknown, key: string): unknown {
  try {
    return codec?.decode(stored)
  } catch (error) {
    throw new UnreadableRecordError(`${key} ${name}`, error, String(stored))
  }
}

function lacking({ stored, type }: ListedField, key: string, packed: Json): UnreadableRecordError {
  return new UnreadableRecordError(key, new TypeError(`${stored} is not a ${type}`), JSON.stringify(packed))
}
