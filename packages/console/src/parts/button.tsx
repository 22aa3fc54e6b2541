/** Buttons, and a button that copies a text to the clipboard. */
import { useState } from 'react'
import { Button as AriaButton, type ButtonProps } from 'react-aria-components'
import { words } from '../i18n/en.ts'
import css from './parts.module.css'

interface Props extends Omit<ButtonProps, 'className' | 'style'> {
  kind?: 'primary' | 'danger' | 'plain'
}

export function Button({ kind, ...props }: Props) {
  return <AriaButton {...props} className={kind ? `${css.button} ${css[kind]}` : css.button} />
}

const SHOWN_MS = 1_500

interface CopyProps {
  /** The text, or a function that makes it when the button is pressed. */
  text: string | (() => Promise<string>)
  label?: string
  kind?: 'plain'
}

/** Shows for a moment that the text was copied, or that the browser refused. */
export function CopyButton({ text, label = words.copy, kind }: CopyProps) {
  const [said, setSaid] = useState<string>()
  const copy = async () => {
    const made = typeof text === 'string' ? text : await text()
    const result = await navigator.clipboard.writeText(made).then(
      () => words.copied,
      () => words.notCopied,
    )
    setSaid(result)
    setTimeout(() => setSaid(undefined), SHOWN_MS)
  }
  return (
    <Button kind={kind} onPress={() => void copy()}>
      <span aria-live="polite">{said ?? label}</span>
    </Button>
  )
}
