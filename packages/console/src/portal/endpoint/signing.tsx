/** Signatures of an endpoint: how to check them, and a new secret. */
import { rotatePortalKey } from '@fantail/client/api'
import { useState } from 'react'
import { useWrite } from '../../api/use-api.ts'
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import { Button } from '../../parts/button.tsx'
import css from '../../parts/parts.module.css'
import own from '../pieces/portal.module.css'
import { Ask } from '../pieces/portal-form.tsx'
import { HowToVerify } from '../pieces/secret-once.tsx'

interface Props {
  id: string
  /** The page shows the new secret once. */
  onSecret: (secret: string) => void
}

export function Signing({ id, onSecret }: Props) {
  const { secret: w } = useLanguage().words
  const [isAsking, setAsking] = useState(false)
  const rotate = useWrite(rotatePortalKey, ({ secret }) => {
    setAsking(false)
    if (secret) onSecret(secret)
  })
  return (
    <section className={`${css.panel} ${own.part}`}>
      <h2>{w.title}</h2>
      <p className={css.quiet}>{w.why}</p>
      <div>
        <Button onPress={() => setAsking(true)}>{w.rotate}</Button>
      </div>
      <HowToVerify />
      <Ask
        title={w.rotateTitle}
        action={w.rotate}
        isOpen={isAsking}
        write={rotate}
        onClose={() => setAsking(false)}
        onConfirm={() => rotate.mutate({ path: { id } })}
      >
        <p>{w.overlap}</p>
      </Ask>
    </section>
  )
}
