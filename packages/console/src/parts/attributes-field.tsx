/**
 * The field for attributes of a message, one per line: `name = value`. A number becomes a Number, and a list in
 * brackets a String.Array.
 */
import { words } from '../i18n/en.ts'
import { TextArea } from './fields.tsx'

type Attributes = Record<string, string | number | string[]>

/** undefined: a line has no `=`. */
export function readAttributes(text: string): Attributes | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.some((line) => !line.includes('='))) return undefined
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf('=')
      return [line.slice(0, at).trim(), readValue(line.slice(at + 1).trim())]
    }),
  )
}

const NUMBER = /^-?\d+(\.\d+)?$/

function readValue(text: string): Attributes[string] {
  if (NUMBER.test(text)) return Number(text)
  const list = /^\[(.*)\]$/.exec(text)?.[1]
  return list === undefined ? text : list.split(',').map((item) => item.trim())
}

interface Props {
  value: string
  onChange: (value: string) => void
  problem?: string | undefined
}

export function AttributesField({ value, onChange, problem }: Props) {
  return (
    <TextArea
      label={words.attributes.label}
      hint={words.attributes.hint}
      rows={3}
      value={value}
      onChange={onChange}
      problem={readAttributes(value) ? problem : words.attributes.problem}
    />
  )
}
