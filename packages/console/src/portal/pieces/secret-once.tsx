/** A signing secret that was made just now. It is shown here only, until the customer has stored it. */
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import { Button, CopyButton } from '../../parts/button.tsx'
import css from '../../parts/parts.module.css'
import own from './portal.module.css'
import { VERIFY_CODE, VERIFY_LIBRARIES } from './verify-code.ts'

interface Props {
  secret: string
  onStored: () => void
}

export function SecretOnce({ secret, onStored }: Props) {
  const { words } = useLanguage()
  return (
    <section className={`${css.notice} ${own.secret}`} data-kind="warn" aria-label={words.secret.made}>
      <h2>{words.secret.made}</h2>
      <p>{words.secret.once}</p>
      <code>{secret}</code>
      <div className={css.row}>
        <CopyButton text={secret} label={words.secret.copy} />
        <Button onPress={onStored}>{words.secret.stored}</Button>
      </div>
      <HowToVerify />
    </section>
  )
}

export function HowToVerify() {
  const { verify, verifySteps, libraries } = useLanguage().words.secret
  return (
    <details className={own.details}>
      <summary>{verify}</summary>
      <p>{verifySteps}</p>
      <pre className={css.text}>{VERIFY_CODE}</pre>
      <p>
        <a href={VERIFY_LIBRARIES} target="_blank" rel="noopener noreferrer">
          {libraries}
        </a>
      </p>
    </details>
  )
}
