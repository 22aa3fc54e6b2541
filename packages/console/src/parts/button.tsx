/** Buttons, and a button that copies a text to the clipboard. */
import { type ComponentProps, useState } from 'react'
import { usePartLanguage } from './part-language.ts'
import css from './parts.module.css'

type Own = 'className' | 'style' | 'onClick' | 'disabled'

interface Props extends Omit<ComponentProps<'button'>, Own> {
  kind?: 'primary' | 'danger' | 'plain' | undefined
  isDisabled?: boolean | undefined
  onPress?: (() => void) | undefined
}

export function Button({ kind, type = 'button', isDisabled, onPress, ...props }: Props) {
  const look = kind ? `${css.button} ${css[kind]}` : css.button
  // Not the event: a handler that takes an argument would get it.
  return <button {...props} type={type} className={look} disabled={isDisabled} onClick={() => onPress?.()} />
}

const SHOWN_MS = 1_500

interface CopyProps {
  /** The text, or a function that makes it when the button is pressed. */
  text: string | (() => Promise<string>)
  label?: string
  kind?: 'plain'
}

/** Shows for a moment that the text was copied, or that the browser refused. */
export function CopyButton({ text, label, kind }: CopyProps) {
  const words = usePartLanguage()
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
      <span aria-live="polite">{said ?? label ?? words.copy}</span>
    </Button>
  )
}
