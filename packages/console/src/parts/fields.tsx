/** Fields of forms: a label, a hint, and the error of the value. */
import { type ReactNode, useId } from 'react'
import css from './parts.module.css'

interface Common {
  label: string
  hint?: ReactNode
  problem?: string | undefined
}

interface Described {
  id: string
  'aria-invalid': boolean
  'aria-describedby': string | undefined
}

function Field({ label, hint, problem, children }: Common & { children: (props: Described) => ReactNode }) {
  const id = useId()
  const note = hint || problem ? `${id}-note` : undefined
  return (
    <div className={css.field}>
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-invalid': problem !== undefined, 'aria-describedby': note })}
      {note && (
        <span id={note}>
          {problem && <span className={css.problem}>{problem} </span>}
          {hint && <span className={css.hint}>{hint}</span>}
        </span>
      )}
    </div>
  )
}

interface TextProps extends Common {
  value: string
  onChange: (value: string) => void
  placeholder?: string
  type?: 'text' | 'number' | 'password' | 'search' | 'url' | 'datetime-local'
  min?: number
  max?: number
  step?: number | 'any'
  isRequired?: boolean
  autoFocus?: boolean
  /** Id of the list in which the typed text is searched. */
  controls?: string
}

export function TextInput({ value, onChange, type = 'text', isRequired, controls, ...props }: TextProps) {
  const { label, hint, problem, ...own } = props
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(described) => (
        <input
          {...described}
          {...own}
          type={type}
          value={value}
          required={isRequired}
          aria-controls={controls}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}

interface AreaProps extends Common {
  value: string
  onChange: (value: string) => void
  rows?: number
}

export function TextArea({ value, onChange, rows = 4, ...common }: AreaProps) {
  return (
    <Field {...common}>
      {(described) => (
        <textarea
          {...described}
          rows={rows}
          value={value}
          spellCheck={false}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}

interface SelectProps<T extends string> extends Common {
  value: T
  onChange: (value: T) => void
  options: readonly { value: T; label: string }[]
}

export function Select<T extends string>({ value, onChange, options, ...common }: SelectProps<T>) {
  return (
    <Field {...common}>
      {(described) => (
        <select {...described} value={value} onChange={(event) => onChange(event.target.value as T)}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

interface CheckProps {
  label: string
  isChecked: boolean
  onChange: (isChecked: boolean) => void
}

export function Check({ label, isChecked, onChange }: CheckProps) {
  return (
    <label className={css.check}>
      <input type="checkbox" checked={isChecked} onChange={(event) => onChange(event.target.checked)} />
      {label}
    </label>
  )
}
