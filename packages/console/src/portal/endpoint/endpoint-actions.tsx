/** Buttons of an endpoint: test, pause or resume, delete. */
import {
  deletePortalEndpoint,
  type PortalEndpoint,
  pausePortalEndpoint,
  resumePortalEndpoint,
} from '@fantail/client/api'
import { useState } from 'react'
import { useWrite } from '../../api/use-api.ts'
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import { Button } from '../../parts/button.tsx'
import css from '../../parts/parts.module.css'
import own from '../pieces/portal.module.css'
import { Ask } from '../pieces/portal-form.tsx'
import { Trouble } from '../pieces/trouble.tsx'
import { TestDialog } from './endpoint-test.tsx'

interface Props {
  endpoint: PortalEndpoint
  onDeleted: () => void
}

export function Actions({ endpoint, onDeleted }: Props) {
  const { actions: w } = useLanguage().words
  const { id, status, state, waiting } = endpoint
  const [opened, setOpened] = useState<'test' | 'delete'>()
  const pause = useWrite(pausePortalEndpoint)
  const resume = useWrite(resumePortalEndpoint)
  const remove = useWrite(deletePortalEndpoint, onDeleted)
  const input = { path: { id } }
  const close = () => setOpened(undefined)
  const isPaused = status === 'paused'
  const change = isPaused ? resume : pause
  return (
    <>
      <div className={css.row}>
        <Button isDisabled={state === 'pending'} onPress={() => setOpened('test')}>
          {w.test}
        </Button>
        <Button isDisabled={state === 'pending' || change.isPending} onPress={() => change.mutate(input)}>
          {isPaused ? w.resume : w.pause}
        </Button>
        <Button kind="danger" onPress={() => setOpened('delete')}>
          {w.delete}
        </Button>
      </div>
      <div className={own.problems}>
        <Trouble error={change.error} />
      </div>
      <TestDialog endpoint={endpoint} isOpen={opened === 'test'} onClose={close} />
      <Ask
        title={w.deleteTitle}
        action={w.delete}
        isDanger
        isOpen={opened === 'delete'}
        write={remove}
        onClose={close}
        onConfirm={() => remove.mutate(input)}
      >
        <p>{w.deleteWhat(waiting)}</p>
      </Ask>
    </>
  )
}
