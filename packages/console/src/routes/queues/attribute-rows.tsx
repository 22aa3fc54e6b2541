/** Attributes of a letter as rows of name, type and value. Every type stays what it was. */
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { TextInput } from '../../parts/fields.tsx'
import css from '../../parts/parts.module.css'

const w = words.editLetter.attributes

interface AttributeRow {
  id: number
  name: string
  type: string
  value: string
}

type Attributes = Record<string, { type: string; value: string }>

export function rowsOf(attributes: Attributes): AttributeRow[] {
  return Object.entries(attributes).map(([name, { type, value }], id) => ({ id, name, type, value }))
}

export function attributesOf(rows: AttributeRow[]): Attributes {
  return Object.fromEntries(rows.map(({ name, type, value }) => [name.trim(), { type, value }]))
}

/** One line for each attribute, by name. The order of rows is no difference. */
export function attributeLines(attributes: Attributes): string {
  const lines = Object.entries(attributes).map(([name, { type, value }]) => `${name} = ${value} (${type})`)
  return lines.sort().join('\n')
}

/** Why the rows cannot be sent. The API checks types and values. */
export function rowsProblem(rows: AttributeRow[]): string | undefined {
  const names = rows.map(({ name }) => name.trim())
  if (names.includes('')) return w.noName
  return new Set(names).size < names.length ? w.twice : undefined
}

interface Props {
  rows: AttributeRow[]
  onChange: (rows: AttributeRow[]) => void
  problem: string | undefined
}

export function AttributeRows({ rows, onChange, problem }: Props) {
  const change = (id: number, changed: Partial<AttributeRow>) =>
    onChange(rows.map((row) => (row.id === id ? { ...row, ...changed } : row)))
  const add = () => {
    const id = Math.max(-1, ...rows.map((row) => row.id)) + 1
    onChange([...rows, { id, name: '', type: 'String', value: '' }])
  }
  return (
    <fieldset className={css.stack}>
      <legend>{w.title}</legend>
      {rows.length === 0 && <p className={css.quiet}>{w.none}</p>}
      {rows.map((row, index) => (
        <div key={row.id} className={css.fields}>
          <TextInput
            label={w.name(index + 1)}
            value={row.name}
            onChange={(name) => change(row.id, { name })}
          />
          <TextInput
            label={w.type(index + 1)}
            value={row.type}
            onChange={(type) => change(row.id, { type })}
          />
          <TextInput
            label={w.value(index + 1)}
            value={row.value}
            onChange={(value) => change(row.id, { value })}
          />
          <Button
            kind="plain"
            aria-label={w.removeNamed(row.name || String(index + 1))}
            onPress={() => onChange(rows.filter(({ id }) => id !== row.id))}
          >
            {w.remove}
          </Button>
        </div>
      ))}
      {problem && (
        <p className={css.problem} role="status">
          {problem}
        </p>
      )}
      <div className={css.row}>
        <Button onPress={add}>{w.add}</Button>
        <span className={css.hint}>{w.hint}</span>
      </div>
    </fieldset>
  )
}
