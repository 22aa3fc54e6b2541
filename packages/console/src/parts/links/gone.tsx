/** A page about something that does not exist, with the way to what does. */
import type { ReactNode } from 'react'
import { PageHead } from '../page-head.tsx'
import css from '../parts.module.css'

interface Props {
  title: string
  why?: string
  /** A link to the list. */
  children: ReactNode
}

export function Gone({ title, why, children }: Props) {
  return (
    <div className={css.stack}>
      <PageHead title={title} />
      {why && <p className={css.quiet}>{why}</p>}
      <p>{children}</p>
    </div>
  )
}
