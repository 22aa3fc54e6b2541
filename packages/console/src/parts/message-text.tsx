/**
 * A message’s body. Strangers wrote it, so it is text and nothing else: no markup, no links. Characters that hide or
 * reorder text are shown by their code.
 */

import { formatBytes } from './formats.ts'
import { usePartLanguage } from './part-language.ts'
import css from './parts.module.css'

/** Characters of a body that the console shows. Past it: the rest is left out, and the screen says so. */
const CHARS_MAX = 262_144
/** Characters of a body that is shown as indented JSON. Past it: it is shown as it came. */
const JSON_CHARS_MAX = 65_536

/** Control characters except line feed and tab, and characters that format: marks of direction, invisible ones. */
const HIDDEN = /((?![\t\n])[\p{Cc}\p{Cf}])/u

export function MessageText({ text }: { text: string }) {
  const words = usePartLanguage()
  const shown = indented(text).slice(0, CHARS_MAX)
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long body is scrolled by the keyboard */}
      <pre className={css.text} tabIndex={0}>
        {shown
          .split(HIDDEN)
          .map((part, index) => (index % 2 === 0 ? part : <Mark key={`${index}`} of={part} />))}
      </pre>
      {text.length > CHARS_MAX && <p className={css.hint}>{words.bodyCut(formatBytes(CHARS_MAX))}</p>}
    </>
  )
}

function Mark({ of }: { of: string }) {
  const code = (of.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return <span className={css.mark}>U+{code}</span>
}

/**
 * The text as indented JSON. Text with numbers that JavaScript cannot hold exactly stays as it is, because they would
 * change.
 */
function indented(text: string): string {
  if (text.length > JSON_CHARS_MAX || !/^\s*[[{]/.test(text) || /\d{16}/.test(text)) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

type JsonOrText = string | unknown[] | Record<string, unknown>

/**
 * Text of a field that may be JSON. An object or a list, or else the text itself. Text with numbers that JavaScript
 * cannot hold exactly stays text, because they would change.
 */
export function jsonOrText(text: string): JsonOrText {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !/\d{16}/.test(text) ? (value as JsonOrText) : text
  } catch {
    return text
  }
}

export function objectIn(text: string): Record<string, unknown> | undefined {
  const value = jsonOrText(text)
  return typeof value === 'object' && !Array.isArray(value) ? value : undefined
}
